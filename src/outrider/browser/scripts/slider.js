// Sets a slider drawn by the page, if the markup shows that arrow keys move it.

function isDrawnSlider(element) {
  if (tagOf(element) === "input") return findThumb(element) !== null;
  return attributeOf(element, "role") === "slider" && isFocusable(element) && !Number.isNaN(readSliderValue(element));
}

// The box that takes the keys for a slider inside it that only shows its value.
function findThumb(field) {
  const box = field.type === "range" && field.tabIndex < 0 ? parentElementOf(field) : null;
  return box !== null && box.tabIndex >= 0 ? box : null;
}

function readSliderValue(element) {
  return parseFloat(attributeOf(element, "aria-valuenow") ?? element.value ?? "");
}

function readSliderRange(element) {
  const read = (name) => attributeOf(element, `aria-value${name}`) || element[name];
  return [parseFloat(read("min") || "0"), parseFloat(read("max") || "100")];
}

function prepareSlider(element, text) {
  const [low, high] = readSliderRange(element);
  const number = Number(text);
  if (!text.trim() || !(number >= low && number <= high)) {
    return { ok: false, ...buildFailure("bad_value", `${quote(shorten(text, 40))} is outside ${low} to ${high}`, `use a number from ${low} to ${high}`), ...collectEvidence(element) };
  }
  valueBefore.set(element, String(readSliderValue(element)));
  const thumb = findThumb(element) || element;
  thumb.focus({ preventScroll: true });
  if (focusedElement() === thumb) return { ok: true, how: "step" };
  return { ok: false, ...buildFailure("not_editable", "it cannot be focused", "drag it"), ...collectEvidence(element) };
}

// Frameworks write the new value with the next frame.
async function readSlider(ref) {
  await waitForFrame(250);
  const element = elementOf(ref);
  return element ? readSliderValue(element) : null;
}

function checkSlider(element, text) {
  const value = String(readSliderValue(element));
  return { connected: true, replaced: false, same: Number(value) === Number(text), unchanged: value === valueBefore.get(element), value, problem: "" };
}

const MAX_TRACK_LEVELS = 4;

// How far to drag the thumb to a value, if keys do not move it; null if no box around it is its track.
function measureSliderDrag(ref, target) {
  const thumb = elementOf(ref);
  const track = thumb && findTrack(thumb);
  if (!track) return null;
  const [low, high] = readSliderRange(thumb);
  const way = ((target - readSliderValue(thumb)) / (high - low)) * track.length;
  return track.isVertical ? { x: 0, y: -way } : { x: way, y: 0 };
}

// The box in which the relative position of the thumb matches its value.
function findTrack(thumb) {
  const [low, high] = readSliderRange(thumb);
  const share = (readSliderValue(thumb) - low) / (high - low);
  const { left, top, width, height } = rectOf(thumb);
  let box = parentElementOf(thumb);
  for (let level = 0; box !== null && level < MAX_TRACK_LEVELS; level++, box = parentElementOf(box)) {
    const track = rectOf(box);
    const isVertical = attributeOf(thumb, "aria-orientation") === "vertical" || track.height > 2 * track.width;
    const length = isVertical ? track.height : track.width;
    const at = isVertical ? (track.bottom - top - height / 2) / length : (left + width / 2 - track.left) / length;
    if (length > 2 * Math.max(width, height) && Math.abs(at - share) < 0.08) return { length, isVertical };
  }
  return null;
}
