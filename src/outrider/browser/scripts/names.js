// Computes accessible names by the steps of accname 1.2 that matter in practice.

function computeName(element, role = computeRole(element)) {
  return (
    nameFromLabelledBy(element) ||
    collapseSpace(element.getAttribute("aria-label") || "") ||
    nameFromMarkup(element) ||
    (NAMED_BY_CONTENT.has(role) ? nameFromContent(element) : "") ||
    collapseSpace(element.getAttribute("title") || "") ||
    collapseSpace(element.getAttribute("placeholder") || element.getAttribute("aria-placeholder") || "") ||
    nameFromPseudoElements(element, role)
  );
}

function nameFromLabelledBy(element) {
  const ids = element.getAttribute("aria-labelledby");
  if (!ids) return "";
  const root = element.getRootNode();
  const parts = ids.split(/\s+/).map((id) => id && root.getElementById?.(id));
  return collapseSpace(parts.map((part) => (part ? nameOfPart(part, element) : "")).join(" "));
}

function nameOfPart(part, asker) {
  const label = part === asker ? "" : part.getAttribute("aria-label");
  return collapseSpace(label || nameFromMarkup(part) || nameFromContent(part));
}

function nameFromMarkup(element) {
  switch (tagOf(element)) {
    case "input": return nameOfInput(element);
    case "select": case "textarea": case "meter": case "progress": case "output": return nameFromLabels(element);
    case "button": return element.labels?.length ? nameFromLabels(element) : "";
    case "img": case "area": return collapseSpace(element.alt || "");
    case "fieldset": return nameFromChild(element, "legend");
    case "figure": return nameFromChild(element, "figcaption");
    case "table": return element.caption ? nameFromContent(element.caption) : "";
    case "svg": return nameFromChild(element, "title");
    case "optgroup": return collapseSpace(element.label);
    case "option": return collapseSpace(element.label);
    case "iframe": return collapseSpace(element.title || "");
    default: return "";
  }
}

function nameOfInput(input) {
  const labels = nameFromLabels(input);
  if (labels) return labels;
  if (input.type === "submit") return collapseSpace(input.value) || "Submit";
  if (input.type === "reset") return collapseSpace(input.value) || "Reset";
  if (input.type === "button") return collapseSpace(input.value);
  return input.type === "image" ? collapseSpace(input.alt || "") : "";
}

function nameFromLabels(control) {
  const labels = control.labels;
  if (!labels || !labels.length) return "";
  return collapseSpace(Array.from(labels, (label) => nameFromContent(label, control)).join(" "));
}

function nameFromChild(element, tag) {
  for (const child of element.children) if (tagOf(child) === tag) return nameFromContent(child);
  return "";
}

// The text of an element as a screen reader reads it: no hidden parts, images by their alternative, fields by value.
function nameFromContent(element, except = null, maxChars = MAX_NAME_CHARS) {
  if (isHiddenName(element)) return "";
  if (!element.firstElementChild && !shadowOf(element)) return collapseSpace(element.textContent);
  const parts = [];
  parts.remainingChars = maxChars;
  gatherText(element, except, parts, 0);
  return collapseSpace(parts.join(""));
}

const MAX_NAME_CHARS = 5000;
const MAX_NAME_DEPTH = 300;

function gatherText(element, except, parts, depth) {
  if (depth > MAX_NAME_DEPTH) return void parts.push(element.innerText ?? "");
  const isHidden = depth > 0 && isHiddenName(element);
  for (const child of childrenOf(element)) {
    if (parts.remainingChars < 0) return;
    if (child.nodeType === Node.TEXT_NODE) {
      if (isHidden) continue;
      parts.push(child.data);
      parts.remainingChars -= child.data.length;
    } else if (child.nodeType === Node.ELEMENT_NODE && child !== except) gatherChildText(child, except, parts, depth + 1);
  }
}

// Names keep short texts for screen readers, and nothing else that cannot be seen.
function isHiddenName(element) {
  return !isScreenReaderText(element) && hidesText(element, getComputedStyle(element));
}

function gatherChildText(child, except, parts, depth) {
  if (UNRENDERED_TAGS.has(tagOf(child)) || child.getAttribute("aria-hidden") === "true") return;
  const style = getComputedStyle(child);
  if (style.display === "none" || style.visibility !== "visible") return;
  if (hidesContent(child, style) && !(isClippedAway(child, style) && isScreenReaderText(child))) return;
  const gap = style.display.startsWith("inline") && style.display !== "inline-block" ? "" : " ";
  parts.push(tagOf(child) === "br" ? " " : gap);
  const own = readEmbeddedName(child);
  if (own === null) gatherText(child, except, parts, depth);
  else parts.push(` ${own} `);
  parts.push(gap);
}

function readEmbeddedName(element) {
  const label = collapseSpace(element.getAttribute("aria-label") || "");
  if (label) return label;
  const tag = tagOf(element);
  if (tag === "img") return collapseSpace(element.alt || "");
  if (tag === "svg") return element.querySelector("text") ? null : nameFromChild(element, "title");
  if (tag === "select") return collapseSpace(element.selectedOptions[0]?.label || "");
  if (tag === "input" || tag === "textarea") return isSecret(element) || isToggle(element) ? "" : collapseSpace(element.value);
  return null;
}

// Icon fonts and sprites have no name, so text in ::before is the last resort for an actionable element.
function nameFromPseudoElements(element, role) {
  if (!ACTIVE_ROLES.has(role) || FIELD_ROLES.has(role)) return "";
  const painted = ["::before", "::after"].map((part) => getComputedStyle(element, part).content);
  const words = painted.map((content) => /^"(.*)"$/.exec(content)?.[1] || "").join(" ");
  return collapseSpace(words.replace(/\p{Co}/gu, ""));
}

function isSecret(element) {
  if (tagOf(element) !== "input") return false;
  return element.type === "password" || /(^|[ -])(current-password|new-password|one-time-code|cc-csc)$/.test(element.autocomplete || "");
}

function isToggle(element) {
  return tagOf(element) === "input" && (element.type === "checkbox" || element.type === "radio");
}
