// Writes the page as an outline: one walk over what is rendered, in reading order.

const UNRENDERED_TAGS = new Set([
  "script", "style", "noscript", "template", "head", "meta", "link", "title", "base", "datalist", "source", "track",
  "param", "object", "embed", "defs", "symbol", "clippath", "lineargradient", "radialgradient", "filter", "mask",
]);
const CONTAINERS = new Set([
  "main", "nav", "header", "footer", "aside", "search", "dialog", "alertdialog", "alert", "menu", "menubar", "tablist",
  "toolbar", "tree", "radiogroup", "tabpanel", "feed", "log", "figure", "article",
]);
const CONTAINERS_IF_NAMED = new Set(["form", "region", "group", "list", "status"]);
const LEAF_ROLES = new Set([
  "button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "checkbox", "radio", "switch", "treeitem",
]);

class OutlineWriter {
  // view: limits the walk to the viewport; whole: long values in full; shown: a model will read it.
  constructor({ view = null, urls = false, whole = false, shown = true } = {}) {
    this.view = view;
    this.urls = urls;
    this.shown = shown;
    this.valueLimit = whole ? 5000 : MAX_VALUE_CHARS;
    this.lines = [];
    this.parts = [];
    this.run = [];
    this.needsSpace = false;
    this.prefix = "";
    this.depth = 0;
    this.inline = 0;
    this.muted = 0;
    this.cells = 0;
    this.count = 0;
    this.level = 0;
    this.layout = false;
    this.elements = 0;
    this.suspects = 0;
    this.shadows = 0;
    this.rowMark = "";
    this.pendingMark = "";
  }

  text(data) {
    if (this.muted || !data) return;
    this.run.push(data);
    this.needsSpace = !SPACE_CODES.has(data.charCodeAt(data.length - 1));
  }

  put(text) {
    if (!text) return;
    this.endRun();
    this.parts.push(text);
    this.needsSpace = true;
  }

  // Texts side by side are escaped as one, because a reference may be spread over several.
  endRun() {
    if (!this.run.length) return;
    this.parts.push(plainRun(this.run.join("")));
    this.run = [];
  }

  // Writes something other than text, with spaces around it.
  item(text) {
    this.pad();
    this.endRun();
    this.parts.push(text, " ");
    this.needsSpace = false;
  }

  pad() {
    if (!this.needsSpace) return;
    (this.run.length ? this.run : this.parts).push(" ");
    this.needsSpace = false;
  }

  // Ends the line; on a shared line (a heading, a table row) ends only the word.
  flush() {
    if (this.inline) return this.pad();
    this.endRun();
    if (!this.parts.length) return;
    const text = collapseLine(this.parts.join(""));
    this.parts = [];
    this.needsSpace = false;
    if (text) this.line(text);
  }

  line(text) {
    if (this.inline) return this.item(text);
    this.lines.push(" ".repeat(this.depth) + this.prefix + text);
    if (this.prefix) this.depth += 1;
    this.prefix = "";
  }

  nested(work) {
    this.flush();
    const { depth, prefix } = this;
    this.prefix = "";
    this.depth += 1;
    work();
    this.flush();
    this.depth = depth;
    this.prefix = this.inline ? prefix : "";
  }

  onOneLine(work) {
    this.flush();
    this.inline += 1;
    work();
    this.inline -= 1;
    this.flush();
  }

  refer(element, role, name) {
    const ref = refOf(element);
    this.count += 1;
    if (this.shown) recordShown(ref, role, name);
    return ref;
  }
}

// No space is needed after a space or an opening bracket.
const SPACE_CODES = new Set([..." \n\t\r\f\u00a0(["].map((character) => character.charCodeAt(0)));

// \u0001 marks the place of a frame, so a page must not write it.
function collapseLine(text) {
  return text.replace(/[\s\u0001]+/g, " ").trim();
}

// Styles of an element that its children depend on, read on first use.
class ParentContext {
  constructor(style, element) {
    this.style = style;
    this.element = element;
    this.isVisible = undefined;
    this.cursorStyle = undefined;
    this.isRow = undefined;
  }

  get visible() {
    return (this.isVisible ??= !hidesText(this.element, this.style));
  }

