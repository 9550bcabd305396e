// The page as lines: one walk over what is rendered, in reading order.

const UNREAD = new Set([
  "script", "style", "noscript", "template", "head", "meta", "link", "title", "base", "datalist", "source", "track",
  "param", "object", "embed", "defs", "symbol", "clippath", "lineargradient", "radialgradient", "filter", "mask",
]);
const CONTAINERS = new Set([
  "main", "nav", "header", "footer", "aside", "search", "dialog", "alertdialog", "alert", "menu", "menubar", "tablist",
  "toolbar", "tree", "radiogroup", "tabpanel", "feed", "log", "figure", "article",
]);
const CONTAINERS_IF_NAMED = new Set(["form", "region", "group", "list", "status"]);
const FLAT = new Set([
  "button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "checkbox", "radio", "switch", "treeitem",
]);
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;
const JOINERS = /(?<![\u0300-\u{10ffff}])[\u200c\u200d]|[\u200c\u200d](?![\u0300-\u{10ffff}])/gu;

class Outline {
  constructor({ view = null, urls = false, whole = false, telling = true } = {}) {
    this.view = view;
    this.urls = urls;
    this.telling = telling;
    this.valueLimit = whole ? 5000 : SHOWN_VALUE;
    this.lines = [];
    this.parts = [];
    this.open = false;
    this.prefix = "";
    this.depth = 0;
    this.inline = 0;
    this.muted = 0;
    this.cells = 0;
    this.count = 0;
    this.level = 0;
    this.seen = null;
    this.layout = false;
    this.elements = 0;
    this.suspects = 0;
    this.shadows = 0;
    this.rowMark = "";
    this.pendingMark = "";
  }

  text(data) {
    if (this.muted || !data) return;
    this.parts.push(data);
    this.open = !BREAKING.has(data.charCodeAt(data.length - 1));
  }

  put(text) {
    this.parts.push(text);
    this.open = true;
  }

  // Something that is no text: parted by blanks from what stands around it.
  item(text) {
    this.pad();
    this.parts.push(text, " ");
    this.open = false;
  }

  pad() {
    if (!this.open) return;
    this.parts.push(" ");
    this.open = false;
  }

  // The end of a line, or of a word where everything shares one.
  flush() {
    if (this.inline) return this.pad();
    if (!this.parts.length) return;
    const text = tidy(this.parts.join(""));
    this.parts = [];
    this.open = false;
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
    if (this.telling) remember(ref, role, name);
    return ref;
  }
}

// A blank or an opening bracket needs no further blank after it.
const BREAKING = new Set([..." \n\t\r\f\u00a0(["].map((sign) => sign.charCodeAt(0)));

// \u0001 marks the place of a frame; a page may not write it.
function tidy(text) {
  return text.replace(/[\s\u0001]+/g, " ").trim();
}

// What children must know of the element around them, read when first asked for.
class Around {
  constructor(style, sight) {
    this.style = style;
    this.sight = sight;
    this.hand = undefined;
    this.row = undefined;
  }

  get visible() {
    return (this.sight ??= this.style.visibility === "visible");
  }

  get cursor() {
    return (this.hand ??= this.style.cursor);
  }

  // Blocks begin a line, except where they stand side by side in a row.
  get beside() {
    return (this.row ??= this.style.display.endsWith("flex") && this.style.flexDirection.startsWith("row"));
  }
}

// A page may be nested or grow without end; an outline may not.
const DEEPEST_WALK = 250;
const MOST_ELEMENTS = 300_000;

function walkChildren(element, out, style) {
  if (out.level >= DEEPEST_WALK) return out.text(element.textContent);
  out.level += 1;
  walkEach(element, out, new Around(style, out.seen === element ? true : undefined));
  out.level -= 1;
}

function walkEach(element, out, around) {
  if (tagOf(element) === "slot" || shadowOf(element)) {
    out.shadows += 1;
    for (const child of childrenOf(element)) walkChild(child, out, around);
    return;
  }
  for (let child = firstChildOf(element); child; child = child.nextSibling) walkChild(child, out, around);
}

function walkChild(child, out, around) {
  if (child.nodeType === Node.TEXT_NODE) {
    if (around.visible) out.text(child.data);
  } else if (child.nodeType === Node.ELEMENT_NODE) {
    walk(child, out, around);
  }
}

