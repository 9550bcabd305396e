// Questions appear and disappear as they are asked and answered, here or elsewhere; text being written is kept.

import { fragment, toast } from "./base.js";
import { subscribe } from "./feed.js";
import { seldom, showWaiting } from "./waiting.js";

const place = () => document.getElementById("open");
const isInUse = (part) => part.contains(document.activeElement) && document.activeElement.matches("input, textarea")
  || [...part.querySelectorAll("input[name=reason], textarea")].some((each) => each.value);

const refresh = seldom(async () => {
  const fresh = await fragment(`${location.pathname}?part=open`);
  if (place().querySelector(":active")) return refresh(); // replacing a button that is held down would lose the click
  const writing = document.activeElement;
  const at = writing.selectionStart;
  const there = new Set([...fresh.querySelectorAll(".question")].map((each) => each.id));
  for (const group of fresh.querySelectorAll(".group")) {
    const old = document.getElementById(group.id);
    if (!old) continue;
    if (old.dataset.stamp === group.dataset.stamp) group.replaceWith(old);
    else if (isInUse(old)) keep(old, group);
  }
  for (const old of place().querySelectorAll(".question")) if (!there.has(old.id) && isInUse(old)) toast("That question has been answered elsewhere.");
  place().replaceWith(fresh);
  if (writing.isConnected && writing !== document.activeElement) { // moving a form loses the cursor
    writing.focus({ preventScroll: true });
    if (typeof at === "number") writing.setSelectionRange(at, at);
  }
  showWaiting(Number(fresh.dataset.open));
}, 500);

// Forms that are being written in are moved into the new group.
function keep(old, group) {
  for (const form of [...group.querySelectorAll(".question")]) {
    const mine = old.querySelector(`#${CSS.escape(form.id)}`);
    if (mine && isInUse(mine)) form.replaceWith(mine);
  }
}

subscribe({ questions: (changes) => { showWaiting(changes.at(-1).open); refresh(); } });