  get cursor() {
    return (this.cursorStyle ??= this.style.cursor);
  }

  // Blocks start a new line, except for the items of a flex row.
  get isFlexRow() {
    return (this.isRow ??= this.style.display.endsWith("flex") && this.style.flexDirection.startsWith("row"));
  }
}

// A page may be nested or grow without limit; an outline must not.
const MAX_WALK_DEPTH = 250;
const MAX_ELEMENTS = 300_000;

function walkChildren(element, out, style) {
  if (out.level >= MAX_WALK_DEPTH) return out.text(element.innerText ?? "");
  out.level += 1;
  walkNodes(element, out, new ParentContext(style, element));
  out.level -= 1;
}

function walkNodes(element, out, parentContext) {
  if (tagOf(element) === "slot" || shadowOf(element)) {
    out.shadows += 1;
    for (const child of childrenOf(element)) walkChild(child, out, parentContext);
    return;
  }
  for (let child = firstChildOf(element); child; child = child.nextSibling) walkChild(child, out, parentContext);
}

function walkChild(child, out, parentContext) {
  if (child.nodeType === Node.TEXT_NODE) {
    if (parentContext.visible) out.text(child.data);
  } else if (child.nodeType === Node.ELEMENT_NODE) {
    walkElement(child, out, parentContext);
  }
}

const VISIBILITY_OPTIONS = { visibilityProperty: true, opacityProperty: true };
const TABLE_PART_TAGS = new Set(["td", "tr", "th", "tbody", "thead"]);

function walkElement(element, out, parentContext) {
  const tag = tagOf(element);
  if (UNRENDERED_TAGS.has(tag) || ++out.elements > MAX_ELEMENTS) return;
  if (tag === "br") return out.flush();
  const style = getComputedStyle(element);
  const seen = element.checkVisibility(VISIBILITY_OPTIONS);
  if (seen && TABLE_PART_TAGS.has(tag)) return walkTablePart(element, out, style, parentContext);
  const display = style.display;
  if (display === "none" || style.contentVisibility === "hidden") return;
  const inline = isInlineDisplay(display);
  if (isClosedBox(element, out, style, inline)) return;
  if (isClippedAway(element, style, display) && !(isControl(element) && isScreenReaderText(element))) return;
  if (out.view && !inline && out.view.skips(element)) return;
  if (!seen) return walkPartlyVisible(element, out, style, parentContext, inline);
  emitInFlow(element, out, style, parentContext, inline, true);
}

// The largest pages are tables, so cells and rows skip every check that they do not need.
function walkTablePart(element, out, style, parentContext) {
  if (out.view && out.view.skips(element)) return;
  out.flush();
  emitElement(element, out, style, parentContext, true);
  out.flush();
}

// Links and fields that are shown once they have the focus, and boxes that their labels draw.
function isControl(element) {
  return element.matches("a[href],button,input,select,textarea,summary");
}

function isInlineDisplay(display) {
  return display === "contents" || display === "inline" || display === "ruby";
}

// Returns whether a box shows none of its content; counts elements that may hide a closed shadow root.
function isClosedBox(element, out, style, inline) {
  if (mayHideRoot(element)) out.suspects += 1;
  return !inline && isCollapsedBox(element, style);
}

// Some of it is invisible: a part may still be visible, or it fades in when the page is scrolled to it.
function walkPartlyVisible(element, out, style, parentContext, inline) {
  const muted = style.opacity === "0" && !fadesIn(element, style) ? 1 : 0;
  out.muted += muted;
  emitInFlow(element, out, style, parentContext, inline, style.visibility === "visible");
  out.muted -= muted;
}

// A box without height or width clips all of its content.
function isCollapsedBox(element, style) {
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  return (element.clientHeight === 0 || element.clientWidth === 0) && tagOf(element) !== "body" && element.firstChild;
}

// Content below the fold fades in when the page is scrolled to it. What stays transparent in sight of the reader is hidden.
function fadesIn(element, style) {
  if (!/opacity|all/.test(style.transitionProperty) || !/[1-9]/.test(style.transitionDuration)) return false;
  const { top, bottom, left, right } = element.getBoundingClientRect();
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  return !isInView || element.getAnimations().length > 0;
}

