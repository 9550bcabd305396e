// What a control says about itself: its states, its value, its choices.

const SHOWN_VALUE = 200;
const SHOWN_OPTIONS = 8;
const FIRST_OPTIONS = 4;

function quoted(text) {
  return `"${text.replace(/"/g, "”")}"`;
}

function isDisabled(element) {
  return element.matches(":disabled") || element.getAttribute("aria-disabled") === "true";
}

function checkedState(element) {
  if (isToggle(element)) return element.indeterminate ? "mixed" : String(element.checked);
  return element.getAttribute("aria-checked");
}

function statesOf(element, role) {
  const states = [];
  const checked = checkedState(element);
  if (checked === "true") states.push("checked");
  if (checked === "mixed") states.push("mixed");
  addAriaStates(element, states);
  if (isDisabled(element)) states.push("disabled");
  if (FIELD_ROLES.has(role) || isToggle(element)) addFieldStates(element, states);
  return states;
}

function addAriaStates(element, states) {
  const expanded = expandedState(element);
  if (expanded) states.push(expanded === "true" ? "expanded" : "collapsed");
  const pressed = element.getAttribute("aria-pressed");
  if (pressed && pressed !== "false") states.push(pressed === "mixed" ? "half-pressed" : "pressed");
  if (element.getAttribute("aria-selected") === "true") states.push("selected");
  const current = element.getAttribute("aria-current");
  if (current && current !== "false") states.push("current");
}

function expandedState(element) {
  if (tagOf(element) === "summary") return String(plainParentOf(element).open);
  return element.getAttribute("aria-expanded");
}

function addFieldStates(element, states) {
  if (element.required || element.getAttribute("aria-required") === "true") states.push("required");
  if (element.readOnly && READ_ONLY_ABLE.has(tagOf(element))) states.push("read-only");
  const invalid = element.getAttribute("aria-invalid");
  if ((invalid && invalid !== "false") || element.matches(":user-invalid")) states.push("invalid");
}

const READ_ONLY_ABLE = new Set(["input", "textarea"]);

// The value as it may be told: of a secret only whether there is one.
function valueOf(element) {
  if (isSecret(element)) return element.value ? "(hidden)" : "";
  if (tagOf(element) === "select") return Array.from(element.selectedOptions, (each) => collapse(each.label)).join(", ");
  if (element.type === "file") return Array.from(element.files, (each) => each.name).join(", ");
  if ("value" in element && tagOf(element) !== "li" && tagOf(element) !== "button") return String(element.value);
  if (isEditingHost(element)) return collapse(element.innerText);
  return element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || "";
}

function valuePart(element, role, name, limit) {
  if (tagOf(element) === "select") return selectPart(element);
  const value = collapse(valueOf(element));
  if (value) return ` = ${isSecret(element) ? value : quoted(shorten(value, limit))}${rangePart(element)}`;
  const hint = collapse(element.getAttribute("placeholder") || "");
  return (hint && hint !== name ? ` placeholder ${quoted(hint)}` : "") + rangePart(element);
}

function rangePart(element) {
  if (element.type !== "range" && element.type !== "number") return "";
  return element.min || element.max ? ` (${element.min || ""}–${element.max || ""})` : "";
}

function selectPart(select) {
  const labels = Array.from(select.options, (each) => collapse(each.label));
  const chosen = Array.from(select.selectedOptions, (each) => collapse(each.label));
  const value = chosen.length ? ` = ${chosen.map((each) => quoted(each)).join(", ")}` : "";
  if (labels.length <= SHOWN_OPTIONS) return `${value} (${labels.join(", ")})`;
  return `${value} (${labels.length} options: ${labels.slice(0, FIRST_OPTIONS).join(", ")}, …)`;
}
