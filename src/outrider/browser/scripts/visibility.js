// Decides what a reader sees, with the same rules for outlines, rendered HTML, DOM maps and names.

const MIN_FONT_PX = 2;
const FAR_PX = 400;
const MAX_COLOR_DIFFERENCE = 8;
const MAX_SCREEN_READER_CHARS = 100;

// Returns whether no part of an element can be seen, regardless of its content.
function hidesContent(element, style) {
  const { display } = style;
  if (display === "none" || style.contentVisibility === "hidden") return true;
  if (style.opacity === "0" && !fadesIn(element, style)) return true;
  return isClippedAway(element, style, display);
}

// Removed from sight although it is rendered: clipped, shrunk to nothing, or moved away. Screen readers still read it.
// Most elements cost three styles and a box, because pages have many.
function isClippedAway(element, style, display = style.display) {
  if (display === "contents" || (display === "inline" && !element.hasAttributes())) return false;
  if (style.clipPath !== "none" && EMPTY_PATH.test(style.clipPath)) return true;
  if (style.filter !== "none" && /opacity\(0(?:\.0+)?%?\)/.test(style.filter)) return true;
  if (style.clip !== "auto" && isEmptyClip(style)) return true;
  const { right, bottom, width, height } = rectOf(element);
  if (width <= 1 || height <= 1) return isShrunk(element, style, display);
  const isFar = right + scrollX < -FAR_PX / 4 || bottom + scrollY < -FAR_PX / 4;
  return isFar && (isMoved(style) || attributeOf(element, "aria-hidden") === "true") && !spillsIntoPage(element, style);
}

// The strip of a carousel moves by whole slides, one of which is still shown.
function spillsIntoPage(element, style) {
  const { left, top, bottom } = rectOf(element);
  return style.overflowX === "visible" && left + element.scrollWidth + scrollX > 0 && Math.max(bottom, top + element.scrollHeight) + scrollY > 0;
}

