// Scrolls an element into view and finds a point where a press really hits it.

const MAX_STEADY_FRAMES = 120;
const MAX_COVERED_MS = 400; // toasts and spinners disappear within that time
const MAX_REPLACEMENTS = 5;
const PRESS_ACTIONS = new Set(["click", "check", "uncheck", "drag"]);

// A page that renders often replaces elements while they are located; a selector then finds the new one.
async function locate(target, action, options) {
  let report = null;
  for (let attempt = 0; attempt < MAX_REPLACEMENTS; attempt++) {
    report = await locateOnce(target, action, options);
    if (!report.replaced) break;
    if (target.ref) target = { ...target, ref: report.replaced };
  }
  return report;
}

// A page that redraws its rows has an element of the same role, name and row, which no snapshot has shown.
async function waitForTwin(ref) {
  const start = performance.now();
  let twin = findUnseenTwin(ref);
  while (!twin && performance.now() - start < MAX_COVERED_MS) {
    await waitForFrame();
    twin = findUnseenTwin(ref);
  }
  const failure = { ok: false, ...explainGoneRef(ref), viewport: readViewport() };
  if (!twin) return failure;
  shownNames.set(refOf(twin), shownNames.get(ref));
  return { ...failure, replaced: refOf(twin) };
}

async function locateOnce(target, action, { strict = true, steady = false, arm = true, carried = "", at = null, evidence = false } = {}) {
  const { element, failure } = resolveTarget(target, { strict });
  if (failure) return { ok: false, ...failure, ...(element ? collectEvidence(element) : { viewport: readViewport() }) };
  const pressed = choosePressTarget(element, action);
  if (action === "fill" && isReadOnly(element)) await tryFocus(element);
  const problem = (pressed !== element && checkOwnState(element, action)) || findObstacle(pressed, action);
  if (problem) return { ok: false, ...problem, ...collectEvidence(pressed) };
  const still = !(steady || isMoving(pressed)) || (await waitUntilStill(pressed));
  const findTarget = () => (at ? findRequestedPoint(pressed, at) : findPointBeside(element, pressed, action) || (action === "drop" && findDropPoint(pressed, elementOf(carried))) || findReachablePoint(pressed));
  const point = still ? await findAfterScroll(pressed, findTarget) : explainMoving();
  if (target.selector && !element.isConnected) return { ok: false, ...explainNotFound(target.selector), replaced: true };
  if (!element.isConnected) return waitForTwin(target.ref);
  if (point.reason) return { ok: false, ...point, ...collectEvidence(pressed) };
  if (arm) guard.arm(pressed, PRESS_ACTIONS.has(action));
  return { ok: true, x: point.x, y: point.y, ref: refOf(element), element: describeElement(element), before: readState(element), ...describeGeometry(element), ...describeStandIn(element, pressed), ...(evidence ? { evidence: describeEvidence(element), milestones: readMilestones() } : {}) };
}

// Pages keep fields read-only until they have the focus, so that nothing is filled in by itself.
async function tryFocus(field) {
  field.focus({ preventScroll: true });
  await waitForFrame(250);
  if (isReadOnly(field)) field.blur();
}

// A box that listens may contain controls, such as the cross that removes a chip, and handles: a press on it must avoid them.
function findPointBeside(element, pressed, action) {
  if (pressed !== element) return tagOf(pressed) === "label" ? null : findFreePoint(pressed, listOtherControls(pressed, element));
  if (!PRESS_ACTIONS.has(action) || !listensAround(element)) return null;
  const others = listOtherControls(element, element);
  const cells = others.map((each) => closestOf(each, CELL_SELECTOR)).filter((cell) => cell !== null && cell !== element && containsNode(element, cell));
  return findFreePoint(element, [...others, ...cells, ...listListenersInside(element)]) || findFreePoint(element, others);
}

// Tables may treat a press anywhere in a button's cell as a press on the button.
const CELL_SELECTOR = "td,[role=gridcell],[role=cell]";

function listensAround(element) {
  if (firstElementOf(element) === null || NATIVE_CONTROLS.has(tagOf(element))) return false;
  return listeningElements.has(element) || (GRID_CELL_ROLES.has(computeRole(element)) && isInListeningGrid(element));
}

function listListenersInside(element) {
  const inside = element.getElementsByTagName("*");
  return inside.length > MAX_SEARCHED_ELEMENTS ? [] : [...inside].filter((each) => listeningElements.has(each));
}

