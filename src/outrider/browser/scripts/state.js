// Describes a control: its states, its value, its options.

const MAX_VALUE_CHARS = 200;
const MAX_SHOWN_OPTIONS = 8;
const SHOWN_FIRST_OPTIONS = 4;

function isDisabled(element) {
  return element.matches(":disabled") || element.getAttribute("aria-disabled") === "true";
}

function readChecked(element) {
  if (isToggle(element)) return element.indeterminate ? "mixed" : String(element.checked);
  return element.getAttribute("aria-checked");
}

function listStates(element, role) {
  const states = [];
  const checked = readChecked(element);
  if (checked === "true") states.push("checked");
  if (checked === "mixed") states.push("mixed");
  addAriaStates(element, states);
  if (isDisabled(element)) states.push("disabled");
  if (FIELD_ROLES.has(role) || isToggle(element)) addFieldStates(element, states);
  return states;
}

function addAriaStates(element, states) {
  const expanded = readExpanded(element);
  if (expanded) states.push(expanded === "true" ? "expanded" : "collapsed");
  const pressed = element.getAttribute("aria-pressed");
  if (pressed && pressed !== "false") states.push(pressed === "mixed" ? "half-pressed" : "pressed");
  if (element.getAttribute("aria-selected") === "true") states.push("selected");
  const current = element.getAttribute("aria-current");
  if (current && current !== "false") states.push("current");
}

function readExpanded(element) {
  if (tagOf(element) === "summary") return String(domParentOf(element).open);
  return element.getAttribute("aria-expanded");
}

function addFieldStates(element, states) {
  if (element.required || element.getAttribute("aria-required") === "true") states.push("required");
  if (element.readOnly && READ_ONLY_TAGS.has(tagOf(element))) states.push("read-only");
  const invalid = element.getAttribute("aria-invalid");
  if ((invalid && invalid !== "false") || element.matches(":user-invalid")) states.push("invalid");
}

const READ_ONLY_TAGS = new Set(["input", "textarea"]);

// The value as it may be shown; of a secret only whether there is one.
function readValue(element) {
  if (isSecret(element)) return element.value ? "(hidden)" : "";
  if (tagOf(element) === "select") return Array.from(element.selectedOptions, (each) => collapseSpace(each.label)).join(", ");
  if (element.type === "file") return Array.from(element.files, (each) => each.name).join(", ");
  if ("value" in element && tagOf(element) !== "li" && tagOf(element) !== "button") return String(element.value);
  if (isEditingHost(element)) return collapseSpace(element.innerText);
  return element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || "";
}

function formatValue(element, name, limit) {
  if (tagOf(element) === "select") return formatSelectValue(element);
  const value = collapseSpace(readValue(element));
  if (value) return ` = ${isSecret(element) ? value : quote(shorten(value, limit))}${formatRange(element)}`;
  const hint = collapseSpace(element.getAttribute("placeholder") || "");
  return (hint && hint !== name ? ` placeholder ${quote(hint)}` : "") + formatRange(element);
}

function formatRange(element) {
  if (element.type !== "range" && element.type !== "number") return "";
  return element.min || element.max ? ` (${plainLine(element.min || "")}–${plainLine(element.max || "")})` : "";
}

function formatSelectValue(select) {
  const labels = Array.from(select.options, (each) => plainLine(each.label));
  const chosen = Array.from(select.selectedOptions, (each) => collapseSpace(each.label));
  const value = chosen.length ? ` = ${chosen.map((each) => quote(each)).join(", ")}` : "";
  if (labels.length <= MAX_SHOWN_OPTIONS) return `${value} (${labels.join(", ")})`;
  return `${value} (${labels.length} options: ${labels.slice(0, SHOWN_FIRST_OPTIONS).join(", ")}, …)`;
}
