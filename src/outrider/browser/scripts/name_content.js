// Collects the text of an element's content as a name: without hidden parts, with controls by their values.

const MAX_NAME_CHARS = 5000;
const MAX_NAME_DEPTH = 300;

// The state of a walk over content.
class NameWalk {
  // owner: whose name is computed; except: left out; used: elements that were read by reference, and count once.
  constructor(owner, { except = owner, maxChars = MAX_NAME_CHARS, maxElements = Infinity, used = new Set() } = {}) {
    this.owner = owner;
    this.except = except;
    this.maxChars = maxChars;
    this.remainingElements = maxElements;
    this.used = used;
    this.follows = true;
    this.showsHidden = false;
  }

  // References are only followed once: references inside a referenced element are not, and may lead to the owner
  // itself.
  follow() {
    return Object.assign(new NameWalk(this.owner, { except: null, maxChars: this.maxChars, used: this.used }), { follows: false });
  }

  showHidden() {
    const { follows } = this;
    return Object.assign(new NameWalk(this.owner, this), { follows, showsHidden: true });
  }
}

// The text of an element's content, without `except` and its content.
function nameFromContent(element, except = null) {
  return readContent(element, new NameWalk(element, { except }));
}

// Only its beginning: for nested containers, whole texts would be read once per level.
function briefContentName(element) {
  return shorten(readContent(element, new NameWalk(element, { except: null, maxChars: 400, maxElements: 60 })), 200);
}

function readContent(element, walk) {
  if (!firstElementOf(element) && !shadowOf(element)) return readPlainContent(element, walk);
  const parts = [];
  parts.remainingChars = walk.maxChars;
  gatherContent(element, walk, parts, 0, isOwnTextHidden(element, walk));
  return trimName(parts.join(""));
}

// Most elements with a name only contain text.
function readPlainContent(element, walk) {
  if (isOwnTextHidden(element, walk)) return "";
  const text = textContentOf(element);
  const painted = hasGeneratedContent(element);
  if (!painted && !hasAttribute(element, "aria-owns")) return trimName(text.slice(0, walk.maxChars * 2));
  const parts = [text];
  if (painted) wrapInGeneratedContent(element, parts);
  gatherOwned(element, walk, parts, 0);
  return trimName(parts.join(""));
}

// Names include short texts for screen readers, but no other invisible content.
function isOwnTextHidden(element, walk) {
  return !walk.showsHidden && !isScreenReaderText(element) && hidesText(element, getComputedStyle(element));
}

function gatherContent(element, walk, parts, depth, isTextHidden) {
  if (depth > MAX_NAME_DEPTH) return void parts.push(element.innerText ?? "");
  const at = parts.length;
  for (const child of tagOf(element) === "details" && !element.open ? [...elementsOf(element)].slice(0, 1) : childrenOf(element)) {
    if (parts.remainingChars < 0 || walk.remainingElements < 0) return;
    if (nodeTypeOf(child) === Node.TEXT_NODE) {
      if (isTextHidden) continue;
      parts.push(child.data);
      parts.remainingChars -= child.data.length;
    } else if (nodeTypeOf(child) === Node.ELEMENT_NODE) gatherChild(child, walk, parts, depth + 1);
  }
  gatherOwned(element, walk, parts, depth + 1);
  if (!isTextHidden && hasGeneratedContent(element)) wrapInGeneratedContent(element, parts, at);
}

function gatherOwned(element, walk, parts, depth) {
  if (!hasAttribute(element, "aria-owns")) return;
  for (const owned of listReferences(element, "aria-owns")) {
    if (walk.used.has(owned)) continue;
    parts.push(" ");
    gatherChild(owned, walk, parts, depth);
    walk.used.add(owned);
  }
}

function gatherChild(child, walk, parts, depth) {
  if (child === walk.except) return void parts.push(" ");
  if (UNRENDERED_TAGS.has(tagOf(child)) || walk.used.has(child)) return;
  walk.remainingElements -= 1;
  const style = getComputedStyle(child);
  if (!walk.showsHidden && isLeftOut(child, style)) return;
  const gap = style.display === "inline" || style.display === "contents" ? "" : " ";
  parts.push(tagOf(child) === "br" ? " " : gap);
  const alternative = readAlternative(child, walk);
  if (alternative !== null) parts.push(gap || tagOf(child) === "slot" ? alternative : ` ${alternative} `);
  else gatherParts(child, walk, parts, depth, style);
  parts.push(gap);
}

function isLeftOut(child, style) {
  if (attributeOf(child, "aria-hidden") === "true") return true;
  return hidesContent(child, style) && !(isClippedAway(child, style) && style.display !== "none" && isScreenReaderText(child));
}

// The tooltip replaces an otherwise empty part.
function gatherParts(child, walk, parts, depth, style) {
  const at = parts.length;
  const isTextHidden = !walk.showsHidden && (style.visibility !== "visible" || isOwnTextHidden(child, walk));
  if (style.display === "list-item") parts.push(readGeneratedText(child, "::marker"));
  gatherContent(child, walk, parts, depth, isTextHidden);
  if (hasAttribute(child, "title") && !isTextHidden && parts.slice(at).join("").trim() === "") parts.push(readTooltip(child));
}

// Returns the text that replaces a part's content; null if there is none.
function readAlternative(element, walk) {
  if (walk.follows && hasAttribute(element, "aria-labelledby")) {
    const name = joinReferences(element, "aria-labelledby", walk);
    if (name) return name;
  }
  const role = computeRole(element);
  const value = element === walk.owner ? null : readEmbeddedValue(element, role, walk);
  if (value !== null) return value;
  const label = tagOf(element) === "slot" ? "" : readAriaLabel(element);
  return label || (readReplacedName(element) ?? (isSpokenApart(role, walk) ? "" : null));
}

// The full name of a label, or of an element that a name refers to.
function nameInside(element, walk) {
  return readAlternative(element, walk) || nameFromMarkup(element) || readContent(element, walk) || readTooltip(element);
}

// For an image, its alternative text; for a drawing with words, its words.
function readReplacedName(element) {
  const tag = tagOf(element);
  if (tag === "img" || tag === "area") return trimName(attributeOf(element, "alt") || "") || (attributeOf(element, "alt") === null ? readTooltip(element) : "");
  if (tag === "svg") return selectFirst(element, "text") ? null : nameFromChild(element, "title");
  return tag === "input" && BUTTON_TYPES.has(element.type) ? nameOfInput(element) : null;
}

// Menus are not part of a label. Messages are not part of a heading, but part of a control, of which only the name is
// shown.
function isSpokenApart(role, walk) {
  if (role === "menu" || role === "menubar") return true;
  return (role === "alert" || role === "alertdialog") && computeRole(walk.owner) === "heading";
}