function emitInFlow(element, out, style, parentContext, inline, seen) {
  if (inline) return emitElement(element, out, style, parentContext, seen);
  const isBesideOthers = style.display.startsWith("inline") || parentContext.isFlexRow;
  if (isBesideOthers) out.pad();
  else out.flush();
  emitElement(element, out, style, parentContext, seen);
  if (isBesideOthers) out.pad();
  else out.flush();
}

function emitElement(element, out, style, parentContext, seen) {
  const role = computeRole(element);
  const why = whyActionable(element, role, style, parentContext);
  if (why === "native" && isReplacedByLabel(element)) return;
  if (why && (seen || element.firstElementChild === null)) {
    if (out.view && out.view.skips(element)) return;
    if (seen) emitActionable(element, out, style, role, why);
    return;
  }
  if (tagOf(element) === "label") return emitLabel(element, out, style);
  if (NAMING_TAGS.has(tagOf(element)) && namesParent(element)) return;
  if (seen) emitStatic(element, out, style, role);
  else walkChildren(element, out, style);
}

// A legend or caption is written only as the name of its group.
const NAMING_TAGS = new Set(["legend", "figcaption"]);

function namesParent(element) {
  const parent = domParentOf(element);
  return parent !== null && !nameFromAria(parent) && !hasActionableInside(element) && NAMED_PARENT_TAGS.has(tagOf(parent));
}

const NAMED_PARENT_TAGS = new Set(["fieldset", "figure"]);

// A label is written only as the name of its field.
function emitLabel(label, out, style) {
  const hidden = findReplacedControl(label);
  if (hidden) return emitReplacingLabel(label, hidden, out);
  const control = label.control;
  const named = control && control.type !== "hidden" && isVisible(control) && !isLabelOverridden(control);
  out.muted += named ? 1 : 0;
  walkChildren(label, out, style);
  out.muted -= named ? 1 : 0;
}

function isLabelOverridden(control) {
  return control.hasAttribute("aria-label") || control.hasAttribute("aria-labelledby");
}

function isReplacedByLabel(control) {
  return LABEL_REPLACED_TYPES.has(control.type) && !isVisible(control) && [...control.labels].some(isVisible);
}

const LABEL_REPLACED_TYPES = new Set(["checkbox", "radio", "file"]);

function emitReplacingLabel(label, control, out) {
  const role = computeRole(control);
  const name = nameFromContent(label, control);
  const states = listStates(control, role);
  out.item([role, quote(name), out.refer(label, computeRole(label), name), ...states].join(" "));
}

function emitActionable(element, out, style, role, why) {
  if (role === "link") return emitLink(element, out, style);
  if (FIELD_ROLES.has(role)) return emitField(element, out, style, role);
  if (LEAF_ROLES.has(role) || why === "native") return emitControl(element, out, style, role || tagOf(element));
  if (why === "edit") return emitEditor(element, out, role);
  return emitClickable(element, out, style, role);
}

function emitLink(element, out, style) {
  const name = computeName(element, "link");
  const ref = out.refer(element, "link", name);
  const url = out.urls ? `(${formatLinkAddress(element)})` : "";
  out.put(`[${name ? plainLine(name) : hintForNameless(element)} ${ref}${formatStates(element, "link")}]${url}`);
  emitRemainder(element, name, out, style);
}

function formatLinkAddress(link) {
  const href = link.href?.baseVal ?? link.href ?? "";
  const shown = href.startsWith(`${location.origin}/`) ? href.slice(location.origin.length) : shorten(href, 300);
  return escapeRefs(encodeURI(cleanText(shown)).replace(/%25/g, "%"));
}

function formatStates(element, role) {
  return listStates(element, role).map((state) => ` ${state}`).join("");
}

// Writes visible content of an element that is not in its name: other text, and controls inside.
function emitRemainder(element, name, out, style) {
  if (hasActionableInside(element)) return out.nested(() => walkChildren(element, out, style));
  if (NAMED_BY_CONTENT.has(computeRole(element)) && !element.hasAttribute("aria-label") && !element.hasAttribute("aria-labelledby")) return;
  const text = nameFromContent(element);
  if (text && !name.toLowerCase().includes(text.toLowerCase())) out.item(plainLine(text));
}

