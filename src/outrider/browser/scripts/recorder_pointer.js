// Reports a person's pointer actions other than clicks: drags, context menus, hovering.

const MIN_DRAG_PIXELS = 10;
const MAX_MENU_CONTROLS = 500;
let dragNow = null;
let hoverNow = null; // the last element under the pointer, and since when
let shownControls = null; // those that were visible at the last check
const revealedBy = new WeakMap(); // controls that came into view while the pointer was over another element

// Whether the page has changed anything since a press.
class ChangeWatch {
  isChanged = false;
  #observer = new MutationObserver(() => (this.isChanged = true));

  constructor() {
    this.#observer.observe(document, { attributes: true, childList: true, subtree: true });
  }

  finish() {
    this.isChanged ||= this.#observer.takeRecords().length > 0;
    this.#observer.disconnect();
    return this.isChanged;
  }
}

// Flows cannot use the browser's own menu, only one that the page shows instead.
function noteMenu(event) {
  const press = pressNow;
  if (press?.button === "right") afterPage(event, () => event.defaultPrevented && reportPress(press, 1));
}

function noteDragStart(event) {
  const hit = targetOf(event);
  const element = hit && (findClosest(hit, (each) => attributeOf(each, "draggable") === "true") || hit);
  dragNow = element && { element, moment: describeMoment(element) };
  pressNow?.watch.finish();
  pressNow = null;
}

function noteDrop(event) {
  const hit = targetOf(event);
  const drag = dragNow;
  dragNow = null;
  if (!hit || findPersonField(hit)) return;
  const report = drag && reportDrag(drag, hit);
  if (drag) afterPage(event, () => event.defaultPrevented && report());
  else missAfterPage(event, `what was dropped on ${describeElement(hit)}`);
}

// Describe the goal before the page changes it.
function reportDrag({ element, moment }, hit) {
  const goal = describeEvidence(findClosest(hit, isTold) || hit);
  const isKnown = [moment.evidence, goal].every((each) => each.name || each.row || Object.keys(each.attributes).length);
  const missed = `a drag of ${describeElement(element)}`;
  return () => (isKnown ? reportAction("drag", moment, { goal }) : reportMissed(missed));
}

// The element that a person would name as the place of a drop.
function isTold(element) {
  return attributeOf(element, "id") || nameToRecord(element, computeRole(element)) !== "";
}

// A press that ends elsewhere has dragged something without HTML drag and drop, or has selected text.
function noteRelease(event) {
  const press = pressNow;
  if (!press) return;
  const isChanged = press.watch.finish() || tagOf(press.element) === "canvas";
  const isFar = Math.hypot(event.clientX - press.x, event.clientY - press.y) > MIN_DRAG_PIXELS;
  if (!isFar || press.button !== "left" || findPersonField(press.hit) || isSlider(press.element)) return;
  const { x, y } = rectOf(press.element);
  const hasFollowed = Math.hypot(x - press.box.x, y - press.box.y) > MIN_DRAG_PIXELS / 2;
  const goal = findGoal(event, press.element, hasFollowed);
  const isInside = goal && containsNode(press.element, goal);
  const isMarking = !hasFollowed && !getSelection().isCollapsed;
  if (isInside && !isMarking && (!isChanged || ACTIVE_ROLES.has(computeRole(press.element)))) return;
  pressNow = null; // a click that follows from it has no meaning
  if (!isChanged || isMarking) return;
  if (goal && !isInside && !containsNode(goal, press.element)) reportDrag(press, goal)();
  else reportMissed(`a drag of ${describeElement(press.element)}`);
}

// The element under the pointer, ignoring a dragged one that follows the pointer.
function findGoal(event, dragged, hasFollowed) {
  const isBelow = (each) => !containsNode(dragged, each);
  return hasFollowed ? Document.prototype.elementsFromPoint.call(document, event.clientX, event.clientY).find(isBelow) : elementAtPoint(event.clientX, event.clientY);
}

// Menus show their entries while the pointer is over something, by styles at once or by scripts a moment later.
function noteHover(event) {
  const revealDelay = 400;
  const hit = event.buttons ? null : targetOf(event);
  const element = hit && (findPressed(hit) || findClosest(hit, isTold));
  if (!element || element === hoverNow?.element) return;
  const before = hoverNow;
  const news = lookForNewControls();
  const isInside = news.some((each) => containsNode(each, element) || containsNode(element, each));
  hoverNow = { element, since: event.timeStamp };
  const isLate = !before || event.timeStamp - before.since > MAX_REVEAL_MS;
  for (const each of news) if (!isInside || !isLate) rememberReveal(each, isInside ? before.element : element);
  setTimeout(() => {
    if (hoverNow?.element === element) for (const each of lookForNewControls()) rememberReveal(each, element);
  }, revealDelay);
}

const MAX_REVEAL_MS = 2_000; // content that appears later was loaded

function rememberReveal(element, by) {
  if (by !== element && !containsNode(element, by)) revealedBy.set(element, by);
}

// Content shown by a press or a key is not revealed by the pointer.
function forgetHover() {
  hoverNow = shownControls = null;
}

// Lists the controls that were invisible at the last check; none at the first one.
function lookForNewControls() {
  startSearchClock();
  forgetBackgrounds();
  forgetBoxes();
  const controls = [...selectAll(document, CONTROL_ROLE_SELECTOR)].slice(0, MAX_MENU_CONTROLS);
  const shown = new Set(controls.filter(isVisible));
  for (const each of controls) if (!shown.has(each)) revealedBy.delete(each);
  const news = shownControls ? [...shown].filter((each) => !shownControls.has(each)) : [];
  shownControls = shown;
  return news;
}

// The elements to hover, one after the other, until an element is visible.
function listHovers(element) {
  const maxMenus = 5;
  const hovers = [];
  for (let by = revealedBy.get(element); by?.isConnected && hovers.length < maxMenus; by = revealedBy.get(by)) hovers.unshift(by);
  return hovers;
}
