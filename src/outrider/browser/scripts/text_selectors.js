// Finds elements by their text or by role and name: `text=Save`, `text="Save"`, `button=Save`, `role=button[name="Save"]`.

// Returns the parsed selector; null if it is CSS.
function parseTextSelector(selector) {
  const [, kind, rest] = /^\s*([a-z-]+)\s*=\s*(\S.*)$/s.exec(selector) || [];
  if (!kind) return parseForeignSelector(selector.trim());
  if (kind === "text") return { role: "", ...parseWantedText(rest) };
  if (kind !== "role") return SELECTOR_ROLES.has(kind) ? { role: shortRoleName(kind), ...parseWantedText(rest) } : null;
  const [, role, name = ""] = /^["']?([a-z]+)["']?\s*(?:\[\s*name\s*=\s*(.*?)\s*\]|(.*))$/s.exec(rest)?.filter((each) => each !== undefined) || [];
  return role ? { role: shortRoleName(role), ...parseWantedText(name) } : null;
}

// How Playwright and jQuery search for a text: `button:has-text("Save")`, `getByText("Save")`,
// `getByRole("button", { name: "Save" })`.
function parseForeignSelector(selector) {
  const inTag = /^([a-z][a-z0-9]*|\*)?:(?:has-text|text|text-is|contains)\(\s*["']?([^"'()]+)["']?\s*\)$/.exec(selector);
  if (inTag) return { role: { a: "link", button: "button" }[inTag[1]] || "", text: toComparable(inTag[2]), exact: false };
  const byText = /^(?:page\.)?getByText\(\s*["']([^"'()]+)["'][^()]*\)$/.exec(selector);
  if (byText) return { role: "", text: toComparable(byText[1]), exact: false };
  const byRole = /^(?:page\.)?getByRole\(\s*["']([a-z]+)["']\s*,\s*\{\s*name:\s*["']([^"']+)["'][^{}]*\}\s*\)$/.exec(selector);
  return byRole ? { role: shortRoleName(byRole[1]), text: toComparable(byRole[2]), exact: false } : null;
}

function isTextSelector(selector) {
  return parseTextSelector(selector) !== null;
}

const SELECTOR_ROLES = new Set([
  ...ACTIVE_ROLES, ...FIELD_ROLES, ...NAMED_BY_CONTENT, "img", "image", "list", "listitem", "dialog", "region", "group", "nav",
  "navigation", "form", "table", "grid", "tree", "tabpanel", "menu", "article", "separator", "canvas",
]);

function shortRoleName(role) {
  return ROLE_WORDS[role] || role;
}

// Quoted text must match the whole text; other text may match a part of it.
function parseWantedText(text) {
  const quoted = /^(["'])(.*)\1\s*[is]?$/s.exec(text.trim());
  return { text: toComparable(quoted ? quoted[2] : text), exact: quoted !== null };
}

function toComparable(text) {
  return collapseSpace(text).toLowerCase();
}

function findByText({ role, text, exact }) {
  const top = bodyOf(document) || document.documentElement;
  const found = role ? findByRole(top, role, text) : [...findInnermost(top, text), ...findButtonInputs(top, text), ...findGenerated(top, text)];
  const whole = found.filter((each) => each.text === text);
  return (whole.length || exact ? whole : found).map((each) => each.element);
}

function findByRole(top, role, wanted) {
  const found = [];
  for (const element of iterElements(top)) {
    if (computeRole(element) !== role || !isVisible(element)) continue;
    const text = toComparable(computeName(element, role) || nameFromContent(element));
    if (text.includes(wanted)) found.push({ element, text });
  }
  return found;
}

// The innermost elements whose visible text contains the wanted one.
function findInnermost(element, wanted, depth = 0) {
  const text = toComparable(readShownText(element));
  if (!text.includes(wanted)) return [];
  const inside = [];
  for (const child of depth < MAX_WALK_DEPTH ? childrenOf(element) : []) {
    if (nodeTypeOf(child) === Node.ELEMENT_NODE && !UNRENDERED_TAGS.has(tagOf(child))) inside.push(...findInnermost(child, wanted, depth + 1));
  }
  return inside.length ? inside : [{ element, text }];
}

// The text of such a button is an attribute.
function findButtonInputs(top, wanted) {
  const found = [];
  for (const element of iterElements(top)) {
    if (!matchesSelector(element, "input[type=submit],input[type=reset],input[type=button]") || !isVisible(element)) continue;
    const text = toComparable(nameOfInput(element));
    if (text.includes(wanted)) found.push({ element, text });
  }
  return found;
}

// Style sheets can add text that is not in any node.
function findGenerated(top, wanted) {
  const found = [];
  for (const element of iterElements(top)) {
    if (!hasGeneratedContent(element) || !isVisible(element)) continue;
    const parts = [readShownText(element)];
    const hasOwn = toComparable(parts[0]).includes(wanted);
    wrapInGeneratedContent(element, parts);
    const text = toComparable(parts.join(""));
    if (!hasOwn && text.includes(wanted)) found.push({ element, text });
  }
  return found;
}
