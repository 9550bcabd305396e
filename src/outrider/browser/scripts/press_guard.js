// Lets a press reach only its target, and observes the effects of an action.

const PRESS_EVENTS = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "auxclick"];
const QUIET_MS = 50;
const MAX_WAIT_MS = 500;
const MAX_ARMED_MS = 8000; // an abandoned press must not block the page's own input

class PressGuard {
  constructor() {
    this.target = null;
    this.armed = false;
    this.listener = (event) => this.checkEvent(event);
    this.observer = new MutationObserver((records) => this.countChanges(records.length));
  }

  arm(element, pressing) {
    this.disarm();
    Object.assign(this, { target: element, shown: element && describeInRow(element), armed: true, landed: null, on: null, clicks: 0, changes: 0, lastChangeAt: 0, started: performance.now() });
    this.url = location.href;
    this.focus = focusedElement();
    if (pressing) for (const kind of PRESS_EVENTS) addEventListener(kind, this.listener, { capture: true, passive: false });
    this.observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  }

  checkEvent(event) {
    if (!event.isTrusted || !this.target || isSynthesizedClick(event) || performance.now() - this.started > MAX_ARMED_MS) return;
    const hit = event.composedPath()[0];
    if (this.landed === null) {
      this.landed = nodeTypeOf(hit) === Node.ELEMENT_NODE && this.isAimedAt(findDeepestTarget(hit, event));
      this.on = hit;
    }
    if (event.type === "click" || event.type === "contextmenu") this.clicks += 1;
    if (this.landed) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // A page may have replaced the target after it was located, and moved similar elements.
  isAimedAt(hit) {
    if (this.target.isConnected) return isSameTarget(this.target, hit);
    return findClosest(hit, (each) => describeInRow(each) === this.shown) !== null;
  }

  countChanges(count) {
    if (!count) return;
    this.changes += count;
    this.lastChangeAt = performance.now();
  }

  disarm() {
    if (!this.armed) return;
    this.countChanges(this.observer.takeRecords().length);
    this.observer.disconnect();
    for (const kind of PRESS_EVENTS) removeEventListener(kind, this.listener, { capture: true });
    this.target = null;
    this.armed = false;
  }
}

function describeInRow(element) {
  return `${describeElement(element)} ${nameOfRow(element)}`;
}

// A click that a key press or a form submission causes has no position.
function isSynthesizedClick(event) {
  return event.type === "click" && event.detail === 0;
}

// A closed root ends the event's path at its host; hit-testing finds the element inside.
function findDeepestTarget(hit, event) {
  return closedRoots.has(hit) ? elementAtPoint(event.clientX, event.clientY) || hit : hit;
}

const guard = new PressGuard();

// Observes the page without a target, because keys go to the focused element.
function startObserving() {
  guard.arm(null, false);
  return true;
}

// Names the actionable element at a point, or else any element there.
function describePoint(x, y) {
  const hit = elementAtPoint(x, y);
  const element = hit && (findClosest(hit, (each) => whyActionable(each, computeRole(each), getComputedStyle(each), {}) !== "") || hit);
  return element && tagOf(element) !== "body" && tagOf(element) !== "html" ? `${refOf(element)} ${describeElement(element)}` : "";
}

function focusedElement() {
  let active = document.activeElement;
  while (active && shadowOf(active)?.activeElement) active = shadowOf(active).activeElement;
  return active === bodyOf(document) ? null : active;
}

// Returns the focus to an element that keys are meant for.
function restoreFocus(ref) {
  const { element, failure } = resolveTarget({ ref });
  if (failure) return { ok: false, ...failure };
  const hasFocus = () => focusedElement() !== null && (focusedElement() === element || containsNode(element, focusedElement()));
  const covered = () => [findReachablePoint(element)].find((point) => point.reason === "covered");
  const problem = hasFocus() ? null : findObstacle(element, "press") || covered();
  if (problem) return { ok: false, ...problem, ...collectEvidence(element) };
  if (!hasFocus()) element.focus({ preventScroll: true });
  if (hasFocus()) return { ok: true };
  return { ok: false, ...buildFailure("no_focus", "it cannot be focused", "click it first"), ...collectEvidence(element) };
}

// Waits until the page is quiet, then reports the changes by the action.
async function reportEffects(ref, { wait = true, timeoutMs = MAX_WAIT_MS } = {}) {
  if (wait) await waitForQuiet(timeoutMs);
  const element = elementOf(ref);
  const active = focusedElement();
  const report = {
    landed: guard.landed ?? null,
    on: guard.on && guard.landed === false ? describeElement(guard.on) : "",
    clicks: guard.clicks || 0,
    changes: (guard.changes || 0) + guard.observer.takeRecords().length,
    connected: element !== null,
    after: element ? readState(element) : null,
    url: location.href,
    title: titleOf(document),
    hasFocus: active !== null,
    focused: active && active !== guard.focus ? `${refOf(active)} ${describeElement(active)}` : "",
  };
  guard.disarm();
  return report;
}

// Waits again, after requests that the action started have ended.
async function waitUntilQuiet(timeoutMs = 300) {
  await waitForQuiet(timeoutMs);
  return { url: location.href, title: titleOf(document) };
}

async function waitForQuiet(timeoutMs) {
  const start = performance.now();
  await waitForFrame();
  await waitForFrame();
  while (performance.now() - start < timeoutMs) {
    const since = Math.max(guard.lastChangeAt || 0, start - QUIET_MS / 2);
    const remaining = QUIET_MS - (performance.now() - since);
    if (remaining <= 0 && !hasBriefAnimation()) return;
    await (remaining > 0 ? sleep(remaining) : waitForFrame());
  }
}

function sleep(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}

function hasBriefAnimation() {
  return document.getAnimations().some((each) => each.playState === "running" && endsSoon(each.effect?.getComputedTiming()));
}

function endsSoon(timing) {
  return timing && timing.endTime !== Infinity && timing.endTime - (timing.localTime || 0) < 500;
}

// The states that an action can change, for a comparison before and after; no secrets.
function readState(element) {
  return {
    checked: readChecked(element) ?? (tagOf(element) === "label" && element.control ? readChecked(element.control) : null),
    value: FIELD_ROLES.has(computeRole(element)) || isEditingHost(element) ? shorten(readValue(element), 2000) : null,
    expanded: readExpanded(element),
    pressed: attributeOf(element, "aria-pressed"),
    selected: attributeOf(element, "aria-selected"),
  };
}
