// Keeps a page up to date: when its feed changes, its parts marked data-live are fetched again, at most every two
// seconds; those with data-every also at that interval in seconds.

import { fragment } from "./base.js";
import { subscribe } from "./feed.js";

const PAUSE = 2000; // milliseconds
let waiting = false;
let asking = false;

async function refresh() {
  if (asking || document.hidden) return;
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
  if (focused && !again && focused.tagName !== "SECTION") return; // keeps the focus where it is
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

const changed = () => { waiting = true; refresh(); };
const { feed } = document.body.dataset;
if (feed) subscribe(Object.fromEntries(Object.keys(JSON.parse(feed)).map((topic) => [topic, changed])));
for (const each of document.querySelectorAll("[data-every]")) setInterval(refresh, 1000 * each.dataset.every);
