// Names that HTML and SVG give to their own elements (html-aam, svg-aam).

function nameFromMarkup(element) {
  switch (tagOf(element)) {
    case "input": return nameOfInput(element);
    case "select": case "textarea": case "meter": case "progress": case "output": case "button": return nameFromLabels(element);
    case "img": case "area": return trimName(element.getAttribute("alt") || "");
    case "fieldset": return nameFromChild(element, "legend");
    case "figure": return nameFromChild(element, "figcaption");
    case "table": return nameOfTable(element);
    case "optgroup": return trimName(element.label) || nameFromChild(element, "legend");
    case "option": return trimName(element.getAttribute("label") || "") || trimName(element.text);
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
  return BUTTON_TYPES.has(input.type) ? trimName(input.value) || (input.hasAttribute("value") ? "" : DEFAULT_BUTTON_TEXTS[input.type] || "") : "";
}

const BUTTON_TYPES = new Set(["button", "submit", "reset", "image"]);

function nameOfTable(table) {
  const caption = table.caption ? nameFromContent(table.caption) : "";
  return caption || trimName(table.getAttribute("summary") || "");
}

function nameFromLabels(control) {
  const labels = control.labels?.length ? control.labels : listLabelsOfHost(control);
  if (!labels.length) return "";
  const walk = new NameWalk(control);
  return trimName(Array.from(labels, (label) => (walk.used.has(label) ? "" : nameOfReferenced(label, walk))).join(" "));
}

// Web components of forms are labelled from outside, and hold the control that is pressed.
function listLabelsOfHost(control) {
  const { host } = control.getRootNode();
  if (!host || findInnerControl(host) !== control) return [];
  const root = host.getRootNode();
  const labels = idOf(host) && root.querySelectorAll ? [...root.querySelectorAll(`label[for="${CSS.escape(idOf(host))}"]`)] : [];
  return [host.closest("label"), ...labels].filter((label) => label?.control === host);
}

function findInnerControl(host) {
  return shadowOf(host)?.querySelector("button,input:not([type=hidden]),select,textarea") ?? null;
}

function nameFromChild(element, tag) {
  for (const child of element.children) if (tagOf(child) === tag) return nameFromContent(child);
  return "";
}
