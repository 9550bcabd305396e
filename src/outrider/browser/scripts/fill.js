// Fills fields: checks the accepted values, and sets them so that the page's own code notices.

const DATE_FORMATS = { date: "YYYY-MM-DD", time: "HH:MM", month: "YYYY-MM", week: "YYYY-Www", "datetime-local": "YYYY-MM-DDTHH:MM" };
const DIRECTLY_SET_TYPES = new Set([...Object.keys(DATE_FORMATS), "range", "color"]);
const NON_TEXT_TYPES = new Set(["checkbox", "radio", "file", "button", "submit", "reset", "image", "hidden"]);

const valueBefore = new WeakMap();

// Focuses a field and selects the text to replace. Returns how to continue: `type`, or `set` when it is done.
function prepareFill(ref, text, { append = false, selector = "" } = {}) {
  const element = findAgain(ref, selector);
  if (!element) return { ok: false, ...explainGoneRef(ref) };
  if (isDrawnSlider(element)) return prepareSlider(element, text);
  const field = findEditable(element);
  const problem = field ? checkText(field, text, append) : explainNotField(element);
  if (problem) return { ok: false, ...problem, ...collectEvidence(element) };
  valueBefore.set(field, readFieldText(field));
  if (DIRECTLY_SET_TYPES.has(field.type)) return setValueDirectly(field, text);
  field.focus({ preventScroll: true });
  if (focusedElement() !== field && !containsNode(focusedElement() || bodyOf(document), field)) {
    return { ok: false, ...buildFailure("not_editable", "it cannot be focused", "click it first"), ...collectEvidence(element) };
  }
  if (isDrawnEditor(field)) return { ok: true, how: "edit" };
  selectContent(field, append);
  return { ok: true, how: "type", empty: !readFieldText(field), multiline: isMultiline(field), seeksEnd: append && !("value" in field) };
}

// An editor that draws its text keeps only a part of it in the field that takes the keys. A terminal's field has one
// line.
function isDrawnEditor(field) {
  return isMultiline(field) && attributeOf(field, "aria-multiline") !== "false" && isHiddenField(field);
}

// Editors insert a pasted text unchanged, while they indent typed lines and close typed brackets.
function pasteText(ref, text) {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/plain", text);
  const field = focusedElement() || elementOf(ref);
  return !field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true, composed: true }));
}

// A page that renders often may have replaced the element that a selector found.
function findAgain(ref, selector) {
  return elementOf(ref) || (selector ? resolveSelector(selector).element : null) || null;
}

function findEditable(element) {
  if (tagOf(element) === "label" && element.control) return findEditable(element.control);
  if (tagOf(element) === "textarea") return element;
  if (tagOf(element) === "input") return NON_TEXT_TYPES.has(element.type) ? null : element;
  if (element.editContext) return element; // an editor that draws its text takes typed text without a field
  if (element.isContentEditable) return findClosest(element, isEditingHost) || element;
  if (!containsNode(element, focusedElement())) return null;
  return focusedElement() && focusedElement() !== element ? findEditable(focusedElement()) : null;
}

function explainNotField(element) {
  const type = tagOf(element) === "input" ? element.type : tagOf(element);
  const inner = selectFirst(element, "input:not([type=hidden]),textarea,[contenteditable]");
  const hint = NON_FIELD_HINTS[type] || (inner ? `use the field in it: ${refOf(inner)} ${describeElement(inner)}` : "choose a text field");
  return buildFailure("not_editable", `${describeElement(element)} takes no text`, hint);
}

const NON_FIELD_HINTS = {
  checkbox: "use check or uncheck", radio: "use check", file: "use upload", select: "use select", button: "use click",
  submit: "use click", reset: "use click", image: "use click", hidden: "a hidden field is set by the page itself",
};

