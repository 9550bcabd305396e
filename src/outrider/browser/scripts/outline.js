// Writes the page as an outline: one walk over what is rendered, in reading order.

const UNRENDERED_TAGS = new Set([
  "script", "style", "noscript", "template", "head", "meta", "link", "title", "base", "datalist", "source", "track",
  "param", "object", "embed", "defs", "symbol", "clippath", "lineargradient", "radialgradient", "filter", "mask",
]);
class OutlineWriter {
  // view: limits the walk to the viewport; valueLimit: characters of values; shown: whether a model will read it.
  // budgetMs: the walk ends after that time, so that a huge page stays usable.
  constructor({ view = null, urls = false, valueLimit = MAX_VALUE_CHARS, shown = true, budgetMs = Infinity } = {}) {
    this.view = view;
    this.deadline = performance.now() + budgetMs;
    this.stopped = false;
    this.urls = urls;
    this.shown = shown;
    this.valueLimit = valueLimit;
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
    this.components = 0;
    this.shadows = 0;
    this.rowMark = "";
    this.pendingMark = "";
    this.containerMark = "";
  }

  // Counts an element; returns false if the walk has to end.
  admit() {
    if (this.stopped) return false;
    const readsClock = this.elements % 200 === 199; // reading it for each element would cost more than the walk
    this.stopped = this.elements >= MAX_ELEMENTS || (readsClock && performance.now() > this.deadline);
    if (!this.stopped) this.elements += 1;
    return !this.stopped;
  }

  // Returns the reference and the states that belong to the next container's line.
  takeContainerMark() {
    const mark = this.containerMark;
    this.containerMark = "";
    return mark;
  }

  text(data) {
    if (this.muted || !data) return;
    this.run.push(data);
    this.needsSpace = !SPACE_CODES.has(data.charCodeAt(data.length - 1));
  }

  // Text painted by a style sheet is separated by a space, because it is often placed elsewhere.
  painted(element, part) {
    const text = readPaintedText(element, part);
    if (!text || this.muted) return;
    this.pad();
    this.text(text);
    this.needsSpace = true;
  }

  put(text) {
    if (!text) return;
    this.endRun();
    this.parts.push(text);
    this.needsSpace = true;
  }

  // Adjacent texts are escaped together, because a reference may be spread over several.
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

  refer(element) {
    const ref = refOf(element);
    this.count += 1;
    if (this.shown) recordShown(ref, element);
    return ref;
  }
}

// No space is needed after a space or an opening bracket.
const SPACE_CODES = new Set([..." \n\t\r\f\u00a0(["].map((character) => character.charCodeAt(0)));

// \u0001 marks the place of a frame, so remove it from text of the page.
function collapseLine(text) {
  return text.replace(/[\s\u0001]+/g, " ").trim();
}

// Styles of an element that affect its children, read on first use.
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
  const isPainted = hasPaintedElements && paintedElements.has(element);
  if (isPainted) out.painted(element, "::before");
  walkNodes(element, out, new ParentContext(style, element));
  if (isPainted) out.painted(element, "::after");
  out.level -= 1;
}

function walkNodes(element, out, parentContext) {
  if (tagOf(element) === "slot" || shadowOf(element)) {
    out.shadows += 1;
    if (shadowOf(element)) searchStyledElements(shadowOf(element));
    for (const child of childrenOf(element)) walkChild(child, out, parentContext);
    return;
  }
  for (let child = firstChildOf(element); child; child = child.nextSibling) walkChild(child, out, parentContext);
}

function walkChild(child, out, parentContext) {
  if (nodeTypeOf(child) === Node.TEXT_NODE) {
    if (parentContext.visible) out.text(child.data);
  } else if (nodeTypeOf(child) === Node.ELEMENT_NODE) {
    walkElement(child, out, parentContext);
  }
}

const VISIBILITY_OPTIONS = { visibilityProperty: true, opacityProperty: true };
const TABLE_PART_TAGS = new Set(["td", "tr", "th", "tbody", "thead"]);

function walkElement(element, out, parentContext) {
  const tag = tagOf(element);
  if (UNRENDERED_TAGS.has(tag) || !out.admit()) return;
  if (tag === "br") return out.flush();
  const style = getComputedStyle(element);
  const seen = checkVisibilityOf(element, VISIBILITY_OPTIONS);
  if (seen && TABLE_PART_TAGS.has(tag)) return walkTablePart(element, out, style, parentContext);
  const display = style.display;
  if (tag === "input" && element.type === "file" && isHiddenFileField(element, style)) return emitHiddenFileField(element, out);
  if (display === "none" || style.contentVisibility === "hidden") return;
  const inline = isInlineDisplay(display);
  if (isClosedBox(element, out, style, inline)) return emitClippedFields(element, out);
  if (isClippedAway(element, style, display) && !(isControl(element) && isScreenReaderText(element))) return emitClippedFields(element, out);
  if (out.view && !inline && out.view.skips(element)) return;
  if (!seen) return walkPartlyVisible(element, out, style, parentContext, inline);
  emitInFlow(element, out, style, parentContext, inline, true);
}

