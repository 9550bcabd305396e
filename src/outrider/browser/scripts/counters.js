// Computes the values of `counter()` in generated content, by css-lists-3, and the numbers of ordered lists.

const shownCounters = new WeakMap();
let countersAreRead = false;

// Returns the value of a counter at this element, in the style that the content requests.
function readCounter(element, part, call) {
  if (!countersAreRead) readAllCounters();
  const [, name, separator, style] = /^counters?\(\s*([^\s,)]+)(?:\s*,\s*"((?:[^"\\]|\\.)*)")?(?:\s*,\s*([\w-]+))?/.exec(call) || [];
  const values = shownCounters.get(element)?.[part]?.[name] || [0];
  const numbers = values.map((value) => formatCounter(value, style || "decimal"));
  return call.startsWith("counters") ? numbers.join(separator) : numbers.at(-1);
}

function forgetCounters() {
  countersAreRead = false;
}

function readAllCounters() {
  countersAreRead = true;
  countElement(document.documentElement, new Map(), 0);
}

// A counter lives until the parent of the element that made it ends.
function countElement(element, counters, depth) {
  const style = getComputedStyle(element);
  if (style.display === "none" || depth > MAX_WALK_DEPTH) return;
  applyCounters(style, element.parentNode, counters);
  const isPainted = paintedElements.has(element);
  if (isPainted) countPart(element, "::before", counters);
  for (const child of childrenOf(element)) if (nodeTypeOf(child) === Node.ELEMENT_NODE) countElement(child, counters, depth + 1);
  if (isPainted) countPart(element, "::after", counters);
  for (const stack of counters.values()) while (stack.at(-1)?.scope === element) stack.pop();
}

function countPart(element, part, counters) {
  const style = getComputedStyle(element, part);
  if (!isGenerated(style.content)) return;
  applyCounters(style, element, counters);
  if (!style.content.includes("counter")) return;
  const values = Object.fromEntries([...counters].map(([name, stack]) => [name, stack.map((each) => each.value)]));
  shownCounters.set(element, { ...shownCounters.get(element), [part]: values });
}

function applyCounters(style, scope, counters) {
  for (const [name, value] of parseCounters(style.counterReset)) resetCounter(name, value, scope, counters);
  for (const [name, value] of parseCounters(style.counterIncrement)) findCounter(name, scope, counters).value += value;
  for (const [name, value] of parseCounters(style.counterSet)) findCounter(name, scope, counters).value = value;
}

// Computed values have a number for each name.
function parseCounters(text) {
  return text === "none" ? [] : [...text.matchAll(/([^\s()]+)\)?\s+(-?\d+)/g)].map(([, name, value]) => [name, Number(value)]);
}

function resetCounter(name, value, scope, counters) {
  const stack = counters.get(name) || counters.set(name, []).get(name);
  if (stack.at(-1)?.scope === scope) stack.pop();
  stack.push({ scope, value });
}

function findCounter(name, scope, counters) {
  if (!counters.get(name)?.length) resetCounter(name, 0, scope, counters);
  return counters.get(name).at(-1);
}

const ALPHABETS = new Map([
  ["alpha", "abcdefghijklmnopqrstuvwxyz"], ["latin", "abcdefghijklmnopqrstuvwxyz"], ["greek", "αβγδεζηθικλμνξοπρστυφχψω"],
]);
const ROMAN = [["m", 1000], ["cm", 900], ["d", 500], ["cd", 400], ["c", 100], ["xc", 90], ["l", 50], ["xl", 40], ["x", 10], ["ix", 9], ["v", 5], ["iv", 4], ["i", 1]];

// Styles of other scripts are written as decimal numbers; bullets and the like are left out.
function formatCounter(value, style) {
  if (style === "none" || SYMBOLS.has(style)) return "";
  if (style === "decimal-leading-zero") return String(value).padStart(2, "0");
  const [letterCase, kind] = style.split("-");
  const text = value < 1 ? "" : kind === "roman" && value < 4000 ? formatRoman(value) : ALPHABETS.has(kind) ? formatLetters(value, ALPHABETS.get(kind)) : "";
  return (letterCase === "upper" ? text.toUpperCase() : text) || String(value);
}

const SYMBOLS = new Set(["disc", "circle", "square", "disclosure-open", "disclosure-closed"]);

function formatRoman(value) {
  let text = "";
  for (const [sign, worth] of ROMAN) while (value >= worth) (text += sign), (value -= worth);
  return text;
}

function formatLetters(value, letters) {
  let text = "";
  for (; value > 0; value = Math.floor((value - 1) / letters.length)) text = letters[(value - 1) % letters.length] + text;
  return text;
}

// The marker of an `<ol>` item as shown, or else a dash.
function readListMarker(item, style) {
  const list = domParentOf(item);
  if (!list || tagOf(list) !== "ol" || tagOf(item) !== "li" || style.display !== "list-item" || /^["']/.test(style.listStyleType)) return "-";
  const number = formatCounter(countListItem(item, list), style.listStyleType);
  return number ? `${number}.` : "-";
}

const itemNumbers = new WeakMap();

// Items are visited in order, so the number of the previous one is usually known.
function countListItem(item, list) {
  const step = list.reversed ? -1 : 1;
  const unknown = [];
  let each = item;
  for (; each && (each === item || !itemNumbers.has(each)) && !hasAttribute(each, "value"); each = findItemBefore(each)) unknown.push(each);
  const first = list.reversed && !hasAttribute(list, "start") ? selectAll(list, ":scope > li").length : list.start;
  let number = each ? (hasAttribute(each, "value") ? each.value : itemNumbers.get(each)) : first - step;
  for (const later of unknown.reverse()) itemNumbers.set(later, (number += step));
  return number;
}

function findItemBefore(item) {
  let before = item.previousElementSibling;
  while (before && tagOf(before) !== "li") before = before.previousElementSibling;
  return before;
}
