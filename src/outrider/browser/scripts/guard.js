// Sees to it that a press reaches the element it was aimed at and nothing else, and what it set off.

const PRESSES = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "auxclick"];
const QUIET_MS = 50;
const LONGEST_MS = 500;
const ARMED_MS = 8000; // a press that was given up must not leave the page shut

class Guard {
  constructor() {
    this.target = null;
    this.armed = false;
    this.listener = (event) => this.see(event);
    this.observer = new MutationObserver((records) => this.changed(records.length));
  }

  arm(element, pressing) {
    this.disarm();
    Object.assign(this, { target: element, armed: true, landed: null, on: null, clicks: 0, changes: 0, at: 0, started: performance.now() });
    this.url = location.href;
    this.focus = focused();
    if (pressing) for (const kind of PRESSES) addEventListener(kind, this.listener, { capture: true, passive: false });
    this.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  }

  see(event) {
    if (!event.isTrusted || !this.target || isByKey(event) || performance.now() - this.started > ARMED_MS) return;
    const hit = event.composedPath()[0];
    if (this.landed === null) {
      this.landed = hit.nodeType === Node.ELEMENT_NODE && (counts(this.target, deepest(hit, event)) || !this.target.isConnected);
      this.on = hit;
    }
    if (event.type === "click" || event.type === "contextmenu") this.clicks += 1;
    if (this.landed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  changed(number) {
    if (!number) return;
    this.changes += number;
    this.at = performance.now();
  }

  disarm() {
    if (!this.armed) return;
    this.changed(this.observer.takeRecords().length);
    this.observer.disconnect();
    for (const kind of PRESSES) removeEventListener(kind, this.listener, { capture: true });
    this.target = null;
    this.armed = false;
  }
}

// The click that a key or a submitted form sets off was not aimed.
function isByKey(event) {
  return event.type === "click" && event.detail === 0;
}

// A closed root ends the event's path at its host; the point tells what is below.
function deepest(hit, event) {
  return closedRoots.has(hit) ? hitAt(event.clientX, event.clientY) || hit : hit;
}

const guard = new Guard();

// Before keys, which go to whatever has the focus.
function observe() {
  guard.arm(null, false);
  return true;
}

function focused() {
  let active = document.activeElement;
  while (active && shadowOf(active)?.activeElement) active = shadowOf(active).activeElement;
  return active === bodyOf(document) ? null : active;
}

// Waits until the page has been quiet for two frames, then tells what became of the press.
async function settle(ref, { wait = true, longest = LONGEST_MS } = {}) {
  if (wait) await quiet(longest);
  const element = elementOf(ref);
  const active = focused();
  const told = {
    landed: guard.landed ?? null,
    on: guard.on && guard.landed === false ? describe(guard.on) : "",
    clicks: guard.clicks || 0,
    changes: (guard.changes || 0) + guard.observer.takeRecords().length,
    connected: element !== null,
    after: element ? stateOf(element) : null,
    url: location.href,
    title: titleOf(document),
    focused: active && active !== guard.focus ? `${refOf(active)} ${describe(active)}` : "",
  };
  guard.disarm();
  return told;
}

// Once more quiet, after what the page had asked for has come.
async function rest(longest = 300) {
  await quiet(longest);
  return { url: location.href, title: titleOf(document) };
}

async function quiet(longest) {
  const start = performance.now();
  await nextFrame();
  await nextFrame();
  while (performance.now() - start < longest) {
    const since = Math.max(guard.at || 0, start - QUIET_MS / 2);
    const left = QUIET_MS - (performance.now() - since);
    if (left <= 0 && !fading()) return;
    await (left > 0 ? pause(left) : nextFrame());
  }
}

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

function fading() {
  return document.getAnimations().some((each) => each.playState === "running" && isBrief(each.effect?.getComputedTiming()));
}

function isBrief(timing) {
  return timing && timing.endTime !== Infinity && timing.endTime - (timing.localTime || 0) < 500;
}

// What an action is expected to change, to compare before with after; no secrets.
function stateOf(element) {
  return {
    checked: checkedState(element) ?? (tagOf(element) === "label" && element.control ? checkedState(element.control) : null),
    value: FIELD_ROLES.has(roleOf(element)) || isEditingHost(element) ? shorten(valueOf(element), 2000) : null,
    expanded: expandedState(element),
    pressed: element.getAttribute("aria-pressed"),
    selected: element.getAttribute("aria-selected"),
  };
}
