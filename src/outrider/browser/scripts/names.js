// Accessible names: the steps of accname 1.2 that decide what people and assistive technology call an element.

function nameOf(element, role = roleOf(element)) {
  return (
    labelledBy(element) ||
    collapse(element.getAttribute("aria-label") || "") ||
    nativeName(element) ||
    (NAMED_BY_CONTENT.has(role) ? contentName(element) : "") ||
    collapse(element.getAttribute("title") || "") ||
    collapse(element.getAttribute("placeholder") || element.getAttribute("aria-placeholder") || "") ||
    paintedName(element, role)
  );
}

function labelledBy(element) {
  const ids = element.getAttribute("aria-labelledby");
  if (!ids) return "";
  const root = element.getRootNode();
  const parts = ids.split(/\s+/).map((id) => id && root.getElementById?.(id));
  return collapse(parts.map((part) => (part ? partName(part, element) : "")).join(" "));
}

function partName(part, asker) {
  const label = part === asker ? "" : part.getAttribute("aria-label");
  return collapse(label || nativeName(part) || contentName(part));
}

function nativeName(element) {
  switch (tagOf(element)) {
    case "input": return inputName(element);
    case "select": case "textarea": case "meter": case "progress": case "output": return labelsName(element);
    case "button": return element.labels?.length ? labelsName(element) : "";
    case "img": case "area": return collapse(element.alt || "");
    case "fieldset": return firstChildName(element, "legend");
    case "figure": return firstChildName(element, "figcaption");
    case "table": return element.caption ? contentName(element.caption) : "";
    case "svg": return firstChildName(element, "title");
    case "optgroup": return collapse(element.label);
    case "option": return collapse(element.label);
    case "iframe": return collapse(element.title || "");
    default: return "";
  }
}

function inputName(input) {
  const labels = labelsName(input);
  if (labels) return labels;
  if (input.type === "submit") return collapse(input.value) || "Submit";
  if (input.type === "reset") return collapse(input.value) || "Reset";
  if (input.type === "button") return collapse(input.value);
  return input.type === "image" ? collapse(input.alt || "") : "";
}

function labelsName(control) {
  const labels = control.labels;
  if (!labels || !labels.length) return "";
  return collapse(Array.from(labels, (label) => contentName(label, control)).join(" "));
}

function firstChildName(element, tag) {
  for (const child of element.children) if (tagOf(child) === tag) return contentName(child);
  return "";
}

// The text of an element as read aloud: hidden parts left out, images by their alternative, fields by their value.
function contentName(element, except = null, most = LONGEST_NAME) {
  if (!element.firstElementChild && !shadowOf(element)) return collapse(element.textContent);
  const parts = [];
  parts.room = most;
  gatherName(element, except, parts, 0);
  return collapse(parts.join(""));
}

const LONGEST_NAME = 5000;
const DEEPEST = 300;

function gatherName(element, except, parts, depth) {
  if (depth > DEEPEST) return void parts.push(element.textContent);
  for (const child of childrenOf(element)) {
    if (parts.room < 0) return;
    if (child.nodeType === Node.TEXT_NODE) {
      parts.push(child.data);
      parts.room -= child.data.length;
    } else if (child.nodeType === Node.ELEMENT_NODE && child !== except) gatherChild(child, except, parts, depth + 1);
  }
}

function gatherChild(child, except, parts, depth) {
  if (UNREAD.has(tagOf(child)) || child.getAttribute("aria-hidden") === "true") return;
  const style = getComputedStyle(child);
  if (style.display === "none" || style.visibility !== "visible") return;
  const gap = style.display.startsWith("inline") && style.display !== "inline-block" ? "" : " ";
  parts.push(tagOf(child) === "br" ? " " : gap);
  const own = embeddedName(child);
  if (own === null) gatherName(child, except, parts, depth);
  else parts.push(` ${own} `);
  parts.push(gap);
}

function embeddedName(element) {
  const label = collapse(element.getAttribute("aria-label") || "");
  if (label) return label;
  const tag = tagOf(element);
  if (tag === "img") return collapse(element.alt || "");
  if (tag === "svg") return element.querySelector("text") ? null : firstChildName(element, "title");
  if (tag === "select") return collapse(element.selectedOptions[0]?.label || "");
  if (tag === "input" || tag === "textarea") return isSecret(element) || isToggle(element) ? "" : collapse(element.value);
  return null;
}

// Icon fonts and sprites name nothing, so a written ::before is the last resort of an actionable element.
function paintedName(element, role) {
  if (!ACTIVE_ROLES.has(role) || FIELD_ROLES.has(role)) return "";
  const painted = ["::before", "::after"].map((part) => getComputedStyle(element, part).content);
  const words = painted.map((content) => /^"(.*)"$/.exec(content)?.[1] || "").join(" ");
  return collapse(words.replace(/\p{Co}/gu, ""));
}

function isSecret(element) {
  if (tagOf(element) !== "input") return false;
  return element.type === "password" || /(^|[ -])(current-password|new-password|one-time-code|cc-csc)$/.test(element.autocomplete || "");
}

function isToggle(element) {
  return tagOf(element) === "input" && (element.type === "checkbox" || element.type === "radio");
}