function emitControl(element, out, style, role) {
  const nested = hasActionableInside(element);
  const name = nested ? nameFromAria(element) : computeName(element, role);
  const ref = out.refer(element, computeRole(element), computeName(element, role));
  const shown = name ? ` ${quote(name)}` : nested ? "" : ` ${hintForNameless(element)}`;
  out.item(`${role}${shown} ${ref}${formatStates(element, role)}`);
  emitRemainder(element, name, out, style);
}

function nameFromAria(element) {
  return nameFromLabelledBy(element) || collapseSpace(element.getAttribute("aria-label") || "");
}

// Describes a control without a name by its icon, id, class or colour.
function hintForNameless(element) {
  const drawn = element.querySelector?.("img[alt]:not([alt='']), [aria-label]");
  if (drawn) return quote(collapseSpace(drawn.alt || drawn.getAttribute("aria-label")));
  if (element instanceof SVGElement && !idOf(element)) return describeShape(element);
  const paint = readSwatchColor(element);
  return hintFromAttributes(element) + (paint ? ` ${paint}` : "");
}

function hintFromAttributes(element) {
  return escapeRefs(collapseSpace(cleanText(findHint(element))));
}

function findHint(element) {
  if (idOf(element)) return `#${shorten(idOf(element), 40)}`;
  const icon = element.getAttribute("class") || element.firstElementChild?.getAttribute("class") || "";
  return icon.trim() ? `.${shorten(icon.trim().split(/\s+/).pop(), 40)}` : tagOf(element);
}

function emitField(element, out, style, role) {
  const name = computeName(element, role);
  const ref = out.refer(element, role, name);
  const kind = element.type === "password" ? "password" : role;
  const shown = name ? ` ${quote(name)}` : ` ${hintForNameless(element)}`;
  const value = formatValue(element, name, out.valueLimit);
  out.item(`${kind}${shown} ${ref}${value}${formatStates(element, role)}`);
  if (tagOf(element) === "div" && role === "listbox") out.nested(() => walkChildren(element, out, style));
}

function emitEditor(element, out, role) {
  const name = nameFromAria(element);
  const ref = out.refer(element, role, name);
  const text = collapseSpace(element.innerText);
  const shown = text ? ` = ${quote(shorten(text, Math.max(out.valueLimit, 5000)))}` : "";
  out.item(`editor${name ? ` ${quote(name)}` : ""} ${ref}${shown}`);
}

// An element that is clickable only by role, listener or cursor: in angle brackets around its content.
function emitClickable(element, out, style, role) {
  if (isClickableDrawing(element)) return emitShapes(element, out);
  const nested = hasActionableInside(element) || SPREAD_ROLES.has(role) || tagOf(element) === "canvas";
  const given = nested ? "" : computeName(element, role);
  const name = given || (nested ? "" : nameFromContent(element));
  const ref = out.refer(element, role, given || briefContentName(element));
  const word = role && !UNNAMED_ROLES.has(role) ? `${role} ` : "";
  if (!nested) {
    emitCellBorder(role, out);
    const text = name ? plainLine(name) : word ? "" : hintForNameless(element);
    out.item(`<${word}${text}${text ? " " : ""}${ref}${formatStates(element, role)}>`);
    return;
  }
  const label = plainLine(nameFromAria(element)) || (tagOf(element) === "canvas" ? `canvas ${hintForNameless(element)}` : "");
  if (role === "row") out.rowMark = `<${ref}>`;
  else if (role === "listitem") out.pendingMark = `<${ref}>`;
  else out.item(`<${label ? `${label} ` : ""}${ref}${formatStates(element, role)}>`);
  emitStatic(element, out, style, role);
}

const SPREAD_ROLES = new Set(["row", "table", "grid", "list", "main", "dialog"]);
const UNNAMED_ROLES = new Set(["cell", "gridcell", "columnheader", "rowheader", "listitem", "row", "group", "region", "img", "article"]);

