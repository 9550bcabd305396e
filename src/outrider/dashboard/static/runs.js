// The list of runs keeps itself up to date while its beginning is shown.

import { fragment } from "./base.js";
import { subscribe } from "./feed.js";
import { seldom, showWaiting } from "./waiting.js";

const place = () => document.getElementById("runs-list");
const button = document.getElementById("compare-button");
const picked = () => [...document.querySelectorAll('.pick input[type="checkbox"]')].filter((each) => each.checked);

function look() {
  const many = picked().length;
  button.disabled = many !== 2;
  button.title = many === 2 ? "" : "Choose two runs in the list";
}

const refresh = seldom(async () => {
  if (place().dataset.live !== "yes") return;
  const query = new URLSearchParams(location.search);
  query.set("part", "list");
  const fresh = await fragment(`${location.pathname}?${query}`);
  const kept = new Set(picked().map((each) => each.value));
  const focus = document.activeElement?.closest("tr")?.id;
  const known = new Set([...place().querySelectorAll("tbody tr")].map((each) => each.id));
  for (const row of fresh.querySelectorAll("tbody tr")) if (known.size && !known.has(row.id)) row.classList.add("fresh");
  for (const box of fresh.querySelectorAll('.pick input[type="checkbox"]')) box.checked = kept.has(box.value);
  place().replaceWith(fresh);
  if (focus) document.getElementById(focus)?.querySelector("a")?.focus({ preventScroll: true });
  look();
}, 1500);

document.addEventListener("change", (event) => { if (event.target.closest(".pick")) look(); });
look();
subscribe({ runs: refresh, questions: (changes) => { showWaiting(changes.at(-1).open); refresh(); } });
