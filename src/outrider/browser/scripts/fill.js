// Fields: what each accepts, and how its value is set so that the page's own code takes notice.

const CLOCKED = { date: "YYYY-MM-DD", time: "HH:MM", month: "YYYY-MM", week: "YYYY-Www", "datetime-local": "YYYY-MM-DDTHH:MM" };
const SET_DIRECTLY = new Set([...Object.keys(CLOCKED), "range", "color"]);
const UNTYPED = new Set(["checkbox", "radio", "file", "button", "submit", "reset", "image", "hidden"]);

const heldBefore = new WeakMap();

// Makes a field ready for typing: focused, with what is to be replaced selected. Returns how to go on.
function prepareFill(ref, text, { append = false } = {}) {
  const element = elementOf(ref);
  if (!element) return { ok: false, ...goneRef(ref) };
  const field = editable(element);
  const problem = field ? unacceptable(field, text, append) : notAField(element);
  if (problem) return { ok: false, ...problem, ...evidence(element) };
  heldBefore.set(field, valueIn(field));
  if (SET_DIRECTLY.has(field.type)) return setDirectly(field, text);
  field.focus({ preventScroll: true });
  if (focused() !== field && !holds(focused() || bodyOf(document), field)) {
    return { ok: false, ...failing("not_editable", "it does not take the focus", "click it first"), ...evidence(element) };
  }
  selectIn(field, append);
  return { ok: true, how: "type", empty: !valueIn(field), multiline: isMultiline(field) };
}

function editable(element) {
  if (tagOf(element) === "label" && element.control) return editable(element.control);
  if (tagOf(element) === "textarea") return element;
  if (tagOf(element) === "input") return UNTYPED.has(element.type) ? null : element;
  if (element.isContentEditable) return closestWhere(element, isEditingHost) || element;
  if (!holds(element, focused())) return null;
  return focused() && focused() !== element ? editable(focused()) : null;
}

function notAField(element) {
  const type = tagOf(element) === "input" ? element.type : tagOf(element);
  const inner = element.querySelector("input:not([type=hidden]),textarea,[contenteditable]");
  const hint = NOT_A_FIELD[type] || (inner ? `use the field in it: ${refOf(inner)} ${describe(inner)}` : "choose a text field");
  return failing("not_editable", `${describe(element)} takes no text`, hint);
}

const NOT_A_FIELD = {
  checkbox: "use check or uncheck", radio: "use check", file: "use upload", select: "use select", button: "use click",
  submit: "use click", reset: "use click", image: "use click", hidden: "a hidden field is set by the page itself",
};