// The largest pages are tables, so cells and rows skip all unnecessary checks.
function walkTablePart(element, out, style, parentContext) {
  if (out.view && out.view.skips(element)) return;
  out.flush();
  emitElement(element, out, style, parentContext, true);
  out.flush();
}

// Libraries draw a thumb, a star, a list or lines of code around a field for keys and screen readers only.
function emitClippedFields(box, out) {
  if (out.muted || !firstElementOf(box)) return;
  for (const field of selectAll(box, `input[type=range],input[role=combobox],textarea,${TOGGLE_SELECTOR}`)) {
    const needsDrawing = tagOf(field) === "textarea" || isToggle(field);
    if (field.tabIndex < 0 || !checkVisibilityOf(field) || isReplacedByLabel(field) || (needsDrawing && !findStandIn(field, { reach: false }))) continue;
    if (isToggle(field)) emitControl(field, out, getComputedStyle(field), computeRole(field));
    else emitField(field, out, getComputedStyle(field), computeRole(field));
  }
}

// Links and fields that are shown once they have the focus, and boxes that their labels draw.
function isControl(element) {
  return matchesSelector(element, "a[href],button,input,select,textarea,summary");
}

function isInlineDisplay(display) {
  return display === "contents" || display === "inline" || display === "ruby";
}

// Returns whether a box shows none of its content; counts elements that may have a closed shadow root or a role.
function isClosedBox(element, out, style, inline) {
  if (mayHideRoot(element)) out.suspects += 1;
  if (mayHaveInternals(element)) out.components += 1;
  return !inline && isCollapsedBox(element, style);
}

// If it is invisible, a part may still be visible, or it may fade in when the page is scrolled to it.
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

// Content below the fold may fade in when the page is scrolled to it. Content that stays transparent in the viewport is
// hidden.
function fadesIn(element, style) {
  if (!/opacity|all/.test(style.transitionProperty) || !/[1-9]/.test(style.transitionDuration)) return false;
  const { top, bottom, left, right } = rectOf(element);
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
  if (why === "native" && (isReplacedByLabel(element) || isDuplicateField(element, style))) return;
  if (tagOf(element) === "label" && (!why || actsForControl(element))) return emitLabel(element, out, style);
  if (why && (seen || (firstElementOf(element) === null && !shadowOf(element)))) {
    if (out.view && out.view.skips(element)) return;
    if (seen && isEmptySpot(element, why)) emitPaintedThumb(element, out);
    else if (seen && !isRepeatedHandle(element, style)) emitActionable(element, out, style, role, why);
    return;
  }
  if (NAMING_TAGS.has(tagOf(element)) && namesParent(element)) return;
  if (!seen) return walkChildren(element, out, style);
  if (scrollsContent(element, style)) out.item(`<scrollable ${out.refer(element)}>`);
  emitStatic(element, out, style, role);
}

const MIN_SCROLL_PX = 40;

// A scrollable box may load more content when it is scrolled.
function scrollsContent(element, style) {
  if (TABLE_PART_TAGS.has(tagOf(element)) || style.overflowX === "visible") return false;
  const { overflowX, overflowY } = style;
  const scrollsDown = (overflowY === "auto" || overflowY === "scroll") && element.scrollHeight - element.clientHeight > MIN_SCROLL_PX;
  const scrollsAcross = (overflowX === "auto" || overflowX === "scroll") && element.scrollWidth - element.clientWidth > MIN_SCROLL_PX;
  return (scrollsDown || scrollsAcross) && element !== bodyOf(document) && !isRowPart(computeRole(element));
}

function isRowPart(role) {
  return role === "listitem" || role === "row" || CELL_ROLES.has(role);
}

// Focus guards, and the empty roots that libraries append for pop-ups, have no size while they show nothing.
function isEmptySpot(element, why) {
  if ((why !== "handler" && why !== "focus") || isVisible(element) || shadowOf(element)) return false;
  if (element instanceof SVGElement || getComputedStyle(element).display === "contents") return false;
  return (element.innerText ?? "").trim() === "" && ![...element.getElementsByTagName("*")].some((each) => isVisible(each) || shadowOf(each));
}

// A style sheet may paint the thumb of a slider next to the zero-size box that takes the keys.
function emitPaintedThumb(box, out) {
  const field = [...selectAll(box, "input[type=range]")].find((each) => findThumb(each) === box);
  const isPainted = (style) => isGenerated(style.content) && parseFloat(style.width) > 1 && parseFloat(style.height) > 1;
  if (!field || !["::before", "::after"].some((part) => isPainted(getComputedStyle(box, part)))) return;
  emitField(field, out, getComputedStyle(field), computeRole(field));
}

