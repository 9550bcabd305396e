// Reads the text that style sheets put before and after an element, and into the markers of lists.

// Computing the style of a pseudo-element takes as long as the rest of a name, so the rules are checked first.
function hasGeneratedContent(element) {
  if (tagOf(element) === "input" || !mayHaveGeneratedContent(element)) return false;
  return isGenerated(getComputedStyle(element, "::before").content) || isGenerated(getComputedStyle(element, "::after").content);
}

function isGenerated(content) {
  return content !== "none" && content !== "normal";
}

// Adds the texts before and after the content collected since a position.
function wrapInGeneratedContent(element, parts, at = 0) {
  parts.splice(at, 0, readGeneratedText(element, "::before"));
  parts.push(readGeneratedText(element, "::after"));
}

function readGeneratedText(element, pseudo) {
  const style = getComputedStyle(element, pseudo);
  if (!isGenerated(style.content) || style.display === "none" || style.visibility !== "visible") return "";
  const text = parseContent(style.content, element, pseudo);
  return style.display === "inline" || pseudo === "::marker" ? text : ` ${text} `;
}

const CONTENT_TOKEN = /"((?:[^"\\]|\\.)*)"|attr\(\s*([\w-]+)[^)]*\)|(\/)|url\((?:"(?:[^"\\]|\\.)*"|[^)]*)\)|[\w-]+\((?:"(?:[^"\\]|\\.)*"|[^)"])*\)|(open-quote|close-quote)/g;

// Returns the strings of a `content` value, or its alternative text after a slash; icon fonts have no text.
function parseContent(content, element, part) {
  let text = "";
  for (const [token, string, attribute, slash, mark] of content.matchAll(CONTENT_TOKEN)) {
    if (token.startsWith("counter") && element) text += readCounter(element, part, token);
    else if (slash) text = "";
    else if (attribute) text += (element && attributeOf(element, attribute)) ?? "";
    else if (mark) text += '"';
    else if (string !== undefined) text += string.replace(/\\([0-9a-f]{1,6}) ?|\\(.)/gi, unescapeCss);
  }
  return text.replace(/\p{Co}/gu, "");
}

function unescapeCss(whole, code, character) {
  return code ? String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff)) : character;
}

// If sheets cannot be read, or there are too many rules to match, only the computed style is left.
const MAX_CONTENT_SELECTORS = 60;
const rulesOfSheet = new WeakMap();
let turnSelector = null;

// Elements in or around a shadow root are styled by their own sheets, and quotations by the browser's.
function mayHaveGeneratedContent(element) {
  const selector = readTurnSelector();
  if (selector === "*" || tagOf(element) === "q") return true;
  if (slotOf(element) || shadowOf(element) || rootOf(element) !== document) return true;
  return selector !== "" && matchesSelector(element, selector);
}

// A selector for all elements to which rules may add text; it is valid until the page's scripts run again.
function readTurnSelector() {
  if (turnSelector === null) {
    turnSelector = buildContentSelector();
    queueMicrotask(() => (turnSelector = null));
  }
  return turnSelector;
}

function buildContentSelector() {
  const found = new Set([...document.styleSheets, ...document.adoptedStyleSheets].flatMap(listContentSelectors));
  if (found.has("*") || found.size > MAX_CONTENT_SELECTORS) return "*";
  const selector = [...found].join(",");
  try {
    if (selector) matchesSelector(document.documentElement, selector);
  } catch {
    return "*";
  }
  return selector;
}

// Rules are added to sheets but rarely changed, so a sheet is read again when their number has changed.
function listContentSelectors(sheet) {
  if (sheet.disabled) return [];
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    return ["*"];
  }
  const known = rulesOfSheet.get(sheet);
  if (known?.count === rules.length) return known.selectors;
  const selectors = [...rules].flatMap(listRuleSelectors);
  rulesOfSheet.set(sheet, { count: rules.length, selectors });
  return selectors;
}

function listRuleSelectors(rule) {
  if (rule.styleSheet) return listContentSelectors(rule.styleSheet);
  const nested = rule.cssRules?.length ? [...rule.cssRules].flatMap(listRuleSelectors) : [];
  if (!rule.selectorText) return nested;
  const isRelative = nested.length > 0 || rule.selectorText.includes("&");
  const own = PSEUDO.test(rule.selectorText) && givesText(rule.style.content) ? splitSelectors(rule.selectorText) : [];
  return isRelative && (nested.length || own.length) ? ["*"] : own;
}

const PSEUDO = /::?(?:before|after)\b/;

// A value with a variable is only known after it is computed.
function givesText(content) {
  return content.includes("var(") || content.includes("attr(") || content.includes("-quote") || content.includes("counter") || parseContent(content, null).trim() !== "";
}

// The parts of a selector list that name a pseudo-element, without it.
function splitSelectors(text) {
  if (/:host|::slotted|::part/.test(text)) return ["*"];
  const parts = /[([]/.test(text) ? [text.replace(/::?(?:before|after)\b/g, "")] : text.split(",").filter((part) => PSEUDO.test(part));
  return parts.map((part) => part.replace(/::?(?:before|after)\b/, "").trim().replace(/[\s>+~]$/, "$& *") || "*").map((part) => part || "*");
}
