// Reads from style sheets: text that they paint, and elements that the pointer opens or can press.

const foundRules = new WeakMap();
const paintedElements = new WeakSet();
const hoverOpeners = new WeakSet();
let searchedRoots = new WeakSet();
let pressedByHover = new WeakSet(); // the cursor becomes a hand over them
let litRules = []; // of what changes its background under the pointer
let litElements = null;
let hasPaintedElements = false;

// Elements come and go, so a root is searched again for each outline; the rules of a sheet are kept.
function forgetStyledElements() {
  searchedRoots = new WeakSet();
  pressedByHover = new WeakSet();
  litRules = [];
  litElements = null;
}

function searchStyledElements(root) {
  if (searchedRoots.has(root)) return;
  searchedRoots.add(root);
  for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
    const { painted, hover, pressed, lit } = findRules(sheet);
    for (const selector of lit) litRules.push({ root, selector });
    for (const selector of painted) for (const element of queryLoosely(root, selector)) addPainted(element);
    for (const selector of pressed) for (const element of queryLoosely(root, selector)) pressedByHover.add(element);
    for (const rule of hover) for (const element of queryLoosely(root, rule.hidden)) addHoverOpener(element, rule.opener);
  }
}

const MAX_LIT_RULES = 300;

// The style sheets of some pages have such a rule for each class, so they are only searched if an element needs it.
function isLitByHover(element) {
  if (litElements === null) {
    litElements = new WeakSet();
    for (const { root, selector } of litRules.slice(0, MAX_LIT_RULES)) for (const each of queryLoosely(root, selector)) litElements.add(each);
  }
  return litElements.has(element);
}

function addPainted(element) {
  paintedElements.add(element);
  hasPaintedElements = true;
}

// The part that the pointer reveals is hidden now; the element named before `:hover` in the rule opens it.
function addHoverOpener(hidden, selector) {
  if (!textContentOf(hidden).trim() || isSeenNow(hidden)) return;
  const parent = domParentOf(hidden);
  const opener = (parent && closestOf(parent, selector)) || findSiblingBefore(hidden, selector);
  if (opener && isSeenNow(opener)) hoverOpeners.add(findControlInside(opener) || opener);
}

function isSeenNow(element) {
  return checkVisibilityOf(element, VISIBILITY_OPTIONS) && !isCollapsedBox(element, getComputedStyle(element));
}

function findSiblingBefore(element, selector) {
  for (let each = element.previousElementSibling; each; each = each.previousElementSibling) if (matchesSelector(each, selector)) return each;
  return null;
}

function findControlInside(opener) {
  if (matchesSelector(opener, ACTIONABLE_SELECTOR)) return opener;
  return [...selectAll(opener, ACTIONABLE_SELECTOR)].find(isSeenNow) || null;
}

// A selector may be valid in style sheets only.
function queryLoosely(root, selector) {
  try {
    return selectAll(root, selector);
  } catch {
    return [];
  }
}

function findRules(sheet) {
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return { painted: [], hover: [], pressed: [], lit: [] }; // another site's sheet
  }
  const known = foundRules.get(sheet);
  if (known?.count === rules.length) return known;
  const found = { count: rules.length, painted: [], hover: [], pressed: [], lit: [] };
  collectRules(rules, found);
  foundRules.set(sheet, found);
  return found;
}

function collectRules(rules, found, parents = null) {
  for (const rule of rules) {
    const selectors = rule.selectorText ? nestSelectors(splitSelectorList(rule.selectorText), parents) : parents;
    if (rule.selectorText) collectStyleRule(rule, selectors, found);
    if (rule.cssRules?.length) collectRules(rule.cssRules, found, selectors);
    else if (rule.styleSheet) collectRules(findImportedRules(rule.styleSheet), found);
  }
}

const MAX_NESTED_SELECTORS = 50;

// A nested rule refers to the outer one by `&`; without it, it matches descendants of the outer one.
function nestSelectors(selectors, parents) {
  if (!parents) return selectors;
  const nest = (each, parent) => (each.includes("&") ? each.replaceAll("&", parent) : `${parent} ${each}`);
  return selectors.flatMap((each) => parents.map((parent) => nest(each, parent))).slice(0, MAX_NESTED_SELECTORS);
}

// Splits a list at its top-level commas, not at those of `:not(a, b)`.
function splitSelectorList(list) {
  const parts = [""];
  let depth = 0;
  for (const sign of list) {
    depth += sign === "(" || sign === "[" ? 1 : sign === ")" || sign === "]" ? -1 : 0;
    if (sign === "," && depth === 0) parts.push("");
    else parts[parts.length - 1] += sign;
  }
  return parts.map((each) => each.trim());
}

function findImportedRules(sheet) {
  try {
    return sheet.cssRules;
  } catch {
    return [];
  }
}

function collectStyleRule({ style }, selectors, found) {
  const list = selectors.join();
  if (list.includes(":before") || list.includes(":after")) {
    if (PAINTED_TEXT.test(style.content.replace(/\p{Co}/gu, ""))) found.painted.push(list.replace(/::?(before|after)\b/g, ""));
    return;
  }
  const hovered = selectors.filter((each) => each.includes(":hover"));
  if (style.cursor === "pointer") found.pressed.push(...hovered.map((each) => each.replaceAll(":hover", "")));
  if (style.background || style.backgroundColor) found.lit.push(...hovered.filter((each) => LIT_SUBJECT.test(each)).map((each) => each.replaceAll(":hover", "")).filter(isSelector));
  if (SHOWING_PROPERTIES.some((name) => style[name])) found.hover.push(...hovered.map(splitHover).filter(Boolean));
}

const PAINTED_TEXT = /["'][^"']*[\p{L}\p{N}]|attr\(|var\(|counters?\(|-quote/u;
const LIT_SUBJECT = /:hover[^\s>+~]*$/;
const SHOWING_PROPERTIES = ["display", "visibility", "opacity", "height", "maxHeight"];

// For `li:hover > ul`, `li` is the opener, and `li > ul` is the hidden part.
function splitHover(selector) {
  const [, before, after] = /^(.*?):hover(.*[\s>+~].*)$/.exec(selector) || [];
  const opener = before ? before + /^[^\s>+~]*/.exec(after)[0] : "";
  return isSelector(opener) ? { opener, hidden: before + after.replaceAll(":hover", "") } : null;
}

// The part before the `:hover` of `:not(.a, :hover)` is only half a selector.
function isSelector(text) {
  try {
    return text !== "" && document.createDocumentFragment().querySelector(text) === null;
  } catch {
    return false;
  }
}

// The text that a style sheet paints before or after the content of an element.
function readPaintedText(element, part) {
  if (!paintedElements.has(element)) return "";
  const style = getComputedStyle(element, part);
  const text = isGenerated(style.content) ? parseContent(style.content, element, part) : "";
  if (!text || style.display === "none" || style.opacity === "0" || ICON_FONT.test(style.fontFamily)) return "";
  if (hidesText(element, style) || parseFloat(style.left) < -FAR_PX || parseFloat(style.top) < -FAR_PX) return "";
  return text;
}