const EMPTY_PATH = /^(inset\((50|[6-9]\d|100)%|circle\(0|ellipse\(0|polygon\((0(px|%)? 0(px|%)?(, )?)+\))/;

function isEmptyClip(style) {
  if (style.position !== "absolute" && style.position !== "fixed") return false;
  const [top, right, bottom, left] = style.clip.match(/-?[\d.]+px|auto/g) || [];
  return parseFloat(right) - parseFloat(left) <= 1 || parseFloat(bottom) - parseFloat(top) <= 1;
}

// Without height or width, or only a pixel of it, and clipped.
function isShrunk(element, style, display) {
  if (style.transform !== "none" && /^matrix\((0, 0, 0, 0|.*, 0, 0, 0, )/.test(style.transform)) return true;
  if (display === "inline" || tagOf(element) === "body" || tagOf(element) === "html") return false;
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  return firstChildOf(element) !== null && checkVisibilityOf(element);
}

// Positioned left of or above the page, which cannot be scrolled into view.
function isMoved(style) {
  if (style.position !== "static" || style.transform !== "none" || style.translate !== "none") return true;
  return parseFloat(style.marginLeft) < -FAR_PX || parseFloat(style.marginTop) < -FAR_PX;
}

// Returns whether the text of the element itself is unreadable; its parts may have another style.
function hidesText(element, style) {
  if (style.visibility !== "visible" || parseFloat(style.fontSize) < MIN_FONT_PX) return true;
  if (parseFloat(style.textIndent) < -FAR_PX) return true;
  return hasInvisibleColor(element, style);
}

function hasInvisibleColor(element, style) {
  const color = parseColor(style.webkitTextFillColor);
  if (!color) return false;
  const background = color[3] === 0 ? null : findBackground(element, style);
  if (background && !isSameColor(color, background)) return false;
  if (style.backgroundClip.includes("text") || style.textShadow !== "none") return false;
  return color[3] === 0 || (background !== null && isPlainBackground(element));
}

function isSameColor([red, green, blue], [otherRed, otherGreen, otherBlue]) {
  const difference = Math.max(Math.abs(red - otherRed), Math.abs(green - otherGreen), Math.abs(blue - otherBlue));
  return difference <= MAX_COLOR_DIFFERENCE;
}

const parsedColors = new Map();

// Red, green, blue from 0 to 255 and alpha from 0 to 1; null for other colour spaces.
function parseColor(text) {
  let color = parsedColors.get(text);
  if (color === undefined) {
    const numbers = /^rgba?\((.*)\)$/.exec(text)?.[1].split(",").map(Number) || null;
    color = numbers && [...numbers.slice(0, 3), numbers[3] ?? 1];
    parsedColors.set(text, color);
  }
  return color;
}

// Valid for one call only, because styles change.
let knownBackgrounds = new WeakMap();

function forgetBackgrounds() {
  knownBackgrounds = new WeakMap();
}

// The nearest opaque colour behind an element's text; null if unknown.
function findBackground(element, style) {
  if (knownBackgrounds.has(element)) return knownBackgrounds.get(element);
  const color = parseColor(style.backgroundColor);
  const parent = color?.[3] === 0 ? parentElementOf(element) : null;
  const found = color?.[3] === 1 ? color : parent ? findBackground(parent, getComputedStyle(parent)) : color?.[3] === 0 ? readCanvasColor() : null;
  knownBackgrounds.set(element, found);
  return found;
}

// A frame may be transparent, and a dark scheme has another canvas.
function readCanvasColor() {
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  return window === window.top && !scheme.includes("dark") ? [255, 255, 255, 1] : null;
}

// Returns whether no picture and no positioned element can be behind an element's text.
function isPlainBackground(element) {
  for (let each = element; each; each = parentElementOf(each)) {
    const style = getComputedStyle(each);
    if (style.backgroundImage !== "none") return false;
    if (parseColor(style.backgroundColor)?.[3] === 1) return true;
    if (style.position !== "static" || style.transform !== "none") return false;
  }
  return true;
}

// Returns whether an element and all of its ancestors are visible.
function isReadable(element) {
  for (let each = element; each; each = parentElementOf(each)) if (hidesContent(each, getComputedStyle(each))) return false;
  return !hidesText(element, getComputedStyle(element));
}

// The text of an element as a reader sees it, with its line ends.
function readShownText(element, depth = 0) {
  if (depth > MAX_WALK_DEPTH) return "";
  const style = getComputedStyle(element);
  if (hidesContent(element, style)) return "";
  const isTextHidden = hidesText(element, style);
  const parts = [];
  for (const child of childrenOf(element)) {
    if (nodeTypeOf(child) === Node.TEXT_NODE) parts.push(isTextHidden ? "" : child.data);
    else if (nodeTypeOf(child) === Node.ELEMENT_NODE) parts.push(readShownChild(child, depth));
  }
  return parts.join("");
}

function readShownChild(child, depth) {
  if (tagOf(child) === "br") return "\n";
  return UNRENDERED_TAGS.has(tagOf(child)) ? "" : readShownText(child, depth + 1);
}

// Returns whether an element may show text that its name omits: it has an explicit name, or parts that names never
// include.
function mayShowMore(element) {
  if (GIVEN_NAME_ATTRIBUTES.some((name) => hasAttribute(element, name)) || element.labels?.length) return true;
  if (hasPaintedElements && (paintedElements.has(element) || [...element.getElementsByTagName("*")].some((each) => paintedElements.has(each)))) return true;
  if (crossesShadow(element)) return true;
  return firstElementOf(element) !== null && selectFirst(element, "[aria-hidden=true],[aria-label],[aria-labelledby]") !== null;
}

const GIVEN_NAME_ATTRIBUTES = ["aria-label", "aria-labelledby", "title", "aria-valuenow"];

// The visible text of an element that has not been written yet.
function readUnnamedText(element, written) {
  if (firstChildOf(element) === null && shadowOf(element) === null && !paintedElements.has(element)) return "";
  const pieces = [];
  gatherShownPieces(element, pieces, 0);
  const whole = pieces.join(" ");
  if (!whole || joinLetters(written).includes(joinLetters(whole))) return "";
  const known = ` ${splitWords(written)} `;
  return collapseSpace(pieces.filter((piece) => !known.includes(` ${splitWords(piece)} `)).join(" "));
}

function joinLetters(text) {
  return text.toLowerCase().replace(/[\s\u00a0]+/g, "");
}

function splitWords(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, " ").trim() || text.trim();
}

function gatherShownPieces(element, pieces, depth) {
  const style = getComputedStyle(element);
  if (depth > MAX_WALK_DEPTH || hidesContent(element, style)) return;
  const isTextHidden = hidesText(element, style) || ICON_FONT.test(style.fontFamily);
  const [before, after] = ["::before", "::after"].map((part) => collapseSpace(readPaintedText(element, part)));
  if (before) pieces.push(before);
  for (const child of childrenOf(element)) {
    if (nodeTypeOf(child) === Node.TEXT_NODE) {
      if (!isTextHidden && child.data.trim()) pieces.push(collapseSpace(child.data));
    } else if (nodeTypeOf(child) === Node.ELEMENT_NODE && !UNRENDERED_TAGS.has(tagOf(child))) gatherShownPieces(child, pieces, depth + 1);
  }
  if (after) pieces.push(after);
}

// Icon fonts draw such letters as one picture: "arrow_drop_down".
const ICON_FONT = /icon|symbols|glyph/i;

// Text for screen readers only, such as the name of a button that shows an icon.
function isScreenReaderText(element) {
  return textContentOf(element).length <= MAX_SCREEN_READER_CHARS;
}
