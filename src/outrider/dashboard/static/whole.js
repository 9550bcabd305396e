// Expands shortened texts in place.

import { fragment } from "./base.js";

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-whole]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const where = new URL(link.href);
  where.searchParams.set("part", "text");
  try {
    const text = await fragment(where);
    link.replaceWith(text);
    text.focus({ preventScroll: true });
  } catch {
    location.assign(link.href);
  }
});
