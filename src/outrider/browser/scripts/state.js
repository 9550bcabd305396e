// Describes a control: its states, its value, its options.

const MAX_VALUE_CHARS = 200;
const MAX_ROOT_VALUE_CHARS = 500_000;
const MAX_SHOWN_OPTIONS = 8;
const SHOWN_FIRST_OPTIONS = 4;

// Nothing in a disabled group or an inert part can be used, regardless of its own state.
function isDisabled(element) {
  return matchesSelector(element, ":disabled") || closestOf(element, "[aria-disabled=true i],[inert]") !== null;
}

function readChecked(element) {
  if (isToggle(element)) return element.indeterminate ? "mixed" : String(element.checked);
  return attributeOf(element, "aria-checked");
}

// States by core-aam and html-aam, each in a few words; default states are left out.
function listStates(element, role) {
  const states = [];
  const checked = readChecked(element);
  if (checked === "true") states.push("checked");
  if (checked === "mixed" && !TWO_STATE_ROLES.has(role)) states.push("mixed");
  addAriaStates(element, role, states);
  addWidgetStates(element, role, states);
  const title = readPictographTitle(element, role);
  if (title) states.push(`title ${quote(shorten(title, MAX_VALUE_CHARS))}`);
  if (isDisabled(element)) states.push("disabled");
  if (FIELD_ROLES.has(role) || isToggle(element)) addFieldStates(element, states);
  return states;
}

// These are on or off: for them "mixed" means off.
const TWO_STATE_ROLES = new Set(["radio", "menuitemradio", "switch"]);

function addAriaStates(element, role, states) {
  const expanded = readExpanded(element);
  if (expanded === "true" || expanded === "false") states.push(expanded === "true" ? "expanded" : "collapsed");
  else if (role !== "combobox" && POPUPS.has(attributeOf(element, "aria-haspopup"))) states.push(`opens ${POPUPS.get(attributeOf(element, "aria-haspopup"))}`);
  const pressed = attributeOf(element, "aria-pressed");
  if (pressed === "true" || pressed === "mixed") states.push(pressed === "mixed" ? "half-pressed" : "pressed");
  if (isSelected(element, role)) states.push("selected");
  const current = attributeOf(element, "aria-current");
  if (current && current !== "false") states.push("current");
}

// The cell of a calendar has the selected state, and contains the button of its day.
function isSelected(element, role) {
  const cell = role === "button" ? domParentOf(element) : null;
  return attributeOf(element, "aria-selected") === "true" || (cell !== null && CELL_ROLES.has(computeRole(cell)) && attributeOf(cell, "aria-selected") === "true");
}

const POPUPS = new Map([["true", "menu"], ["menu", "menu"], ["listbox", "listbox"], ["tree", "tree"], ["grid", "grid"], ["dialog", "dialog"]]);

// A summary, the button of a popover, or an element with the attribute itself.
function readExpanded(element) {
  if (tagOf(element) === "summary" && tagOf(domParentOf(element)) === "details") return String(domParentOf(element).open);
  return attributeOf(element, "aria-expanded") ?? (element.popoverTargetElement ? String(matchesSelector(element.popoverTargetElement, ":popover-open")) : null);
}

function addWidgetStates(element, role, states) {
  const sort = readSort(element, role);
  if (sort) states.push(`sorted ${sort}`);
  if (attributeOf(element, "aria-busy") === "true") states.push("busy");
  if (attributeOf(element, "aria-multiselectable") === "true" || (element.multiple === true && tagOf(element) !== "video")) states.push("multiple");
  const level = role === "treeitem" ? Number(attributeOf(element, "aria-level")) : 0;
  if (level > 1) states.push(`level ${level}`);
  if (role === "slider" && attributeOf(element, "aria-orientation") === "vertical") states.push("vertical");
}

// The header cell has the sort order of its column, and usually contains the button that sorts.
function readSort(element, role) {
  if (role !== "button" && role !== "link" && !/header$/.test(role)) return "";
  const header = closestOf(element, "th,[role=columnheader],[role=rowheader]");
  const sort = header && attributeOf(header, "aria-sort");
  return sort === "ascending" || sort === "descending" ? sort : "";
}

function addFieldStates(element, states) {
  if (element.required || attributeOf(element, "aria-required") === "true") states.push("required");
  if (isReadOnly(element)) states.push("read-only");
  const invalid = attributeOf(element, "aria-invalid");
  if ((invalid && invalid !== "false") || matchesSelector(element, ":user-invalid")) states.push(`invalid${formatProblem(element)}`);
}

function isReadOnly(element) {
  const isNative = READ_ONLY_TAGS.has(tagOf(element)) && !isToggle(element) && element.type !== "range"; // these ignore it
  return (isNative && element.readOnly) || attributeOf(element, "aria-readonly") === "true";
}

const READ_ONLY_TAGS = new Set(["input", "textarea"]);

// The browser's own message is in a bubble that disappears; messages of the page are in its text.
function formatProblem(element) {
  const message = matchesSelector(element, ":user-invalid") ? element.validationMessage : "";
  return message ? ` ${quote(shorten(message, MAX_VALUE_CHARS))}` : "";
}

// The value that may be shown; for a secret, only whether there is one.
function readValue(element) {
  if (isSecret(element)) return element.value ? "(hidden)" : "";
  if (tagOf(element) === "select") return Array.from(element.selectedOptions, (each) => collapseSpace(each.label)).join(", ");
  if (element.type === "file") return Array.from(element.files, (each) => each.name).join(", ");
  if ("value" in element && tagOf(element) !== "li" && tagOf(element) !== "button") return String(element.value);
  if (isEditingHost(element)) return collapseSpace(element.innerText);
  return attributeOf(element, "aria-valuetext") || attributeOf(element, "aria-valuenow") || "";
}

function formatValue(element, name, limit) {
  if (tagOf(element) === "select") return formatSelectValue(element);
  const value = collapseSpace(readValue(element));
  if (value) return ` = ${isSecret(element) ? value : quote(shorten(value, limit))}${formatRange(element)}`;
  const hint = collapseSpace(attributeOf(element, "placeholder") || "");
  return (hint && hint !== name ? ` placeholder ${quote(hint)}` : "") + formatRange(element);
}

function formatRange(element) {
  const isNative = BOUNDED_TYPES.has(element.type) || tagOf(element) === "meter" || tagOf(element) === "progress";
  const least = isNative ? String(element.min ?? 0) : attributeOf(element, "aria-valuemin");
  const most = isNative ? String(element.max) : attributeOf(element, "aria-valuemax");
  const bounds = [least, most].map((bound) => (Math.abs(Number(bound)) >= Number.MAX_SAFE_INTEGER ? "" : plainLine(bound || "")));
  return bounds.some(Boolean) ? ` (${bounds.join("–")})` : "";
}

const BOUNDED_TYPES = new Set(["range", "number", "date", "time", "month", "week", "datetime-local"]);

function formatSelectValue(select) {
  const labels = Array.from(select.options, (each) => plainLine(each.label));
  const chosen = Array.from(select.selectedOptions, (each) => collapseSpace(each.label));
  const value = chosen.length ? ` = ${chosen.map((each) => quote(each)).join(", ")}` : "";
  if (labels.length <= MAX_SHOWN_OPTIONS) return `${value} (${labels.join(", ")})`;
  return `${value} (${labels.length} options: ${labels.slice(0, SHOWN_FIRST_OPTIONS).join(", ")}, …)`;
}
