// Lists actionable elements as data: geometry, name, attributes and capabilities.

const LISTED_ATTRIBUTES = ["id", "name", "type", "href", "placeholder", "title", "alt", "for", "action", "aria-label", "aria-expanded", "aria-checked", "aria-selected", "aria-haspopup", "data-testid", "required", "readonly", "maxlength", "min", "max", "pattern", "accept", "autocomplete", "target"];

function listInteractable({ selector = "", includeHidden = false, maxElements = 100 } = {}) {
  const start = performance.now();
  const { tops, failure } = findScopes(selector);
  if (failure) return { ok: false, ...failure };
  const elements = [];
  let total = 0;
  for (const top of tops) {
    for (const element of iterElements(top)) {
      const describe = toInteractable(element, includeHidden);
      if (!describe) continue;
      total += 1;
      if (elements.length < maxElements) elements.push(describe());
    }
  }
  return { ok: true, elements, total, truncated: total > elements.length, milliseconds: roundToTenth(performance.now() - start) };
}

function findScopes(selector) {
  if (!selector) return { tops: [bodyOf(document) || document.documentElement] };
  try {
    const own = elementOf(selector);
    const found = own ? [own] : queryDeep(selector);
    const tops = found.filter((each) => !found.some((other) => other !== each && other.contains(each)));
    return tops.length ? { tops } : { failure: explainNotFound(selector) };
  } catch {
    return { failure: buildFailure("invalid_selector", `${selector} is not a valid CSS selector`, hintForSelector(selector)) };
  }
}

// Returns a function that describes the element, so that elements past the limit cost nothing; null if not actionable.
function toInteractable(element, includeHidden) {
  const role = computeRole(element);
  const parent = parentElementOf(element);
  const style = getComputedStyle(element);
  if (!whyActionable(element, role, style, new ParentContext(getComputedStyle(parent || element), parent || element))) return null;
  const visible = isVisible(element);
  if (!visible && !includeHidden) return null;
  return () => describeInteractable(element, role, visible);
}

function describeInteractable(element, role, visible) {
  const name = computeName(element, role) || shorten(nameFromContent(element), 100);
  const ref = refOf(element);
  const rect = boxOf(element);
  recordShown(ref, element);
  const description = cleanText(shorten(computeDescription(element, role), 200));
  return {
    ref, selector: buildSelector(element), tag: tagOf(element), role, name: cleanText(shorten(name, 200)),
    rect, inViewport: isInViewport(rect), visible, enabled: !checkDisabled(element, "click"),
    attributes: readAttributes(element), capabilities: listCapabilities(element, role), ...readValueFacts(element, role),
    ...(description && { description }),
  };
}

function isInViewport({ x, y, width, height }) {
  return width > 0 && height > 0 && x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
}

function readAttributes(element) {
  const attributes = {};
  for (const name of LISTED_ATTRIBUTES) {
    const value = attributeOf(element, name);
    if (value !== null) attributes[name] = cleanText(shorten(value, 300));
  }
  return attributes;
}

function listCapabilities(element, role) {
  if (tagOf(element) === "select") return ["select"];
  if (element.type === "file") return ["upload"];
  if (role === "checkbox" || role === "radio" || role === "switch") return ["click", "check"];
  return findEditable(element) && !element.readOnly ? ["click", "type"] : ["click"];
}

function readValueFacts(element, role) {
  if (isSecret(element)) return { value: element.value ? "(hidden)" : "" };
  const facts = {};
  if (FIELD_ROLES.has(role)) facts.value = cleanText(shorten(readValue(element), MAX_VALUE_CHARS));
  const checked = readChecked(element);
  if (checked !== null) facts.checked = checked;
  if (tagOf(element) === "select") facts.options = Array.from(element.options, (each) => collapseSpace(cleanText(each.label))).slice(0, 50);
  return facts;
}

// The shortest selector that matches only this element: id, test id, name and type, class, path.
function buildSelector(element) {
  return buildUniqueSelector(element) || buildPathSelector(element);
}

function buildUniqueSelector(element) {
  const root = rootOf(element);
  const tag = CSS.escape(tagOf(element));
  const choices = [];
  if (idOf(element) && isPlain(idOf(element))) choices.push(`#${CSS.escape(idOf(element))}`);
  for (const name of ["data-testid", "name", "aria-label"]) {
    const value = attributeOf(element, name);
    if (value && value.length < 80 && isPlain(value)) choices.push(`${tag}[${name}="${value.replace(/["\\]/g, "\\$&")}"]`);
  }
  const first = (attributeOf(element, "class") || "").trim().split(/\s+/)[0];
  if (first && isPlain(first)) choices.push(`${tag}.${CSS.escape(first)}`);
  return choices.find((each) => selectAll(root, each).length === 1) || "";
}

// Selectors are shown next to references, so they must not contain anything that looks like one or breaks the line.
function isPlain(value) {
  return !/[\n\r\f]/.test(value) && cleanText(value) === value && escapeRefs(value) === value;
}

function buildPathSelector(element) {
  const parts = [];
  for (let each = element; each && parts.length < 8; each = domParentOf(each)) {
    const unique = each === element ? "" : buildUniqueSelector(each);
    parts.unshift(unique || `${CSS.escape(tagOf(each))}${formatNth(each)}`);
    if (unique) break;
  }
  return parts.join(" > ");
}

function formatNth(element) {
  const same = [...(parentNodeOf(element)?.children || [])].filter((each) => tagOf(each) === tagOf(element));
  return same.length > 1 ? `:nth-of-type(${same.indexOf(element) + 1})` : "";
}