// Some pages redraw rows once they are scrolled into view, which they notice after a frame.
async function findAfterScroll(element, findTarget) {
  const before = rectOf(element);
  const point = await waitUntilUncovered(element, findTarget);
  const { x, y } = rectOf(element);
  if (x === before.x && y === before.y) return point;
  for (let frame = 0; frame < 2; frame++) await waitForFrame(250);
  return waitUntilUncovered(element, findTarget);
}

function isFading(element) {
  return findTransparentAncestor(element).getAnimations().length > 0;
}

async function waitUntilUncovered(element, findTarget) {
  const start = performance.now();
  let point = findTarget();
  while ((point.reason === "covered" || (point.transparent && isFading(element))) && element.isConnected && performance.now() - start < MAX_COVERED_MS) {
    await waitForFrame();
    point = findTarget();
  }
  return point;
}

// A check box that is drawn by its label is pressed through the label, a hidden field through the box drawn around it.
function choosePressTarget(element, action) {
  if (isHiddenField(element)) return findStandIn(element) || element;
  const around = findPressedHost(element) || findPressedBox(element);
  if (around) return around;
  if (tagOf(element) === "button") return findDrawingLabel(element) || findFilledItem(element) || (action === "drag" && findHandle(element)) || element;
  if (action === "drag") return findHandle(element) || element;
  if (tagOf(element) === "select" && (action === "select" || action === "fill")) return findListDrawing(element) || element;
  if (action === "fill" || !element.labels || (element.type !== "checkbox" && element.type !== "radio" && element.type !== "file")) return element;
  if (isVisible(element) && getComputedStyle(element).pointerEvents !== "none" && isReachable(element)) return element;
  return findReachableLabel(element) || (isHidden(element) && element.type !== "file" && (findDrawnLabel(element) || findStandIn(element))) || element;
}

// Of several labels, one may be covered by what the control has opened, and another one may be inside it to close it.
function findReachableLabel(control) {
  const visible = [...control.labels].filter(isVisible);
  return visible.find((label) => visible.length > 1 && findPoint(label)) || visible[0];
}

// A transparent list may be placed over the element that draws it, so that a press there opens it.
function findListDrawing(select) {
  if (!isVisible(select) || findTransparentAncestor(select) !== select) return null;
  const box = findStandIn(select);
  return box && listPoints(select).some(({ x, y }) => elementAtPoint(x, y) === select) ? box : null;
}

// A transparent button is drawn by the label around it; one that is clipped to a pixel is drawn by any of its labels.
function findDrawingLabel(button) {
  if (isVisible(button) && !findTransparentAncestor(button)) return null;
  return [...button.labels].find((label) => isVisible(label) && (containsNode(label, button) || !isVisible(button)));
}

const MIN_FILLED_SHARE = 0.9;

// An item of a list may listen for presses and hold a transparent button of its own size, for keys and screen readers.
function findFilledItem(button) {
  const item = parentElementOf(button);
  if (item === null || getComputedStyle(button).opacity !== "0" || !listeningElements.has(item) || !isVisible(item)) return null;
  const [{ width, height }, box] = [rectOf(button), rectOf(item)];
  return width * height >= MIN_FILLED_SHARE * box.width * box.height && !findTransparentAncestor(item) ? item : null;
}

const MAX_HANDLE_SHARE = 0.25;
const MAX_HANDLE_CHARS = 2;

// Items of some lists can only be dragged by a small part, which has a matching cursor.
function findHandle(item) {
  const grabs = (each) => /^(grab|move)$/.test(getComputedStyle(each).cursor);
  if (grabs(item) || item.getElementsByTagName("*").length > MAX_SEARCHED_ELEMENTS) return null;
  const handles = [...item.getElementsByTagName("*")].filter((each) => grabs(each) && !grabs(parentElementOf(each)));
  if (handles.length !== 1 || textContentOf(handles[0]).trim().length > MAX_HANDLE_CHARS) return null;
  const [part, whole] = [rectOf(handles[0]), rectOf(item)];
  return part.width * part.height <= MAX_HANDLE_SHARE * whole.width * whole.height && isVisible(handles[0]) ? handles[0] : null;
}