const MAX_HANDLE_PX = 12;

// Grids repeat the handles that resize their columns in each data row; some are only recognizable by the cursor over
// them.
function isRepeatedHandle(element, style) {
  if (element.firstChild !== null || !(style.cursor.endsWith("-resize") || grabbedElements.has(element))) return false;
  if (rectOf(element).width > MAX_HANDLE_PX) return false;
  const row = closestOf(element, "tr,[role=row]");
  return row !== null && selectFirst(row, "th,[role=columnheader]") === null;
}

// A legend or caption is only written as the name of its group.
const NAMING_TAGS = new Set(["legend", "figcaption"]);

function namesParent(element) {
  const parent = domParentOf(element);
  return parent !== null && !nameFromAria(parent) && !hasActionableInside(element) && NAMED_PARENT_TAGS.has(tagOf(parent));
}

const NAMED_PARENT_TAGS = new Set(["fieldset", "figure"]);

// A label is only written as the name of its field.
function emitLabel(label, out, style) {
  const hidden = findReplacedControl(label);
  if (hidden && checkVisibilityOf(label, { visibilityProperty: true })) return emitReplacingLabel(label, hidden, out, style);
  const control = findNamedControl(label);
  const isNamed = control && control.type !== "hidden" && isControlShown(control) && !isLabelOverridden(control, label);
  const named = isNamed && !isDuplicateField(control, getComputedStyle(control));
  out.muted += named ? 1 : 0;
  walkChildren(label, out, style);
  out.muted -= named ? 1 : 0;
  const more = named && mayShowMore(label) ? readUnnamedText(label, `${computeName(control)} ${readValue(control)}`) : "";
  if (more) out.item(plainLine(more));
}

// The outline does not name a web component, but the control inside it.
function findNamedControl(label) {
  const { control } = label;
  return control && tagOf(control).includes("-") && !internalsOf.has(control) ? findInnerControl(control) : control;
}

// A press on a label with a listener still acts on its control, which then has the reference.
function actsForControl(label) {
  const { control } = label;
  return control !== null && attributeOf(label, "role") === null && (findReplacedControl(label) !== null || isControlShown(control));
}

function isLabelOverridden(control, label) {
  if (hasAttribute(control, "aria-labelledby")) return !listReferences(control, "aria-labelledby").some((each) => containsNode(label, each));
  return hasAttribute(control, "aria-label") && readAriaLabel(control) !== collapseSpace(textContentOf(label));
}

function isReplacedByLabel(control) {
  return LABEL_REPLACED_TYPES.has(control.type) && !isControlShown(control) && [...control.labels].some(isVisible);
}

// Component libraries send a form's value from a transparent or clipped field that users cannot reach.
function isDuplicateField(element, style) {
  if (element.tabIndex >= 0 || element.type === "file") return false;
  if (attributeOf(element, "aria-hidden") === "true" && style.opacity === "0") return true;
  return VALUE_FIELD_ROLES.has(computeRole(element)) && isClippedAway(element, style);
}

const VALUE_FIELD_ROLES = new Set(["textbox", "combobox", "listbox"]);

const LABEL_REPLACED_TYPES = new Set(["checkbox", "radio", "file"]);

// A card that is hidden from screen readers still shows a text.
function readBriefText(element) {
  return shorten(collapseSpace(readShownText(element)), 200);
}

// Libraries draw their own check box next to the hidden one that sends its value.
function findDrawnToggle(label, control) {
  const others = [...selectAll(label, ACTIONABLE_SELECTOR)].filter((each) => each !== control && isVisible(each));
  return others.length === 1 && DRAWN_TOGGLE_ROLES.has(attributeOf(others[0], "role")) ? others[0] : null;
}

const DRAWN_TOGGLE_ROLES = new Set(["checkbox", "radio", "switch"]);

function emitReplacingLabel(label, control, out, style) {
  const toggle = findDrawnToggle(label, control);
  if (toggle) return emitDrawnToggle(toggle, label, out);
  const role = computeRole(control);
  const nested = holdsControls(label, control);
  const name = nested ? nameFromAria(control) : nameFromContent(label, control) || computeName(control) || readBriefText(label);
  const shown = name ? ` ${quote(name)}` : nested ? "" : ` ${hintForNameless(label)}`;
  const ref = out.refer(label);
  out.item(`${role}${shown} ${ref}${formatStates(control, role)}`);
  if (nested) out.nested(() => walkChildren(label, out, style));
}

function emitDrawnToggle(toggle, label, out) {
  const role = computeRole(toggle);
  const name = nameFromAria(toggle) || nameFromContent(label, toggle) || readBriefText(label);
  const ref = out.refer(toggle);
  out.item(`${role} ${name ? quote(name) : hintForNameless(toggle)} ${ref}${formatStates(toggle, role)}`);
}
