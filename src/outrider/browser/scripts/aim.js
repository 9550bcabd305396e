// Brings an element into view and finds a point on it that a hand would really hit.

const STEADY_FRAMES = 60;
const PRESSING = new Set(["click", "check", "uncheck", "drag"]);

async function aim(target, action, { strict = true, steady = false, arm = true, carried = "", at = null } = {}) {
  const { element, failure } = resolve(target, { strict });
  if (failure) return { ok: false, ...failure, ...(element ? evidence(element) : { viewport: viewport() }) };
  const aimed = stand(element, action);
  const problem = obstacle(aimed, action);
  if (problem) return { ok: false, ...problem, ...evidence(aimed) };
  if ((steady || isMoving(aimed)) && !(await comesToRest(aimed))) return { ok: false, ...restless(), ...evidence(aimed) };
  const point = at ? spot(aimed, at) : (action === "drop" && dropPoint(aimed, elementOf(carried))) || reach(aimed);
  if (point.reason) return { ok: false, ...point, ...evidence(aimed) };
  if (arm) guard.arm(aimed, PRESSING.has(action));
  return { ok: true, x: point.x, y: point.y, ref: refOf(element), element: describe(element), before: stateOf(element), ...facts(element) };
}

// A check box that is drawn by its label is acted on through it; an option through its list.
function stand(element, action) {
  if (action === "fill" || !element.labels || (element.type !== "checkbox" && element.type !== "radio" && element.type !== "file")) return element;
  if (isSeen(element) && getComputedStyle(element).pointerEvents !== "none" && reachable(element)) return element;
  return [...element.labels].find(isSeen) || element;
}

function reachable(element) {
  return pointOn(element) !== null;
}

function facts(element) {
  return { rect: boxOf(element), viewport: viewport(), tag: tagOf(element), type: element.type || "" };
}

function viewport() {
  return { width: innerWidth, height: innerHeight, x: Math.round(scrollX), y: Math.round(scrollY) };
}

function evidence(element) {
  const style = getComputedStyle(element);
  const { display, visibility, opacity, pointerEvents } = style;
  const disabled = element.matches(":disabled");
  return {
    ref: refOf(element), element: describe(element), rect: boxOf(element), viewport: viewport(),
    diagnostics: { visible: isSeen(element), disabled, display, visibility, opacity, pointerEvents },
  };
}

function reach(element) {
  return pointOn(element) || scrolled(element) || unreachable(element);
}

// A point that was asked for, in pixels from the top left corner.
function spot(element, [x, y]) {
  const { width, height } = element.getBoundingClientRect();
  if (!(x >= 0 && y >= 0 && x < width && y < height)) {
    return failing("bad_value", `at: [${x}, ${y}] is outside of its ${Math.round(width)}×${Math.round(height)} pixels`, "choose a point inside");
  }
  const hit = spotted(element, x, y);
  if (hit && counts(element, hit)) return placeOf(element, x, y);
  return hit ? failing("covered", `covered there by ${describe(hit)}`, "choose another point") : outside(element);
}

function spotted(element, x, y) {
  const there = () => { const place = placeOf(element, x, y); return hitAt(place.x, place.y); };
  const hit = there();
  if (hit && counts(element, hit)) return hit;
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  return there();
}

function placeOf(element, x, y) {
  const { left, top } = element.getBoundingClientRect();
  return { x: left + x, y: top + y };
}

// Its middle, even where that is under what is being dragged, or only an outline without a fill.
function dropPoint(element, carried) {
  const [point] = pointsOf(element);
  const hit = point && hitAt(point.x, point.y);
  if (!hit) return null;
  const drawn = element instanceof SVGElement && (hit.ownerSVGElement || hit) === element.ownerSVGElement;
  return drawn || (carried && holds(carried, hit)) ? point : null;
}

function scrolled(element) {
  for (const block of ["center", "end", "start"]) {
    element.scrollIntoView({ block, inline: "center", behavior: "instant" });
    const point = pointOn(element);
    if (point) return point;
  }
  return null;
}

// The middle of the largest visible box, then points around it.
function pointOn(element) {
  if (!isToggle(element) && element.type !== "file" && transparentBy(element)) return null;
  for (const { x, y } of pointsOf(element)) {
    const hit = hitAt(x, y);
    if (hit && counts(element, hit)) return { x, y };
  }
  return null;
}

const SHARES = [[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.1], [0.9, 0.9], [0.1, 0.9], [0.9, 0.1]];

function pointsOf(element) {
  const box = visibleBox(element);
  if (!box) return [];
  return SHARES.map(([across, down]) => ({ x: box.left + across * box.width, y: box.top + down * box.height }));
}

function visibleBox(element) {
  let best = null;
  for (const { left, top, right, bottom } of boxesOf(element)) {
    const box = { left: Math.max(left, 0), top: Math.max(top, 0) };
    box.width = Math.min(right, innerWidth) - box.left;
    box.height = Math.min(bottom, innerHeight) - box.top;
    if (box.width > 0 && box.height > 0 && (!best || box.width * box.height > best.width * best.height)) best = box;
  }
  return best;
}

function boxesOf(element) {
  if (tagOf(element) === "area") return areaBox(element);
  const boxes = element.getClientRects();
  if (boxes.length && [...boxes].some((box) => box.width >= 1 && box.height >= 1)) return boxes;
  return [...element.children].flatMap((child) => [...child.getClientRects()]);
}

