// Reads the value that a control within another element's label adds to that label (accname 1.2, step 2C).

const RANGE_ROLES = new Set(["slider", "spinbutton", "scrollbar"]);

// Returns null if the element is not such a control.
function readEmbeddedValue(element, role, walk) {
  const tag = tagOf(element);
  if (RANGE_ROLES.has(role)) return readRangeText(element);
  if (role === "combobox" || role === "listbox") return readChosenText(element, role, walk);
  if (tag === "select") return null;
  if (tag === "textarea" || (tag === "input" && !BUTTON_TYPES.has(element.type))) return readTypedText(element);
  return role === "textbox" || role === "searchbox" ? readContent(element, walk) : null;
}

function readRangeText(element) {
  const given = attributeOf(element, "aria-valuetext") || attributeOf(element, "aria-valuenow");
  return trimName(given || (tagOf(element) === "input" ? element.value : ""));
}

function readTypedText(field) {
  if (isToggle(field)) return readAriaLabel(field) || null;
  return isSecret(field) || field.type === "file" ? "" : trimName(field.value);
}

function readChosenText(element, role, walk) {
  if (tagOf(element) === "select") return trimName(Array.from(element.selectedOptions, (each) => each.label).join(" "));
  if (tagOf(element) === "input") return readTypedText(element);
  const options = listOptions(element);
  if (!options.length) return role === "combobox" ? readContent(element, walk) : "";
  const chosen = options.filter((each) => attributeOf(each, "aria-selected") === "true");
  return trimName(chosen.map((each) => readContent(each, walk)).join(" "));
}

// The options of a list, or of the list that a combination box holds or owns.
function listOptions(element) {
  const owned = [element, ...selectAll(element, "[aria-owns]")].flatMap((each) => listReferences(each, "aria-owns"));
  return [element, ...owned].flatMap((each) => [...selectAll(each, "[role=option]")]);
}