// A component may leave presses to its host, or to the host of an outer component; then its only control takes none.
function findPressedHost(element) {
  let control = element;
  for (let level = 0; level < MAX_HOST_LEVELS && getComputedStyle(control).pointerEvents === "none"; level++) {
    const root = rootOf(control);
    if (!(root instanceof ShadowRoot)) return null;
    const isOnly = [...selectAll(root, ACTIONABLE_SELECTOR)].every((each) => each === control);
    if (!isOnly || !isVisible(root.host)) return null;
    control = root.host;
  }
  return control === element || getComputedStyle(control).pointerEvents === "none" ? null : control;
}

const MAX_HOST_LEVELS = 3;

function checkOwnState(element, action) {
  return checkDisabled(element, action) || checkDisplayed(element) || checkReadOnly(element, action);
}

function describeStandIn(element, pressed) {
  return pressed === element || tagOf(pressed) === "label" ? {} : { drawn: describeElement(pressed) };
}

function isReachable(element) {
  return findPoint(element) !== null;
}

function describeGeometry(element) {
  return { rect: boxOf(element), viewport: readViewport(), tag: tagOf(element), type: element.type || "" };
}

function readViewport() {
  return { width: innerWidth, height: innerHeight, x: Math.round(scrollX), y: Math.round(scrollY) };
}

function collectEvidence(element) {
  const style = getComputedStyle(element);
  const { display, visibility, opacity, pointerEvents } = style;
  const disabled = matchesSelector(element, ":disabled");
  return {
    ref: refOf(element), element: describeElement(element), rect: boxOf(element), viewport: readViewport(),
    diagnostics: { visible: isVisible(element), disabled, display, visibility, opacity, pointerEvents },
  };
}

// Scrolling brings no press to an element that lets them through, and closes pop-ups.
function findReachablePoint(element) {
  const scrolls = getComputedStyle(element).pointerEvents !== "none";
  return findPoint(element) || (scrolls && scrollToPoint(element)) || explainUnreachable(element);
}

// Checks a point that the caller chose, in pixels from the element's top left corner.
function findRequestedPoint(element, [x, y]) {
  const { width, height } = rectOf(element);
  if (!(x >= 0 && y >= 0 && x < width && y < height)) {
    return buildFailure("bad_value", `at: [${x}, ${y}] is outside its ${Math.round(width)}×${Math.round(height)} pixels`, "choose a point inside");
  }
  const hit = hitTestScrolled(element, x, y);
  if (hit && isSameTarget(element, hit)) return toViewportPoint(element, x, y);
  return hit ? buildFailure("covered", `covered there by ${describeElement(hit)}`, "choose another point") : explainOffScreen(element);
}

// Hit-tests a point of the element at its position and, if something else is there, in the middle of the viewport.
function hitTestScrolled(element, x, y) {
  const hitTest = () => {
    const point = toViewportPoint(element, x, y);
    return elementAtPoint(point.x, point.y);
  };
  const hit = hitTest();
  if (hit && isSameTarget(element, hit)) return hit;
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  return hitTest();
}

function toViewportPoint(element, x, y) {
  const { left, top } = rectOf(element);
  return { x: left + x, y: top + y };
}

// The middle, even if it is under the dragged element, or inside a shape that is only an outline.
function findDropPoint(element, carried) {
  const [point] = listPoints(element);
  const hit = point && elementAtPoint(point.x, point.y);
  if (!hit) return null;
  const drawn = element instanceof SVGElement && (hit.ownerSVGElement || hit) === element.ownerSVGElement;
  return drawn || (carried && containsNode(carried, hit)) ? point : null;
}

function scrollToPoint(element) {
  for (const block of ["center", "end", "start"]) {
    element.scrollIntoView({ block, inline: "center", behavior: "instant" });
    const point = findPoint(element);
    if (point) return point;
  }
  return null;
}

// Tries the middle of the largest visible box, then points around it.
function findPoint(element) {
  if (!isToggle(element) && element.type !== "file" && findTransparentAncestor(element)) return null;
  for (const { x, y } of listPoints(element)) {
    const hit = elementAtPoint(x, y);
    if (hit && isSameTarget(element, hit)) return { x, y };
  }
  return null;
}

const POINT_SHARES = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.1, 0.9], [0.9, 0.1]];

function listPoints(element) {
  const box = findVisibleBox(element);
  if (!box) return [];
  return POINT_SHARES.map(([across, down]) => ({ x: box.left + across * box.width, y: box.top + down * box.height }));
}