function unacceptable(field, text, append) {
  if (field.readOnly) return readOnlyFor(field, "fill");
  if (field.type === "number") return badNumber(field, text, append);
  if (text && CLOCKED[field.type]) return badClock(field, text);
  if (text && field.type === "range") return badRange(field, text);
  if (field.type === "color" && !/^#[0-9a-f]{6}$/i.test(text)) return failing("bad_value", `${quoted(text)} is not a colour`, "use #RRGGBB");
  return tooLong(field, text, append);
}

function badNumber(field, text, append) {
  const whole = append ? field.value + text : text;
  if (whole === "" || /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(whole.trim())) return null;
  return failing("bad_value", `${quoted(shorten(text, 40))} is not a number`, "use digits, with a point for decimals");
}

function badClock(field, text) {
  if (sanitized(field, text)) return outOfLimits(field, text);
  return failing("bad_value", `${quoted(shorten(text, 40))} is not a valid ${field.type}`, `use ${CLOCKED[field.type]}`);
}

// The browser itself judges: a field of that kind keeps only what is valid.
function sanitized(field, text) {
  const probe = document.createElement("input");
  probe.type = field.type;
  probe.value = text;
  return probe.value;
}

function outOfLimits(field, text) {
  if (field.min && text < field.min) return failing("bad_value", `${text} is before the earliest, ${field.min}`, `use ${field.min} or later`);
  if (field.max && text > field.max) return failing("bad_value", `${text} is after the latest, ${field.max}`, `use ${field.max} or earlier`);
  return null;
}

function badRange(field, text) {
  const number = Number(text);
  const low = Number(field.min || 0);
  const high = Number(field.max || 100);
  if (text.trim() && number >= low && number <= high) return null;
  return failing("bad_value", `${quoted(shorten(text, 40))} is outside ${low} to ${high}`, `use a number from ${low} to ${high}`);
}

function tooLong(field, text, append) {
  const limit = field.maxLength ?? -1;
  const length = text.length + (append ? field.value.length : 0);
  if (limit < 0 || length <= limit) return null;
  return failing("bad_value", `the field takes at most ${limit} characters, not ${length}`, `shorten it to ${limit}`, { maxlength: limit });
}

function setDirectly(field, text) {
  field.focus({ preventScroll: true });
  field.value = text;
  tell(field);
  return { ok: true, how: "set" };
}

function tell(field) {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function selectIn(field, append) {
  if ("value" in field) return append ? toEnd(field) : field.select();
  const range = document.createRange();
  range.selectNodeContents(field);
  if (append) range.collapse(false);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

function toEnd(field) {
  try {
    field.setSelectionRange(field.value.length, field.value.length);
  } catch {
    field.value = field.value; // e-mail and number fields know no selection; this puts the caret at the end
  }
}

function valueIn(field) {
  return "value" in field ? field.value : field.innerText;
}

function isMultiline(field) {
  return tagOf(field) !== "input";
}

// What the field holds now against what was meant; a secret is compared here and not told.
function afterFill(ref, text, append) {
  const element = elementOf(ref);
  const field = element && editable(element);
  if (!field) return { connected: false };
  const value = valueIn(field);
  const before = heldBefore.get(field) ?? "";
  const same = sameText(value, append ? before + text : text);
  const problem = field.validity && !field.validity.valid ? field.validationMessage : "";
  return { connected: true, same, unchanged: value === before, value: isSecret(field) ? null : shorten(collapse(value), SHOWN_VALUE), problem };
}

function sameText(value, meant) {
  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").trim();
  return plain(value) === plain(meant);
}

// Chooses options by label or value; says what is closest where there is none.
function choose(ref, wanted) {
  const element = elementOf(ref);
  if (!element) return { ok: false, ...goneRef(ref) };
  const select = tagOf(element) === "label" ? element.control : element;
  if (select?.localName !== "select") return { ok: false, ...notASelect(element), ...evidence(element) };
  const found = wanted.map((each) => optionFor(select, each));
  const missing = wanted.findIndex((_, at) => !found[at]);
  const problem = missing >= 0 ? noOption(select, wanted[missing]) : unselectable(select, found);
  if (problem) return { ok: false, ...problem, ...evidence(select) };
  const before = valueOf(select);
  const changed = apply(select, found);
  if (changed) tell(select);
  return { ok: true, changed, before, value: valueOf(select), chosen: found.every((each) => each.selected) };
}

function notASelect(element) {
  const list = element.querySelector("select");
  if (list) return failing("not_editable", `${describe(element)} is no <select>`, `use the one in it: ${refOf(list)}`);
  return failing("not_editable", `${describe(element)} is no <select>`, "click it, then click the option that appears");
}

function optionFor(select, wanted) {
  const options = [...select.options];
  const plain = (text) => collapse(text).toLowerCase();
  return (
    options.find((each) => collapse(each.label) === collapse(wanted)) ||
    options.find((each) => each.value === wanted) ||
    options.find((each) => plain(each.label) === plain(wanted)) ||
    null
  );
}

function noOption(select, wanted) {
  const labels = [...select.options].map((each) => collapse(each.label)).filter(Boolean);
  const closest = nearestTexts(wanted, labels).map((each) => `${each}`);
  return failing("no_option", `no option ${quoted(shorten(wanted, 60))}`, `closest: ${closest.join(", ")}`, { suggestions: closest, options: labels.length });
}

function unselectable(select, found) {
  if (found.length > 1 && !select.multiple) return failing("bad_value", "it takes one option only", "choose one");
  const off = found.find((each) => each.disabled || each.closest("optgroup")?.disabled);
  return off ? failing("disabled", `the option ${quoted(collapse(off.label))} is disabled`, "choose another") : null;
}

function apply(select, found) {
  const before = [...select.options].map((each) => each.selected).join();
  if (select.multiple) for (const option of select.options) option.selected = found.includes(option);
  else found[0].selected = true;
  return before !== [...select.options].map((each) => each.selected).join();
}

function nearestTexts(wanted, texts) {
  const scored = texts.map((text) => ({ text, distance: editDistance(wanted.toLowerCase(), text.toLowerCase()) }));
  scored.sort((one, other) => one.distance - other.distance);
  return scored.slice(0, 3).map((each) => each.text);
}

function editDistance(one, other) {
  if (other.startsWith(one) || other.includes(one)) return 0.5;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let down = 1; down <= one.length; down++) {
    const next = [down];
    for (let across = 1; across <= other.length; across++) {
      const same = one[down - 1] === other[across - 1] ? 0 : 1;
      next.push(Math.min(row[across] + 1, next[across - 1] + 1, row[across - 1] + same));
    }
    row = next;
  }
  return row[other.length] / Math.max(one.length, other.length);
}

// File fields are mostly hidden behind something prettier, so they need not be seen.
function fileField(target, count) {
  const { element, failure } = target.selector ? resolveAny(target) : resolve(target);
  if (failure) return { ok: false, ...failure };
  const own = tagOf(element) === "label" ? element.control : element;
  const field = own?.type === "file" ? own : element.querySelector("input[type=file]");
  if (!field) return { ok: false, ...failing("not_editable", `${describe(element)} takes no files`, "choose a file field"), ...evidence(element) };
  return accepts(field, count);
}

function resolveAny(target) {
  const found = resolve(target);
  if (found.failure?.reason !== "ambiguous") return found;
  const files = deepQuery(target.selector).filter((each) => each.type === "file");
  return files.length === 1 ? { element: files[0] } : found;
}

function accepts(field, count) {
  const tooMany = count > 1 && !field.multiple;
  const problem = disabledBy(field, "upload") || (tooMany ? failing("bad_value", "it takes one file only", "give one") : null);
  if (problem) return { ok: false, ...problem, ...evidence(field) };
  return { ok: true, ref: refOf(field), element: describe(field), ...facts(field) };
}

function filesOf(ref) {
  return { names: Array.from(elementOf(ref)?.files || [], (each) => each.name) };
}
