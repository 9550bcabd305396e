// Reads from style sheets what no element says: text that they paint, and menus that open under the pointer.

const foundRules = new WeakMap();
const paintedElements = new WeakSet();
const hoverOpeners = new WeakSet();
let searchedRoots = new WeakSet();
let hasPaintedElements = false;

// Elements come and go, so a root is searched again for each outline; the rules of a sheet are kept.
function forgetStyledElements() {
  searchedRoots = new WeakSet();
}

function searchStyledElements(root) {
  if (searchedRoots.has(root)) return;
  searchedRoots.add(root);
  for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) {
    const { painted, hover } = findRules(sheet);
    for (const selector of painted) for (const element of queryLoosely(root, selector)) addPainted(element);
    for (const rule of hover) for (const element of queryLoosely(root, rule.hidden)) addHoverOpener(element, rule.opener);
  }
}

function addPainted(element) {
  paintedElements.add(element);
  hasPaintedElements = true;
}

// The part that shows under the pointer is hidden now; what the rule names before `:hover` opens it.
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

// A rule may hold what only style sheets may say.
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
    return { painted: [], hover: [] }; // another site's sheet
  }
  const known = foundRules.get(sheet);
  if (known?.count === rules.length) return known;
  const found = { count: rules.length, painted: [], hover: [] };
  collectRules(rules, found);
  foundRules.set(sheet, found);
  return found;
}

function collectRules(rules, found) {
  for (const rule of rules) {
    if (rule.selectorText) collectStyleRule(rule, found);
    if (rule.cssRules?.length) collectRules(rule.cssRules, found);
    else if (rule.styleSheet) collectRules(findImportedRules(rule.styleSheet), found);
  }
}

function findImportedRules(sheet) {
  try {
    return sheet.cssRules;
  } catch {
    return [];
  }
}

function collectStyleRule(rule, found) {
  const { selectorText, style } = rule;
  if (selectorText.includes(":before") || selectorText.includes(":after")) {
    if (PAINTED_TEXT.test(style.content.replace(/\p{Co}/gu, ""))) found.painted.push(selectorText.replace(/::?(before|after)\b/g, ""));
  } else if (selectorText.includes(":hover") && SHOWING_PROPERTIES.some((name) => style[name])) {
    found.hover.push(...selectorText.split(/,(?![^(]*\))/).map(splitHover).filter(Boolean));
  }
}

const PAINTED_TEXT = /["'][^"']*[\p{L}\p{N}]|attr\(|var\(|counters?\(|-quote/u;
const SHOWING_PROPERTIES = ["display", "visibility", "opacity", "height", "maxHeight"];

// `li:hover > ul` is opened by `li`, and `li > ul` is what is hidden.
function splitHover(selector) {
  const [, before, after] = /^(.*?):hover(.*[\s>+~].*)$/.exec(selector.trim()) || [];
  return before ? { opener: before + /^[^\s>+~]*/.exec(after)[0], hidden: before + after.replaceAll(":hover", "") } : null;
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
