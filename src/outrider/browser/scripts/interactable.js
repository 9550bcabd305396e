// Everything that can be acted on as data: geometry, name, attributes and what it can do.

const TOLD = ["id", "name", "type", "href", "placeholder", "title", "alt", "for", "action", "aria-label", "aria-expanded", "aria-checked", "aria-selected", "aria-haspopup", "data-testid", "required", "readonly", "maxlength", "min", "max", "pattern", "accept", "autocomplete", "target"];

function interactable({ selector = "", includeHidden = false, maxElements = 100, roots = [] } = {}) {
  const start = performance.now();
  const { tops, failure } = scopes(selector, roots);
  if (failure) return { ok: false, ...failure };
  const elements = [];
  let total = 0;
  for (const top of tops) {
    for (const element of everyElement(top)) {
      const found = asInteractable(element, includeHidden);
      if (!found) continue;
      total += 1;
      if (elements.length < maxElements) elements.push(found());
    }
  }
  return { ok: true, elements, total, truncated: total > elements.length, milliseconds: tenth(performance.now() - start) };
}

function scopes(selector) {
  if (!selector) return { tops: [bodyOf(document) || document.documentElement] };
  try {
    const found = [...document.querySelectorAll(selector)];
    const tops = found.filter((each) => !found.some((other) => other !== each && other.contains(each)));
    return tops.length ? { tops } : { failure: notFound(selector) };
  } catch {
    return { failure: failing("invalid_selector", `${selector} is not a valid CSS selector`, selectorHint(selector)) };
  }
}

function asInteractable(element, includeHidden) {
  const role = roleOf(element);
  const parent = parentElementOf(element);
  const style = getComputedStyle(element);
  if (!actionable(element, role, style, new Around(getComputedStyle(parent || element)))) return null;
  const visible = isSeen(element);
  if (!visible && !includeHidden) return null;
  return () => interactableFacts(element, role, visible);
}

function interactableFacts(element, role, visible) {
  const name = nameOf(element, role) || shorten(contentName(element), 100);
  const ref = refOf(element);
  const rect = boxOf(element);
  remember(ref, role, rememberedName(element, role));
  return {
    ref, selector: selectorOf(element), tag: tagOf(element), role, name: cleaned(shorten(name, 200)),
    rect, inViewport: intersects(rect), visible, enabled: !disabledBy(element, "click"),
    attributes: attributesOf(element), capabilities: capabilitiesOf(element, role), ...valueFacts(element, role),
  };
}

function intersects({ x, y, width, height }) {
  return width > 0 && height > 0 && x < innerWidth && y < innerHeight && x + width > 0 && y + height > 0;
}

function attributesOf(element) {
  const told = {};
  for (const name of TOLD) {
    const value = element.getAttribute(name);
    if (value !== null) told[name] = cleaned(shorten(value, 300));
  }
  return told;
}

function capabilitiesOf(element, role) {
  if (tagOf(element) === "select") return ["select"];
  if (element.type === "file") return ["upload"];
  if (role === "checkbox" || role === "radio" || role === "switch") return ["click", "check"];
  return editable(element) && !element.readOnly ? ["click", "type"] : ["click"];
}

function valueFacts(element, role) {
  if (isSecret(element)) return { value: element.value ? "(hidden)" : "" };
  const facts = {};
  if (FIELD_ROLES.has(role)) facts.value = cleaned(shorten(valueOf(element), SHOWN_VALUE));
  const checked = checkedState(element);
  if (checked !== null) facts.checked = checked;
  if (tagOf(element) === "select") facts.options = Array.from(element.options, (each) => collapse(each.label)).slice(0, 50);
  return facts;
}

// The shortest selector that matches this element only: id, test id, name and type, class, path.
function selectorOf(element) {
  return uniqueOf(element) || pathOf(element);
}

function uniqueOf(element) {
  const root = element.getRootNode();
  const tag = CSS.escape(tagOf(element));
  const choices = [];
  if (idOf(element)) choices.push(`#${CSS.escape(idOf(element))}`);
  for (const name of ["data-testid", "name", "aria-label"]) {
    const value = element.getAttribute(name);
    if (value && value.length < 80) choices.push(`${tag}[${name}="${value.replace(/["\\]/g, "\\$&")}"]`);
  }
  const first = (element.getAttribute("class") || "").trim().split(/\s+/)[0];
  if (first) choices.push(`${tag}.${CSS.escape(first)}`);
  return choices.find((each) => root.querySelectorAll(each).length === 1) || "";
}

function pathOf(element) {
  const parts = [];
  for (let each = element; each && parts.length < 8; each = plainParentOf(each)) {
    const unique = each === element ? "" : uniqueOf(each);
    parts.unshift(unique || `${CSS.escape(tagOf(each))}${nth(each)}`);
    if (unique) break;
  }
  return parts.join(" > ");
}

function nth(element) {
  const same = [...(parentNodeOf(element)?.children || [])].filter((each) => tagOf(each) === tagOf(element));
  return same.length > 1 ? `:nth-of-type(${same.indexOf(element) + 1})` : "";
}