const SIGHT = { visibilityProperty: true, opacityProperty: true };
const TABLE_PARTS = new Set(["td", "tr", "th", "tbody", "thead"]);

function walk(element, out, around) {
  const tag = tagOf(element);
  if (UNREAD.has(tag) || ++out.elements > MOST_ELEMENTS) return;
  if (tag === "br") return out.flush();
  const style = getComputedStyle(element);
  const seen = element.checkVisibility(SIGHT);
  if (seen && TABLE_PARTS.has(tag)) return walkPart(element, out, style, around);
  const display = style.display;
  if (display === "none") return;
  const inline = isInline(display);
  if (isShut(element, out, style, inline)) return;
  if (out.view && !inline && out.view.skips(element)) return;
  if (!seen) return dimly(element, out, style, around, inline);
  out.seen = element;
  placed(element, out, style, around, inline, true);
}

// Tables are where pages are largest: nothing is asked for that a cell or row does not need.
function walkPart(element, out, style, around) {
  if (out.view && out.view.skips(element)) return;
  out.seen = element;
  out.flush();
  emit(element, out, style, around, true);
  out.flush();
}

function isInline(display) {
  return display === "contents" || display === "inline" || display === "ruby";
}

// Boxes that show nothing of what is in them; and custom elements whose inside must be asked for.
function isShut(element, out, style, inline) {
  if (mayHide(element)) out.suspects += 1;
  return !inline && isFolded(element, style);
}

// Not all of it can be seen: a part of it may, or it is only drawn when the page comes to it.
function dimly(element, out, style, around, inline) {
  if (style.contentVisibility === "hidden") return;
  const muted = style.opacity === "0" && !fadesIn(style) ? 1 : 0;
  out.muted += muted;
  placed(element, out, style, around, inline, style.visibility === "visible");
  out.muted -= muted;
}

// A box folded to nothing shows nothing of what overflows it.
function isFolded(element, style) {
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  return (element.clientHeight === 0 || element.clientWidth === 0) && tagOf(element) !== "body" && element.firstChild;
}

function fadesIn(style) {
  return /opacity|all/.test(style.transitionProperty) && /[1-9]/.test(style.transitionDuration);
}

function placed(element, out, style, around, inline, seen) {
  if (inline) return emit(element, out, style, around, seen);
  const beside = style.display.startsWith("inline") || around.beside;
  if (beside) out.pad();
  else out.flush();
  emit(element, out, style, around, seen);
  if (beside) out.pad();
  else out.flush();
}

function emit(element, out, style, around, seen) {
  const role = roleOf(element);
  const why = actionable(element, role, style, around);
  if (why === "native" && isStoodFor(element)) return;
  if (why && (seen || element.firstElementChild === null)) {
    if (out.view && out.view.skips(element)) return;
    if (seen) emitActionable(element, out, style, role, why);
    return;
  }
  if (tagOf(element) === "label") return emitLabel(element, out, style);
  if (NAMING.has(tagOf(element)) && namesParent(element)) return;
  if (seen) emitStatic(element, out, style, role);
  else walkChildren(element, out, style);
}

// A legend or caption is told once: as the name of its group.
const NAMING = new Set(["legend", "figcaption"]);

function namesParent(element) {
  const parent = plainParentOf(element);
  return parent !== null && !ownName(parent) && !hasNested(element) && NAMED_PARENTS.has(tagOf(parent));
}

const NAMED_PARENTS = new Set(["fieldset", "figure"]);

// A label is told once: as the name of its field.
function emitLabel(label, out, style) {
  const hidden = standsFor(label);
  if (hidden) return emitStandIn(label, hidden, out);
  const control = label.control;
  const named = control && control.type !== "hidden" && isSeen(control) && !labelOverruled(control);
  out.muted += named ? 1 : 0;
  walkChildren(label, out, style);
  out.muted -= named ? 1 : 0;
}

function labelOverruled(control) {
  return control.hasAttribute("aria-label") || control.hasAttribute("aria-labelledby");
}

function isStoodFor(control) {
  return TICKED.has(control.type) && !isSeen(control) && [...control.labels].some(isSeen);
}

const TICKED = new Set(["checkbox", "radio", "file"]);

function emitStandIn(label, control, out) {
  const role = roleOf(control);
  const name = contentName(label, control);
  const states = statesOf(control, role);
  out.item([role, quoted(name), out.refer(label, roleOf(label), name), ...states].join(" "));
}