function emitStatic(element, out, style, role) {
  if (role === "heading") return emitHeading(element, out, style);
  if (role === "table" || role === "grid" || role === "treegrid") return emitTable(element, out, style, role);
  if (role === "row") return emitRow(element, out, style);
  if (CELL_ROLES.has(role)) return emitCell(element, out, style, role);
  if (role === "listitem") return emitListItem(element, out, style);
  if (role === "img" || role === "canvas" || role === "video" || role === "audio") return emitImage(element, out, style, role);
  if (role === "iframe") return emitFrame(element, out);
  if (role === "progressbar" || role === "meter") return emitGauge(element, out, role);
  if (tagOf(element) === "pre") return emitPre(element, out, style);
  if (tagOf(element) === "details" && !element.open) return emitClosedDetails(element, out, style);
  if (CONTAINERS.has(role)) return emitContainer(element, out, style, role, computeName(element, role));
  if (CONTAINERS_IF_NAMED.has(role)) return emitIfNamed(element, out, style, role);
  return walkChildren(element, out, style);
}

function emitHeading(element, out, style) {
  out.flush();
  out.onOneLine(() => {
    out.item("#".repeat(readHeadingLevel(element)));
    const label = nameFromAria(element);
    if (label && !collapseSpace(element.textContent)) out.text(label);
    else walkChildren(element, out, style);
  });
}

function emitContainer(element, out, style, role, name) {
  out.flush();
  const word = role === "dialog" && element.matches(":modal") ? "modal dialog" : role;
  out.line(name ? `${word} ${quote(name)}` : word);
  const at = out.lines.length;
  out.nested(() => walkChildren(element, out, style));
  if (!out.inline && out.lines.length === at && !name) out.lines.pop();
}

function emitIfNamed(element, out, style, role) {
  const name = role === "list" ? "" : nameFromAria(element) || nameFromMarkup(element);
  if (!name) return role === "list" && isInListItem(element) ? out.nested(() => walkChildren(element, out, style)) : walkChildren(element, out, style);
  emitContainer(element, out, style, role, name);
}

function isInListItem(list) {
  return domParentOf(list)?.localName === "li" && !domParentOf(list).matches("nav li:only-child");
}

function emitListItem(element, out, style) {
  out.flush();
  const { depth } = out;
  const mark = out.pendingMark ? `${out.pendingMark} ` : "";
  out.pendingMark = "";
  if (!out.inline) out.prefix = `- ${mark}`;
  else out.put(mark);
  walkChildren(element, out, style);
  out.flush();
  if (!out.inline) {
    if (out.prefix && mark) out.line("");
    out.prefix = "";
    out.depth = depth;
  }
}

function emitImage(element, out, style, role) {
  if (out.muted) return;
  const name = computeName(element, role);
  if (name) out.item(`(${role} ${quote(name)})`);
  if (tagOf(element) === "svg") return emitSvgContent(element, out, style);
  if (role !== "img" && !name) out.item(`(${role})`);
  if (tagOf(element) !== "img") walkChildren(element, out, style);
}

function emitSvgContent(svg, out, style) {
  if (svg.firstElementChild) walkChildren(svg, out, style);
}

// Python puts the frame's own outline in place of this line.
function emitFrame(element, out) {
  if (out.muted) return;
  const name = collapseSpace(element.title || element.getAttribute("aria-label") || element.name || "");
  out.flush();
  out.line(`iframe${name ? ` ${quote(name)}` : ""}\u0001${refOf(element)}\u0001`);
}

function emitGauge(element, out, role) {
  const name = computeName(element, role);
  const value = element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || String(element.value ?? "");
  out.item(`(${role}${name ? ` ${quote(name)}` : ""}${value ? ` ${plainLine(value)}` : ""})`);
}

function emitPre(element, out, style) {
  if (element.firstElementChild && hasActionableInside(element)) return walkChildren(element, out, style);
  if (out.inline || out.muted) return out.text(readShownText(element));
  out.flush();
  for (const line of cleanText(readShownText(element)).split("\n")) if (line.trim()) out.line(plainRun(line).trimEnd());
}

function emitClosedDetails(element, out, style) {
  const summary = [...element.children].find((child) => tagOf(child) === "summary");
  if (summary) walkElement(summary, out, new ParentContext(style, element));
}
