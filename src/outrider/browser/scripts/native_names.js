// Names that HTML and SVG define for their elements (html-aam, svg-aam).

function nameFromMarkup(element) {
  switch (tagOf(element)) {
    case "input": return nameOfInput(element);
    case "select": case "textarea": case "meter": case "progress": case "output": case "button": return nameFromLabels(element);
    case "img": case "area": return trimName(attributeOf(element, "alt") || "");
    case "fieldset": return nameFromChild(element, "legend");
    case "figure": return nameFromChild(element, "figcaption");
    case "table": return nameOfTable(element);
    case "optgroup": return trimName(element.label) || nameFromChild(element, "legend");
    case "option": return trimName(attributeOf(element, "label") || "") || trimName(element.text);
    case "iframe": return readTooltip(element);
    default: return element.namespaceURI === SVG ? nameFromChild(element, "title") : "";
  }
}

const SVG = "http://www.w3.org/2000/svg";

const DEFAULT_BUTTON_TEXTS = { submit: "Submit", reset: "Reset", image: "Submit" };

function nameOfInput(input) {
  const labels = nameFromLabels(input);
  if (labels) return labels;
  if (input.type === "image") return trimName(input.alt || "") || readTooltip(input) || trimName(input.value) || DEFAULT_BUTTON_TEXTS.image;
  return BUTTON_TYPES.has(input.type) ? trimName(input.value) || (hasAttribute(input, "value") ? "" : DEFAULT_BUTTON_TEXTS[input.type] || "") : "";
}

const BUTTON_TYPES = new Set(["button", "submit", "reset", "image"]);

function nameOfTable(table) {
  const caption = table.caption ? nameFromContent(table.caption) : "";
  return caption || trimName(attributeOf(table, "summary") || "");
}

function nameFromLabels(control) {
  const labels = control.labels?.length ? control.labels : listLabelsOfHost(control);
  if (!labels.length) return "";
  const walk = new NameWalk(control);
  return trimName(Array.from(labels, (label) => (walk.used.has(label) ? "" : nameOfReferenced(label, walk))).join(" "));
}

// Web components of forms are labelled from outside, and contain the control that is pressed.
function listLabelsOfHost(control) {
  const { host } = rootOf(control);
  if (!host || findInnerControl(host) !== control) return [];
  const root = rootOf(host);
  const labels = idOf(host) && root.querySelectorAll ? [...selectAll(root, `label[for="${CSS.escape(idOf(host))}"]`)] : [];
  return [closestOf(host, "label"), ...labels].filter((label) => label?.control === host);
}

function findInnerControl(host) {
  const root = shadowOf(host);
  return root && root.querySelector("button,input:not([type=hidden]),select,textarea");
}

function nameFromChild(element, tag) {
  for (const child of elementsOf(element)) if (tagOf(child) === tag) return nameFromContent(child);
  return "";
}
