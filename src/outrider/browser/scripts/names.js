// Computes accessible names and descriptions by accname 1.2; the host languages' part is in native_names.js.

function computeName(element, role = computeRole(element)) {
  const names = readTurnNames();
  const known = names.get(element);
  if (known && known.role === role) return known.name;
  const name = computeFreshName(element, role);
  names.set(element, { role, name });
  return name;
}

// A page's own scripts cannot run before the current job ends, so names are valid until then.
let turnNames = null;

function readTurnNames() {
  if (!turnNames) {
    turnNames = new Map();
    queueMicrotask(() => (turnNames = null));
  }
  return turnNames;
}

function computeFreshName(element, role) {
  return (
    nameFromLabelledBy(element) ||
    readAriaLabel(element) ||
    nameFromMarkup(element) ||
    (NAMED_BY_CONTENT.has(role) ? nameFromContent(element) : "") ||
    readTooltip(element) ||
    readPlaceholder(element)
  );
}

function readAriaLabel(element) {
  const label = attributeOf(element, "aria-label");
  if (!label || !label.trim()) return "";
  return label.replace(/[ \t\n\f\r]+/g, " ").replace(/^ | $/g, "");
}

// The title of an element or, in SVG, of a link; the caption of a figure replaces it even if empty, as in axe.
function readTooltip(element) {
  if (tagOf(element) === "figure" && selectFirst(element, ":scope > figcaption")) return "";
  const title = attributeOf(element, "title") ?? element.getAttributeNS(XLINK, "title");
  return title ? trimName(title) : "";
}

// The tooltip of a control that only shows a pictograph, if it describes the action.
function readPictographTitle(element, role) {
  if (!hasAttribute(element, "title")) return "";
  const name = computeName(element, role);
  return name && !/[\p{L}\p{N}]/u.test(name) ? readTooltip(element) : "";
}

const XLINK = "http://www.w3.org/1999/xlink";

function readPlaceholder(element) {
  return trimName(attributeOf(element, "placeholder") || attributeOf(element, "aria-placeholder") || "");
}

// Like collapseSpace, but no-break spaces are kept.
function trimName(text) {
  return text.replace(/[ \t\n\f\r]+/g, " ").trim();
}

function nameFromLabelledBy(element) {
  return hasAttribute(element, "aria-labelledby") ? joinReferences(element, "aria-labelledby", new NameWalk(element)) : "";
}

// An empty attribute means that a script has set the elements.
const REFERENCE_PROPERTIES = { "aria-labelledby": "ariaLabelledByElements", "aria-describedby": "ariaDescribedByElements" };

function listReferences(element, attribute) {
  const ids = (attributeOf(element, attribute) || "").trim();
  if (!ids) return element[REFERENCE_PROPERTIES[attribute]] || [];
  const root = rootOf(element);
  return ids.split(/\s+/).map((id) => root.getElementById?.(id)).filter(Boolean);
}

function joinReferences(element, attribute, walk) {
  const inner = walk.follow();
  return trimName(listReferences(element, attribute).map((part) => nameOfReferenced(part, inner)).join(" "));
}

// A hidden element may be referenced; then all of its content counts, if it is as short as a text for screen readers.
function nameOfReferenced(part, walk) {
  walk.used.add(part);
  if (isExposed(part)) return nameInside(part, walk);
  return isScreenReaderText(part) ? nameInside(part, walk.showHidden()) : "";
}

function isExposed(element) {
  return checkVisibilityOf(element, { visibilityProperty: true }) && !closestOf(element, "[aria-hidden=true]");
}

function computeDescription(element, role = computeRole(element)) {
  const given = hasAttribute(element, "aria-describedby") ? joinReferences(element, "aria-describedby", new NameWalk(element)) : "";
  if (given) return given;
  const own = trimName(attributeOf(element, "aria-description") || "");
  if (own) return own;
  const tooltip = readTooltip(element);
  return tooltip && tooltip !== computeName(element, role) ? tooltip : "";
}

const hiddenFields = new WeakSet(); // a secret was typed into them

function isSecret(element) {
  if (hiddenFields.has(element)) return true;
  if (tagOf(element) !== "input") return false;
  return element.type === "password" || /(^|[ -])(current-password|new-password|one-time-code|cc-csc)$/.test(element.autocomplete || "");
}

function isToggle(element) {
  return tagOf(element) === "input" && (element.type === "checkbox" || element.type === "radio");
}