function areaBox(area) {
  const image = document.querySelector(`img[usemap="#${CSS.escape(area.closest("map")?.name || "")}"]`);
  if (!image) return [];
  const { left, top } = image.getBoundingClientRect();
  const numbers = area.coords.split(",").map(Number);
  if (area.shape === "circle") return [sides(left + numbers[0], top + numbers[1], numbers[2], numbers[2])];
  const across = numbers.filter((_, at) => at % 2 === 0);
  const down = numbers.filter((_, at) => at % 2 === 1);
  const [x1, x2, y1, y2] = [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
  return [sides(left + (x1 + x2) / 2, top + (y1 + y2) / 2, (x2 - x1) / 2, (y2 - y1) / 2)];
}

function sides(x, y, halfWidth, halfHeight) {
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

// Whether a press on `hit` is a press on the element: it is inside, or one is the other's label.
function counts(element, hit) {
  if (holds(element, hit)) return true;
  const label = closestWhere(hit, (each) => tagOf(each) === "label");
  if (label && label.control === element) return true;
  return tagOf(element) === "label" && element.control === hit;
}

function unreachable(element) {
  const veiled = transparentBy(element);
  if (veiled) return { ...hiddenBy(element, veiled, "opacity: 0"), transparent: true };
  const [point] = pointsOf(element);
  if (!point) return outside(element);
  const hit = hitAt(point.x, point.y);
  const blocker = closestWhere(element, (each) => getComputedStyle(each).pointerEvents === "none");
  if (blocker && getComputedStyle(element).pointerEvents === "none") return untouchable(element, blocker);
  if (!hit || holds(hit, element)) return clipped(element, hit);
  const cover = coverOf(element, hit);
  return failing("covered", `covered by ${describe(cover)}`, dismissal(cover), coveredBy(cover));
}

function untouchable(element, blocker) {
  const top = topmost(blocker);
  const whose = top === element ? "it has" : `${describe(top)} around it has`;
  return failing("pointer_events_none", `${whose} pointer-events: none`, "something on the page must release it first");
}

function topmost(blocker) {
  let top = blocker;
  for (let each = blocker; each && getComputedStyle(each).pointerEvents === "none"; each = parentElementOf(each)) top = each;
  return top;
}

function outside(element) {
  const { x, y } = boxOf(element);
  return failing("off_screen", `outside the viewport at ${x}, ${y}, and scrolling does not bring it in`, opener(element));
}

function clipped(element, hit) {
  const by = hit ? ` by ${describe(hit)}` : "";
  return failing("off_screen", `clipped${by}: no part of it can be reached`, opener(element), { cause: "clipped" });
}

function transparentBy(element) {
  return closestWhere(element, (each) => getComputedStyle(each).opacity === "0");
}

// The highest element over it that does not hold it as well.
function coverOf(element, hit) {
  let cover = hit;
  for (let each = parentElementOf(hit); each && !holds(each, element); each = parentElementOf(each)) cover = each;
  return cover;
}

function isMoving(element) {
  if (!document.getAnimations) return false;
  return document.getAnimations().some((each) => each.playState === "running" && each.effect?.target && holds(each.effect.target, element) && moves(each));
}

const STILL = new Set(["color", "background-color", "backgroundColor", "opacity", "boxShadow", "outline", "filter", "offset", "easing", "composite", "computedOffset"]);

function moves(animation) {
  if (animation.transitionProperty) return !STILL.has(animation.transitionProperty);
  return animation.effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !STILL.has(name)));
}

async function comesToRest(element) {
  let before = null;
  let still = 0;
  for (let frame = 0; frame < STEADY_FRAMES; frame++) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const now = `${x} ${y} ${width} ${height}`;
    still = now === before ? still + 1 : 0;
    if (still >= 2) return true;
    before = now;
    await nextFrame(250);
  }
  return false;
}

function restless() {
  return failing("timeout", "it does not stop moving", "wait until it is still, or stop what moves it", { cause: "moving" });
}

// Frames stop in a tab that is not in front, so a timer is the second clock.
function nextFrame(longest = 50) {
  return new Promise((done) => {
    const timer = setTimeout(done, longest);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      done();
    });
  });
}

// Where a point of a child frame lies in this document, if a hand reaches the frame there.
function throughFrame(ref, x, y) {
  const element = elementOf(ref);
  if (!element) return { ok: false, ...failing("not_found", "the frame is gone", "take a snapshot") };
  const problem = obstacle(element, "click");
  if (problem) return { ok: false, ...problem, ...evidence(element) };
  let at = inFrame(element, x, y);
  if (at.x < 0 || at.y < 0 || at.x > innerWidth || at.y > innerHeight) {
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    scrollBy({ top: inFrame(element, x, y).y - innerHeight / 2, left: inFrame(element, x, y).x - innerWidth / 2, behavior: "instant" });
    at = inFrame(element, x, y);
  }
  const hit = hitAt(at.x, at.y);
  if (hit === element) return { ok: true, ...at };
  if (!hit || holds(hit, element)) return { ok: false, ...clipped(element, hit), ...evidence(element) };
  const cover = coverOf(element, hit);
  return { ok: false, ...failing("covered", `its frame is covered by ${describe(cover)}`, dismissal(cover), coveredBy(cover)), ...evidence(element) };
}

function inFrame(frame, x, y) {
  const { left, top } = frame.getBoundingClientRect();
  const style = getComputedStyle(frame);
  return {
    x: left + frame.clientLeft + parseFloat(style.paddingLeft) + x,
    y: top + frame.clientTop + parseFloat(style.paddingTop) + y,
  };
}