function emitActionable(element, out, style, role, why) {
  if (role === "link") return emitLink(element, out, style);
  if (FIELD_ROLES.has(role)) return emitField(element, out, style, role);
  if (FLAT.has(role) || why === "native") return emitControl(element, out, style, role || tagOf(element));
  if (why === "edit") return emitEditor(element, out, style, role);
  return emitClickable(element, out, style, role);
}

function emitLink(element, out, style) {
  const name = nameOf(element, "link");
  const ref = out.refer(element, "link", name);
  const url = out.urls ? `(${address(element)})` : "";
  out.put(`[${name || hintOf(element)} ${ref}${stateWords(element, "link")}]${url}`);
  emitUnnamed(element, name, out, style);
}

function address(link) {
  const href = link.href?.baseVal ?? link.href ?? "";
  return href.startsWith(`${location.origin}/`) ? href.slice(location.origin.length) : shorten(href, 300);
}

function stateWords(element, role) {
  return statesOf(element, role).map((state) => ` ${state}`).join("");
}

// What can be seen on an element but is not in its name: other text, and controls within it.
function emitUnnamed(element, name, out, style) {
  if (hasNested(element)) return out.nested(() => walkChildren(element, out, style));
  if (NAMED_BY_CONTENT.has(roleOf(element)) && !element.hasAttribute("aria-label") && !element.hasAttribute("aria-labelledby")) return;
  const text = contentName(element);
  if (text && !name.toLowerCase().includes(text.toLowerCase())) out.item(text);
}

function emitControl(element, out, style, role) {
  const nested = hasNested(element);
  const name = nested ? ownName(element) : nameOf(element, role);
  const ref = out.refer(element, roleOf(element), nameOf(element, role));
  const shown = name ? ` ${quoted(name)}` : nested ? "" : ` ${hintOf(element)}`;
  out.item(`${role}${shown} ${ref}${stateWords(element, role)}`);
  emitUnnamed(element, name, out, style);
}

function ownName(element) {
  return labelledBy(element) || collapse(element.getAttribute("aria-label") || "");
}

// Something to recognise a nameless control by.
function hintOf(element) {
  const drawn = element.querySelector?.("img[alt]:not([alt='']), [aria-label]");
  if (drawn) return quoted(collapse(drawn.alt || drawn.getAttribute("aria-label")));
  if (element instanceof SVGElement && !idOf(element)) return shapeWords(element);
  const paint = swatchOf(element);
  return plainHint(element) + (paint ? ` ${paint}` : "");
}

function plainHint(element) {
  if (idOf(element)) return `#${shorten(idOf(element), 40)}`;
  const icon = element.getAttribute("class") || element.firstElementChild?.getAttribute("class") || "";
  return icon.trim() ? `.${shorten(icon.trim().split(/\s+/).pop(), 40)}` : tagOf(element);
}

function emitField(element, out, style, role) {
  const name = nameOf(element, role);
  const ref = out.refer(element, role, name);
  const word = element.type === "password" ? "password" : role;
  const shown = name ? ` ${quoted(name)}` : ` ${hintOf(element)}`;
  const value = valuePart(element, role, name, out.valueLimit);
  out.item(`${word}${shown} ${ref}${value}${stateWords(element, role)}`);
  if (tagOf(element) === "div" && role === "listbox") out.nested(() => walkChildren(element, out, style));
}

function emitEditor(element, out, style, role) {
  const name = ownName(element);
  const ref = out.refer(element, role, name);
  const text = collapse(element.innerText);
  const shown = text ? ` = ${quoted(shorten(text, Math.max(out.valueLimit, 5000)))}` : "";
  out.item(`editor${name ? ` ${quoted(name)}` : ""} ${ref}${shown}`);
}

// Clickable for other reasons than its kind: in angle brackets around what it says.
function emitClickable(element, out, style, role) {
  if (isClickableDrawing(element)) return emitShapes(element, out);
  const nested = hasNested(element) || SPREAD.has(role) || tagOf(element) === "canvas";
  const given = nested ? "" : nameOf(element, role);
  const name = given || (nested ? "" : contentName(element));
  const ref = out.refer(element, role, given || briefContent(element));
  const word = role && !PLAIN.has(role) ? `${role} ` : "";
  if (!nested) {
    cellBorder(role, out);
    const text = name || (word ? "" : hintOf(element));
    out.item(`<${word}${text}${text ? " " : ""}${ref}${stateWords(element, role)}>`);
    return;
  }
  const label = ownName(element) || (tagOf(element) === "canvas" ? `canvas ${hintOf(element)}` : "");
  if (role === "row") out.rowMark = `<${ref}>`;
  else if (role === "listitem") out.pendingMark = `<${ref}>`;
  else out.item(`<${label ? `${label} ` : ""}${ref}${stateWords(element, role)}>`);
  emitStatic(element, out, style, role);
}