function findVisibleBox(element) {
  let best = null;
  for (const { left, top, right, bottom } of listClientRects(element)) {
    const box = { left: Math.max(left, 0), top: Math.max(top, 0) };
    box.width = Math.min(right, innerWidth) - box.left;
    box.height = Math.min(bottom, innerHeight) - box.top;
    if (box.width > 0 && box.height > 0 && (!best || box.width * box.height > best.width * best.height)) best = box;
  }
  return best;
}

function listClientRects(element) {
  if (tagOf(element) === "area") return listAreaRects(element);
  const boxes = element.getClientRects();
  if (boxes.length && [...boxes].some((box) => box.width >= 1 && box.height >= 1)) return boxes;
  return [...elementsOf(element)].flatMap((child) => [...child.getClientRects()]);
}

function listAreaRects(area) {
  const image = document.querySelector(`img[usemap="#${CSS.escape(closestOf(area, "map")?.name || "")}"]`);
  if (!image) return [];
  const { left, top } = rectOf(image);
  const numbers = area.coords.split(",").map(Number);
  if (area.shape === "circle") return [toSides(left + numbers[0], top + numbers[1], numbers[2], numbers[2])];
  const across = numbers.filter((_, at) => at % 2 === 0);
  const down = numbers.filter((_, at) => at % 2 === 1);
  const [x1, x2, y1, y2] = [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
  return [toSides(left + (x1 + x2) / 2, top + (y1 + y2) / 2, (x2 - x1) / 2, (y2 - y1) / 2)];
}

function toSides(x, y, halfWidth, halfHeight) {
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

// A press on `hit` counts as a press on the element if it is inside, or if one is the other's label.
function isSameTarget(element, hit) {
  if (containsNode(element, hit)) return true;
  if (isTransparentToggleOver(element, hit) || isTouchTargetOver(element, hit)) return true;
  const label = findClosest(hit, (each) => tagOf(each) === "label");
  if (label && label.control === element) return true;
  return tagOf(element) === "label" && element.control === hit;
}

// A toggle may be a transparent check box over the element that draws it; people press it where they see the drawing.
function isTransparentToggleOver(element, hit) {
  if (tagOf(hit) !== "input" || !LABEL_REPLACED_TYPES.has(hit.type) || hit.nextElementSibling === null) return false;
  return containsNode(hit.nextElementSibling, element) && getComputedStyle(hit).opacity === "0";
}

const MAX_TOUCH_OVERHANG_PX = 24;

// Libraries put an empty box with a listener over a control that is too small for fingers.
function isTouchTargetOver(element, hit) {
  if (!listeningElements.has(hit) || firstElementOf(hit) !== null || textContentOf(hit).trim() !== "") return false;
  const box = parentElementOf(hit);
  if (box === null || !containsNode(box, element) || listOtherControls(box, element).some((each) => !containsNode(element, each))) return false;
  const [over, under] = [rectOf(hit), rectOf(element)];
  const overhangs = [under.left - over.left, under.top - over.top, over.right - under.right, over.bottom - under.bottom];
  return overhangs.every((each) => each >= 0 && each <= MAX_TOUCH_OVERHANG_PX);
}

function explainUnreachable(element) {
  const transparent = findTransparentAncestor(element);
  if (transparent) return { ...explainHidden(element, transparent, "opacity: 0"), transparent: true };
  const [point] = listPoints(element);
  if (!point) return explainOffScreen(element);
  const hit = elementAtPoint(point.x, point.y);
  const blocker = findClosest(element, (each) => getComputedStyle(each).pointerEvents === "none");
  if (blocker && getComputedStyle(element).pointerEvents === "none") return explainPointerEventsNone(element, blocker);
  if (!hit || containsNode(hit, element)) return explainClipped(element, hit);
  const cover = findCover(element, hit);
  const drawn = isHidden(element) ? suggestDrawnSibling(element) : "";
  const way = drawn ? { hint: drawn, suggestions: [drawn] } : {};
  return { ...buildFailure("covered", `covered by ${describeElement(cover)}`, suggestDismissal(cover), describeCover(cover)), ...way };
}

function explainPointerEventsNone(element, blocker) {
  const top = findTopmostBlocker(blocker);
  const subject = top === element ? "it has" : `${describeElement(top)} around it has`;
  return buildFailure("pointer_events_none", `${subject} pointer-events: none`, "something on the page must release it first");
}

function findTopmostBlocker(blocker) {
  let top = blocker;
  for (let each = blocker; each && getComputedStyle(each).pointerEvents === "none"; each = parentElementOf(each)) top = each;
  return top;
}

function explainOffScreen(element) {
  const { x, y } = boxOf(element);
  return buildFailure("off_screen", `outside the viewport at ${x}, ${y}, and scrolling does not bring it in`, suggestOpener(element));
}

function explainClipped(element, hit) {
  const by = hit ? ` by ${describeElement(hit)}` : "";
  return buildFailure("off_screen", `clipped${by}: no part of it can be reached`, suggestOpener(element), { cause: "clipped" });
}

function findTransparentAncestor(element) {
  return findClosest(element, (each) => getComputedStyle(each).opacity === "0");
}

// The outermost element over it that does not also contain it.
function findCover(element, hit) {
  let cover = hit;
  for (let each = parentElementOf(hit); each && !containsNode(each, element); each = parentElementOf(each)) cover = each;
  return cover;
}

function isMoving(element) {
  if (!document.getAnimations) return false;
  return document.getAnimations().some((each) => each.playState === "running" && each.effect?.target && containsNode(each.effect.target, element) && movesElement(each));
}

const STATIC_PROPERTIES = new Set(["color", "background-color", "backgroundColor", "opacity", "boxShadow", "outline", "filter", "offset", "easing", "composite", "computedOffset"]);

function movesElement(animation) {
  if (animation.transitionProperty) return !STATIC_PROPERTIES.has(animation.transitionProperty);
  return animation.effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !STATIC_PROPERTIES.has(name)));
}

