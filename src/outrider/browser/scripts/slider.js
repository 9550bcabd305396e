// Sets a slider that a page draws by its value, where the markup says that arrow keys move it.

function isDrawnSlider(element) {
  return tagOf(element) !== "input" && attributeOf(element, "role") === "slider" && isFocusable(element) && !Number.isNaN(readSliderValue(element));
}

function readSliderValue(element) {
  return parseFloat(attributeOf(element, "aria-valuenow") ?? "");
}

function prepareSlider(element, text) {
  const low = parseFloat(attributeOf(element, "aria-valuemin") ?? "0");
  const high = parseFloat(attributeOf(element, "aria-valuemax") ?? "100");
  const number = Number(text);
  if (!text.trim() || !(number >= low && number <= high)) {
    return { ok: false, ...buildFailure("bad_value", `${quote(shorten(text, 40))} is outside ${low} to ${high}`, `use a number from ${low} to ${high}`), ...collectEvidence(element) };
  }
  valueBefore.set(element, String(readSliderValue(element)));
  element.focus({ preventScroll: true });
  if (focusedElement() === element) return { ok: true, how: "step" };
  return { ok: false, ...buildFailure("not_editable", "it does not take the focus", "drag it"), ...collectEvidence(element) };
}

// Frameworks write the new value with the next frame.
async function readSlider(ref) {
  await waitForFrame(250);
  const element = elementOf(ref);
  return element ? readSliderValue(element) : null;
}

function checkSlider(element, text) {
  const value = attributeOf(element, "aria-valuenow");
  return { connected: true, replaced: false, same: Number(value) === Number(text), unchanged: value === valueBefore.get(element), value, problem: "" };
}
