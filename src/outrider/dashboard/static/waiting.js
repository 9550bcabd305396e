// Shows the number of waiting questions in the navigation and in the title.

import { element } from "./base.js";

export function showWaiting(count) {
  document.title = (count ? `(${count}) ` : "") + document.title.replace(/^\(\d+\) /, "");
  const link = [...document.querySelectorAll(".pages a")].find((each) => each.dataset.key === "q");
  if (!link) return;
  link.querySelector("[data-badge]")?.remove();
  if (count) link.append(element("span", { class: "count", "data-badge": "questions" }, String(count), element("span", { class: "unseen" }, " waiting")));
}

// Runs `work` soon, at most once per interval in milliseconds, and never twice at a time.
export function seldom(work, milliseconds) {
  let timer = null;
  let last = 0;
  let busy = false;
  let again = false;
  let failures = 0;
  const run = async () => {
    timer = null;
    if (busy) { again = true; return; }
    busy = true;
    last = Date.now();
    try {
      await work();
      failures = 0;
    } catch { // the server may answer soon, so try again even if nothing else changes
      again = failures++ < 5;
    }
    busy = false;
    if (again) { again = false; ask(); }
  };
  const ask = () => { timer ??= setTimeout(run, Math.max(60, last + milliseconds - Date.now())); };
  return ask;
}