async function waitUntilStill(element) {
  let before = null;
  let last = { x: 0, y: 0 };
  let still = 0;
  for (let frame = 0; frame < MAX_STEADY_FRAMES; frame++) {
    const { x, y, width, height } = rectOf(element);
    const now = `${x} ${y} ${width} ${height}`;
    still = now === before ? still + 1 : 0;
    if (still >= 2 || !element.isConnected) return true;
    if (frame === MAX_STEADY_FRAMES - 2) last = { x, y };
    before = now;
    await waitForFrame(250);
  }
  const { x, y, width, height } = rectOf(element);
  return isSlow(x - last.x, width) && isSlow(y - last.y, height);
}

// A press takes a few frames, so it hits an element that moves little per frame; the press guard stops a miss.
function isSlow(distance, size) {
  return Math.abs(distance) * 8 < size;
}

function explainMoving() {
  return buildFailure("timeout", "it does not stop moving", "wait until it is still, or stop what moves it", { cause: "moving" });
}

// Animation frames stop in a background tab, so a timer ends the wait as well.
function waitForFrame(timeoutMs = 50) {
  return new Promise((done) => {
    const timer = setTimeout(done, timeoutMs);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });
}

// Maps a point of a child frame to this document, if a press reaches the frame there.
function mapThroughFrame(ref, x, y) {
  const element = elementOf(ref);
  if (!element) return { ok: false, ...buildFailure("not_found", "the frame is gone", "take a snapshot") };
  const problem = findObstacle(element, "click");
  if (problem) return { ok: false, ...problem, ...collectEvidence(element) };
  let point = frameToPagePoint(element, x, y);
  if (point.x < 0 || point.y < 0 || point.x > innerWidth || point.y > innerHeight) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    scrollBy({ top: frameToPagePoint(element, x, y).y - innerHeight / 2, left: frameToPagePoint(element, x, y).x - innerWidth / 2, behavior: "instant" });
    point = frameToPagePoint(element, x, y);
  }
  const hit = elementAtPoint(point.x, point.y);
  if (hit === element) return { ok: true, ...point };
  if (!hit || containsNode(hit, element)) return { ok: false, ...explainClipped(element, hit), ...collectEvidence(element) };
  const cover = findCover(element, hit);
  return { ok: false, ...buildFailure("covered", `its frame is covered by ${describeElement(cover)}`, suggestDismissal(cover), describeCover(cover)), ...collectEvidence(element) };
}

function frameToPagePoint(frame, x, y) {
  const { left, top } = rectOf(frame);
  const style = getComputedStyle(frame);
  return {
    x: left + frame.clientLeft + parseFloat(style.paddingLeft) + x,
    y: top + frame.clientTop + parseFloat(style.paddingTop) + y,
  };
}