function checkText(field, text, append) {
  if (isReadOnly(field)) return checkReadOnly(field, "fill");
  if (field.type === "number") return checkNumber(field, text, append);
  if (text && DATE_FORMATS[field.type]) return checkDate(field, text);
  if (text && field.type === "range") return checkRange(field, text);
  if (field.type === "color" && !/^#[0-9a-f]{6}$/i.test(text)) return buildFailure("bad_value", `${quote(text)} is not a colour`, "use #RRGGBB");
  return checkLength(field, text, append);
}

function checkNumber(field, text, append) {
  const whole = append ? field.value + text : text;
  if (whole === "" || /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(whole.trim())) return null;
  return buildFailure("bad_value", `${quote(shorten(text, 40))} is not a number`, "use digits, with a point for decimals");
}

function checkDate(field, text) {
  if (sanitizeValue(field, text)) return checkDateLimits(field, text);
  return buildFailure("bad_value", `${quote(shorten(text, 40))} is not a valid ${field.type}`, `use ${DATE_FORMATS[field.type]}`);
}

// The browser decides: a field of that type keeps only valid values.
function sanitizeValue(field, text) {
  const probe = document.createElement("input");
  probe.type = field.type;
  probe.value = text;
  return probe.value;
}

function checkDateLimits(field, text) {
  if (field.min && text < field.min) return buildFailure("bad_value", `${text} is before the earliest, ${field.min}`, `use ${field.min} or later`);
  if (field.max && text > field.max) return buildFailure("bad_value", `${text} is after the latest, ${field.max}`, `use ${field.max} or earlier`);
  return null;
}

function checkRange(field, text) {
  const number = Number(text);
  const low = Number(field.min || 0);
  const high = Number(field.max || 100);
  if (text.trim() && number >= low && number <= high) return null;
  return buildFailure("bad_value", `${quote(shorten(text, 40))} is outside ${low} to ${high}`, `use a number from ${low} to ${high}`);
}

function checkLength(field, text, append) {
  const limit = field.maxLength ?? -1;
  const length = text.length + (append ? readFieldText(field).length : 0);
  if (limit < 0 || length <= limit) return null;
  return buildFailure("bad_value", `the field takes at most ${limit} characters, not ${length}`, `shorten it to ${limit}`, { maxlength: limit });
}

function setValueDirectly(field, text) {
  field.focus({ preventScroll: true });
  field.value = text;
  dispatchChange(field);
  return { ok: true, how: "set" };
}

function dispatchChange(field) {
  field.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function selectContent(field, append) {
  if ("value" in field) return append ? moveCaretToEnd(field) : field.select();
  const range = document.createRange();
  range.selectNodeContents(field);
  if (append) range.collapse(false);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
}

function moveCaretToEnd(field) {
  try {
    field.setSelectionRange(field.value.length, field.value.length);
  } catch {
    field.value = field.value; // e-mail and number fields have no selection; this moves the caret to the end
  }
}

function readFieldText(field) {
  return "value" in field ? field.value : field.innerText;
}

function isMultiline(field) {
  return tagOf(field) !== "input";
}

// Shows dots in the field from now on, and hides its value from reports, because a secret will be typed into it.
function hideFieldValue(ref) {
  const element = elementOf(ref);
  const field = element && (findEditable(element) ?? element);
  if (!field) return false;
  hiddenFields.add(field);
  field.style.setProperty("-webkit-text-security", "disc", "important");
  return true;
}

// Compares the field's value with the intended one; a secret is compared here and not reported.
function checkFilled(ref, text, { append = false, selector = "" } = {}) {
  const element = findAgain(ref, selector);
  if (element && isDrawnSlider(element)) return checkSlider(element, text);
  const field = element && findEditable(element);
  if (!field) return { connected: false };
  const value = readFieldText(field);
  const before = valueBefore.get(field) ?? "";
  const same = isSameText(value, append ? before + text : text);
  const problem = field.validity && !field.validity.valid ? field.validationMessage : "";
  const scrambled = !append && !same && value.length <= MAX_VALUE_CHARS && isScrambled(value, text);
  return { connected: true, replaced: elementOf(ref) === null, same, scrambled, unchanged: value === before, value: isSecret(field) ? null : shorten(collapseSpace(value), MAX_VALUE_CHARS), problem };
}

// Masks move the caret shortly after a field gets the focus, perhaps between two typed letters.
function isScrambled(value, intended) {
  const letters = (text) => [...text.replace(/[^\p{L}\p{N}]/gu, "")];
  const [held, wanted] = [letters(value), letters(intended)];
  return held.join("") !== wanted.join("") && held.sort().join("") === wanted.sort().join("");
}

function isSameText(value, intended) {
  const plain = (text) => text.replace(/\r\n?/g, "\n").replace(/\u00a0/g, " ").trim();
  return plain(value) === plain(intended);
}

// Selects options by label or value, or by the names from nameOption; suggests the closest ones if none matches.
function selectOptions(ref, wanted, { selector = "", named = false } = {}) {
  const element = findAgain(ref, selector);
  if (!element) return { ok: false, ...explainGoneRef(ref) };
  const select = tagOf(element) === "label" ? element.control : element;
  if (select?.localName !== "select") return { ok: false, ...explainNotSelect(element), ...collectEvidence(element) };
  const found = wanted.map((each) => (named ? findNamedOption(select, each) : findOption(select, each)));
  const missing = wanted.findIndex((_, at) => !found[at]);
  const problem = missing >= 0 ? explainNoOption(select, wanted[missing]) : explainUnselectable(select, found);
  if (problem) return { ok: false, ...problem, ...collectEvidence(select) };
  const before = readValue(select);
  const changed = applySelection(select, found);
  if (changed) dispatchChange(select);
  const names = found.map(nameOption);
  return { ok: true, changed, before, value: readValue(select), chosen: found.every((each) => each.selected), names };
}

// The name of an option for people: its label. Values only distinguish options with equal labels.
function nameOption(option) {
  const label = collapseSpace(option.label);
  const select = closestOf(option, "select");
  const twins = select ? [...select.options].filter((each) => collapseSpace(each.label) === label) : [];
  return label && twins.length < 2 ? label : option.value;
}

function findNamedOption(select, name) {
  const names = [...select.options].map((each) => collapseSpace(nameOption(each)));
  const exact = names.indexOf(collapseSpace(name));
  return select.options[exact >= 0 ? exact : names.map((each) => each.toLowerCase()).indexOf(collapseSpace(name).toLowerCase())] ?? null;
}

function explainNotSelect(element) {
  const list = selectFirst(element, "select");
  if (list) return buildFailure("not_editable", `${describeElement(element)} is not a <select>`, `use the one in it: ${refOf(list)}`);
  return buildFailure("not_editable", `${describeElement(element)} is not a <select>`, "click it, then click the option that appears");
}

function findOption(select, wanted) {
  const options = [...select.options];
  const plain = (text) => collapseSpace(text).toLowerCase();
  return (
    options.find((each) => collapseSpace(each.label) === collapseSpace(wanted)) ||
    options.find((each) => each.value === wanted) ||
    options.find((each) => plain(each.label) === plain(wanted)) ||
    null
  );
}

function explainNoOption(select, wanted) {
  const labels = [...select.options].map((each) => collapseSpace(each.label)).filter(Boolean);
  const closest = findNearestTexts(wanted, labels).map((each) => `${each}`);
  return buildFailure("no_option", `no option ${quote(shorten(wanted, 60))}`, `closest: ${closest.map(plainLine).join(", ")}`, { suggestions: closest, options: labels.length });
}

function explainUnselectable(select, found) {
  if (found.length > 1 && !select.multiple) return buildFailure("bad_value", "it takes one option only", "choose one");
  const off = found.find((each) => each.disabled || closestOf(each, "optgroup")?.disabled);
  return off ? buildFailure("disabled", `the option ${quote(collapseSpace(off.label))} is disabled`, "choose another") : null;
}

function applySelection(select, found) {
  const before = [...select.options].map((each) => each.selected).join();
  if (select.multiple) for (const option of select.options) option.selected = found.includes(option);
  else found[0].selected = true;
  return before !== [...select.options].map((each) => each.selected).join();
}

function findNearestTexts(wanted, texts) {
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

// File fields are usually hidden behind a styled button, so they need not be visible. Without one, the element may open a chooser.
function findFileField(target, count) {
  const { element, failure } = target.selector ? resolveFileInput(target) : resolveTarget(target);
  if (failure) return { ok: false, ...failure };
  const own = tagOf(element) === "label" ? element.control : element;
  const field = own?.type === "file" ? own : selectFirst(element, "input[type=file]");
  if (field) return checkFileField(field, count);
  const problem = explainNotOpener(element);
  return problem ? { ok: false, ...problem, ...collectEvidence(element) } : { ok: true, opener: refOf(element) };
}

// Whether a press opens a chooser is only known afterwards, so elements that certainly do something else are not
// pressed.
function explainNotOpener(element) {
  const submits = tagOf(element) === "input" ? ["submit", "image", "reset"].includes(element.type) : attributeOf(element, "type") === "submit";
  const isOther = submits || readTargetAddress(element) || DRAWN_TOGGLE_ROLES.has(computeRole(element)) || FIELD_ROLES.has(computeRole(element)) || removesSomething(element) || isBesideShownField(element);
  if (!isOther) return null;
  const box = findFileBox(element);
  const [field, ...others] = box ? selectAll(box, "input[type=file]") : queryDeep("input[type=file]");
  const hint = field && !others.length ? `give the files to ${refOf(field)} ${describeElement(field)}` : "choose a file field, or a control that opens one";
  return buildFailure("not_editable", "it was not pressed, because it does not look like what opens a file chooser", hint);
}

// Programmers choose English classes and names in pages of all languages.
function removesSomething(element) {
  const name = computeName(element) || nameFromContent(element);
  const classes = attributeOf(element, "class") || "";
  // Style sheets use "clear" or "reset" for plain buttons; it only describes the action of a button without a name, or of one
  // that differs from the others by it.
  const isStyle = /\p{L}/u.test(name) && !listButtonsBesideField(element).some((each) => !STYLE_WORD.test(attributeOf(each, "class") || ""));
  const telling = isStyle ? classes.split(STYLE_WORD).join("") : classes;
  const words = [name, telling, ...element.getAttributeNames(), ...["id", "name", "title"].map((key) => attributeOf(element, key) || "")];
  return /(^|[^a-z])(remove|delete|discard|clear|cancel|close|dismiss|reset|trash)([^a-z]|$)/.test(words.join(" ").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase());
}

const STYLE_WORD = /(?<![a-z])(?:clear|reset)(?![a-z])/i;
const MAX_BESIDE_LEVELS = 3;

// The nearest box around a button that holds a file field, which it may open or empty.
function findFileBox(button) {
  let box = parentElementOf(button);
  for (let level = 0; box !== null && level < MAX_BESIDE_LEVELS; level++, box = parentElementOf(box)) {
    if (selectFirst(box, "input[type=file]")) return box;
  }
  return null;
}

function listButtonsBesideField(button) {
  const box = findFileBox(button);
  return box ? listOtherControls(box, button).filter((each) => computeRole(each) === "button") : [];
}

// People press a file field that is shown itself, so a button next to it does something else unless another one is hidden.
function isBesideShownField(button) {
  const box = findFileBox(button);
  return box !== null && [...selectAll(box, "input[type=file]")].every((each) => isVisible(each) && !isHidden(each));
}

// The field of a chooser may never have been in the document.
function describeFileField(ref, count) {
  return checkFileField(elementOfRef.get(ref).deref(), count);
}

function resolveFileInput(target) {
  const found = resolveTarget(target);
  if (found.failure?.reason !== "ambiguous") return found;
  const files = queryDeep(target.selector).filter((each) => each.type === "file");
  return files.length === 1 ? { element: files[0] } : found;
}

function checkFileField(field, count) {
  const tooMany = count > 1 && !field.multiple;
  const problem = checkDisabled(field, "upload") || (tooMany ? buildFailure("bad_value", "it takes one file only", "give one") : null);
  if (problem) return { ok: false, ...problem, ...collectEvidence(field) };
  return { ok: true, ref: refOf(field), element: describeElement(field), ...describeGeometry(field), evidence: describeEvidence(field), milestones: readMilestones() };
}

function listFileNames(ref) {
  return { names: Array.from(elementOfRef.get(ref)?.deref()?.files || [], (each) => each.name) };
}
