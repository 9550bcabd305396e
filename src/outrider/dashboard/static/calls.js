// Keeps the page as new as the record: when calls come in, what is shown is asked for again, at most every two seconds.

import { fragment } from "./base.js";
import { subscribe } from "./feed.js";

const PAUSE = 2000; // milliseconds
let waiting = false;
let asking = false;

async function refresh() {
  if (asking) return;
  asking = true;
  waiting = false;
  try {
    for (const old of document.querySelectorAll('[data-live]:not([data-live="off"])')) await renew(old);
  } catch (error) {
    console.warn(error.message);
  } finally {
    setTimeout(() => { asking = false; if (waiting) refresh(); }, PAUSE);
  }
}

async function renew(old) {
  const where = new URL(location.href);
  const whole = old.id !== "rows";
  if (!whole) where.searchParams.set("part", "rows");
  const fresh = whole ? await inPage(where, old.id) : await fragment(where);
  if (!fresh) return;
  const known = new Set([...old.querySelectorAll("tr[id]")].map((row) => row.id));
  if (known.size) for (const row of fresh.querySelectorAll("tr[id]")) row.classList.toggle("fresh", !known.has(row.id));
  for (const details of fresh.querySelectorAll("details")) {
    const words = details.textContent;
    details.open = [...old.querySelectorAll("details[open]")].some((each) => each.textContent === words);
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const again = focused?.href ? [...fresh.querySelectorAll("a")].find((link) => link.href === focused.href) : null;
  if (focused && !again && focused.tagName !== "SECTION") return; // nobody loses their place
  old.replaceWith(fresh);
  again?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("outrider:shown"));
}

async function inPage(where, id) {
  const answer = await fetch(where, { headers: { accept: "text/html" } });
  if (!answer.ok) return null;
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  const found = parsed.getElementById(id);
  return found && document.adoptNode(found);
}

subscribe({ calls: () => { waiting = true; refresh(); } });