const SPREAD = new Set(["row", "table", "grid", "list", "main", "dialog"]);
const PLAIN = new Set(["cell", "gridcell", "columnheader", "rowheader", "listitem", "row", "group", "region", "img", "article"]);

function emitStatic(element, out, style, role) {
  if (role === "heading") return emitHeading(element, out, style);
  if (role === "table" || role === "grid" || role === "treegrid") return emitTable(element, out, style, role);
  if (role === "row") return emitRow(element, out, style);
  if (CELLS.has(role)) return emitCell(element, out, style, role);
  if (role === "listitem") return emitListItem(element, out, style);
  if (role === "img" || role === "canvas" || role === "video" || role === "audio") return emitImage(element, out, style, role);
  if (role === "iframe") return emitFrame(element, out);
  if (role === "progressbar" || role === "meter") return emitGauge(element, out, role);
  if (tagOf(element) === "pre") return emitPre(element, out, style);
  if (tagOf(element) === "details" && !element.open) return emitClosedDetails(element, out, style);
  if (CONTAINERS.has(role)) return emitContainer(element, out, style, role, nameOf(element, role));
  if (CONTAINERS_IF_NAMED.has(role)) return emitIfNamed(element, out, style, role);
  return walkChildren(element, out, style);
}

function emitHeading(element, out, style) {
  out.flush();
  out.onOneLine(() => {
    out.item("#".repeat(headingLevel(element)));
    const label = ownName(element);
    if (label && !collapse(element.textContent)) out.text(label);
    else walkChildren(element, out, style);
  });
}

function emitContainer(element, out, style, role, name) {
  out.flush();
  const word = role === "dialog" && element.matches(":modal") ? "modal dialog" : role;
  out.line(name ? `${word} ${quoted(name)}` : word);
  const at = out.lines.length;
  out.nested(() => walkChildren(element, out, style));
  if (!out.inline && out.lines.length === at && !name) out.lines.pop();
}

function emitIfNamed(element, out, style, role) {
  const name = role === "list" ? "" : ownName(element) || nativeName(element);
  if (!name) return role === "list" && insideItem(element) ? out.nested(() => walkChildren(element, out, style)) : walkChildren(element, out, style);
  emitContainer(element, out, style, role, name);
}

function insideItem(list) {
  return plainParentOf(list)?.localName === "li" && !plainParentOf(list).matches("nav li:only-child");
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
  const name = nameOf(element, role);
  if (name) out.item(`(${role} ${quoted(name)})`);
  if (tagOf(element) === "svg") return emitDrawing(element, out, style);
  if (role !== "img" && !name) out.item(`(${role})`);
  if (tagOf(element) !== "img") walkChildren(element, out, style);
}

function emitDrawing(svg, out, style) {
  if (svg.firstElementChild) walkChildren(svg, out, style);
}

// The frame's own outline is put in this line's place by whoever can see into it.
function emitFrame(element, out) {
  const name = collapse(element.title || element.getAttribute("aria-label") || element.name || "");
  out.flush();
  out.line(`iframe${name ? ` ${quoted(name)}` : ""}\u0001${refOf(element)}\u0001`);
}

function emitGauge(element, out, role) {
  const name = nameOf(element, role);
  const value = element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || String(element.value ?? "");
  out.item(`(${role}${name ? ` ${quoted(name)}` : ""}${value ? ` ${value}` : ""})`);
}

function emitPre(element, out, style) {
  if (element.firstElementChild && hasNested(element)) return walkChildren(element, out, style);
  if (out.inline || out.muted) return out.text(element.textContent);
  out.flush();
  for (const line of element.textContent.split("\n")) if (line.trim()) out.line(line.replace(/\u0001/g, "").trimEnd());
}

function emitClosedDetails(element, out, style) {
  const summary = [...element.children].find((child) => tagOf(child) === "summary");
  if (summary) walk(summary, out, new Around(style));
}
