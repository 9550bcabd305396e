// Writes actionable elements, each with its reference, its value and content that is not in its name.

const LEAF_ROLES = new Set([
  "button", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "checkbox", "radio", "switch", "treeitem",
]);

function emitActionable(element, out, style, role, why) {
  if (role === "link") return emitLink(element, out, style);
  if (role === "listbox" && tagOf(element) !== "select" && attributeOf(element, "aria-expanded") !== "false") return emitClickableContainer(element, out, style, role);
  if (FIELD_ROLES.has(role)) return emitField(element, out, style, role);
  if (LEAF_ROLES.has(role) || why === "native") return emitControl(element, out, style, role || tagOf(element));
  if (why === "edit") return emitEditor(element, out, role);
  return emitClickable(element, out, style, role);
}

function emitLink(element, out, style) {
  const name = computeName(element, "link");
  const ref = out.refer(element);
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
  const states = listStates(element, role).map((state) => ` ${state}`).join("");
  return hoverOpeners.has(element) ? `${states} opens on hover` : states;
}

// Writes visible content of an element that is not in its name: other text, and controls inside.
function emitRemainder(element, name, out, style) {
  if (hasActionableInside(element)) return out.nested(() => walkChildren(element, out, style));
  emitUnnamedText(element, name, out);
}

function emitControl(element, out, style, role) {
  const nested = holdsOtherTargets(element, role);
  const name = nested ? nameFromAria(element) : computeName(element, role) || (tagOf(element) === "button" ? nameFromContent(element) : "");
  const ref = out.refer(element);
  const shown = name ? ` ${quote(name)}` : nested ? "" : ` ${hintForNameless(element)}`;
  out.item(`${role}${shown} ${ref}${formatStates(element, role)}`);
  if (nested) out.nested(() => walkChildren(element, out, style));
  else emitUnnamedText(element, name, out);
}

// Returns whether something inside can be pressed for another purpose than the control itself. A listener inside a
// native button or an option acts for it, and so does one that fills its control.
function holdsOtherTargets(element, role) {
  if (holdsControls(element)) return true;
  if (tagOf(element) === "button" || role === "option" || !hasActionableInside(element)) return false;
  const readText = (each) => (crossesShadow(each) ? nameFromContent(each) : collapseSpace(textContentOf(each)));
  const text = readText(element);
  for (const each of iterElements(element)) {
    if (each === element || !listeningElements.has(each) || !isVisible(each)) continue;
    if (!fillsBox(each, element) && (!text || readText(each) !== text)) return true;
  }
  return false;
}

function emitUnnamedText(element, name, out) {
  const text = mayShowMore(element) ? readUnnamedText(element, name) : "";
  if (text) out.item(plainLine(text));
}

function nameFromAria(element) {
  return nameFromLabelledBy(element) || collapseSpace(attributeOf(element, "aria-label") || "");
}

// Describes a control without a name by its icon, id, class or colour.
function hintForNameless(element) {
  const drawn = findNamedPart(element);
  if (drawn) return quote(collapseSpace(drawn.alt || attributeOf(drawn, "aria-label")));
  const faded = readTransparentText(element);
  if (faded) return quote(faded);
  if (element instanceof SVGElement && !idOf(element) && !isIcon(element)) return describeShape(element);
  const paint = readSwatchColor(element);
  return hintFromAttributes(element) + (paint ? ` ${paint}` : "");
}

// The picture or labelled part in it, but not a control such as the button that clears a list.
function findNamedPart(element) {
  const isOwn = (part) => {
    const control = closestOf(part, ACTIONABLE_SELECTOR);
    return control === null || control === element || !containsNode(element, control);
  };
  return [...selectAll(element, "img[alt]:not([alt='']), [aria-label]")].find(isOwn);
}

// Labels that appear under the pointer, or when a bar is unfolded, name a control before that too.
function readTransparentText(element) {
  const isFaded = (part) => getComputedStyle(part).opacity === "0" && checkVisibilityOf(part) && attributeOf(part, "aria-hidden") !== "true";
  const parts = [...elementsOf(element)].filter(isFaded);
  return parts.length === 1 ? shorten(nameFromContent(parts[0]), MAX_SCREEN_READER_CHARS) : "";
}

function hintFromAttributes(element) {
  return escapeRefs(collapseSpace(cleanText(findHint(element))));
}

function findHint(element) {
  if (idOf(element) && !GENERATED_ID.test(idOf(element))) return `#${shorten(idOf(element), 40)}`;
  if (tagOf(element).includes("-")) return tagOf(element); // the tag of a web component describes it
  const name = findRarestClass(element) || (firstElementOf(element) && findRarestClass(firstElementOf(element)));
  return name ? `.${shorten(name, 40)}` : tagOf(element);
}

// Frameworks number such ids, or choose them at random for each page.
const GENERATED_ID = /:|[0-9a-f]{4}-[0-9a-f]{4}|_r_\w+_/i;

// The rarest class describes an element best, because libraries give all of their buttons the same classes.
function findRarestClass(element) {
  const readable = [...classListOf(element)].filter((each) => !HASHED_CLASS.test(each)).reverse();
  const shared = readable.map((each) => document.getElementsByClassName(each).length);
  return readable[shared.indexOf(Math.min(...shared))] || classListOf(element)[classListOf(element).length - 1] || "";
}

const HASHED_CLASS = /\d.*\d|^css-|[A-Z].*\d|\d.*[A-Z]/;

function emitField(element, out, style, role) {
  const name = computeName(element, role);
  const ref = out.refer(element);
  const kind = element.type === "password" ? "password" : role;
  const value = formatFieldValue(element, name, out.valueLimit);
  const shown = ` ${name ? quote(name) : hintFromAttributes(element)}`;
  out.item(`${kind}${shown} ${ref}${value}${formatCut(element, ref, out.valueLimit)}${formatStates(element, role)}`);
  if (NATIVE_FIELD_TAGS.has(tagOf(element))) return;
  if (isEditingHost(element)) return emitControlsInText(element, out);
  if (holdsControls(element)) return out.nested(() => walkChildren(element, out, style));
  const text = value ? readUnnamedText(element, `${name} ${value}`) : "";
  if (text) out.item(plainLine(text));
}

// Task lists and embedded parts of an edited text are separate controls; its links are text.
function emitControlsInText(editor, out) {
  const hasControlRole = (each) => LEAF_ROLES.has(computeRole(each)) || FIELD_ROLES.has(computeRole(each));
  const isPressed = (each) => listeningElements.has(each) && !hasActionableInside(each);
  const controls = [...selectAll(editor, ACTIONABLE_SELECTOR)].filter((each) => isVisible(each) && !each.isContentEditable && (hasControlRole(each) || isPressed(each)));
  const emit = (each) => emitActionable(each, out, getComputedStyle(each), computeRole(each), "native");
  if (controls.length) out.nested(() => controls.forEach(emit));
}

const NATIVE_FIELD_TAGS = new Set(["input", "select", "textarea"]);

// A field drawn by the page, such as a button that opens a list, shows its value as its text.
function formatFieldValue(element, name, limit) {
  const value = formatValue(element, name, limit);
  if (value || NATIVE_FIELD_TAGS.has(tagOf(element)) || holdsControls(element)) return value;
  const text = nameFromAria(element) ? readTextBesideName(element, name) : readUnnamedText(element, name);
  return text ? ` = ${quote(shorten(text, limit))}` : "";
}

// A floating label repeats the name above the value.
function readTextBesideName(element, name) {
  const pieces = [];
  gatherShownPieces(element, pieces, 0);
  const others = pieces.filter((piece) => piece !== name);
  return collapseSpace((others.some((piece) => /[\p{L}\p{N}]/u.test(piece)) ? others : pieces).join(" "));
}

// Write the number of omitted characters, and the call that shows them.
function formatCut(element, ref, limit) {
  const isField = tagOf(element) === "textarea" || tagOf(element) === "input";
  const length = isField ? element.value.length : isEditingHost(element) ? collapseSpace(element.innerText).length : 0;
  if (length <= limit || isSecret(element)) return "";
  return limit < MAX_ROOT_VALUE_CHARS ? ` (${length} characters: root=${ref})` : ` (${length} characters)`;
}

// Pages hide the field behind a button, which only opens a dialog of the browser; uploads go to the field.
function isHiddenFileField(element, style) {
  if (isReplacedByLabel(element)) return false;
  return style.display === "none" || !isControlShown(element) || style.opacity === "0";
}

// A name without size is as hidden as the field. A transparent field of some size lies over what a reader sees.
function emitHiddenFileField(element, out) {
  if (out.view && out.view.skips(element)) return;
  const isPlaced = isControlShown(element);
  const label = isPlaced && [...element.labels].find(isVisible);
  if (out.muted > (label && containsNode(label, element) ? 1 : 0)) return;
  const name = computeName(element);
  const isLabelled = label && !isLabelOverridden(element, label);
  const isNamed = isLabelled || (isPlaced && name !== "" && name.length <= MAX_SCREEN_READER_CHARS);
  const shown = isNamed ? quote(name) : hintFromAttributes(element);
  out.item(`file ${shown} ${out.refer(element)} hidden${formatStates(element, "file")}`);
}

// Returns whether there are controls inside that may be shown, and not only listeners. File fields are, even if hidden.
function holdsControls(element, except = null) {
  const isShown = (each) => each !== except && (each.type === "file" || checkVisibilityOf(each));
  for (const each of selectAll(element, ACTIONABLE_SELECTOR)) if (isShown(each)) return true;
  return hasActionableThroughSlots(element, (each) => matchesSelector(each, ACTIONABLE_SELECTOR) && isShown(each));
}

function emitEditor(element, out, role) {
  const name = nameFromAria(element);
  const ref = out.refer(element);
  const text = collapseSpace(element.innerText);
  const shown = text ? ` = ${quote(shorten(text, Math.max(out.valueLimit, 5000)))}` : "";
  out.item(`editor${name ? ` ${quote(name)}` : ""} ${ref}${shown}`);
}

// An element that is clickable only by role, listener or cursor: in angle brackets around its content.
function emitClickable(element, out, style, role) {
  if (isClickableDrawing(element)) return emitShapes(element, out);
  if (isStructured(element, role)) return emitClickableContainer(element, out, style, role);
  const name = computeName(element, role) || nameFromContent(element);
  const ref = out.refer(element);
  const word = role && !UNNAMED_ROLES.has(role) ? `${role} ` : "";
  emitCellBorder(role, out);
  const text = name ? plainLine(name) : word ? "" : hintForNameless(element);
  out.item(`<${word}${text}${text ? " " : ""}${ref}${formatRangeValue(element, role)}${formatStates(element, role)}>`);
  emitRemainder(element, name, out, style);
}

const UNNAMED_ROLES = new Set(["cell", "gridcell", "columnheader", "rowheader", "listitem", "row", "group", "region", "img", "article"]);

// Splitters and scroll bars have a position.
function formatRangeValue(element, role) {
  if (role !== "separator" && role !== "scrollbar") return "";
  const value = attributeOf(element, "aria-valuetext") || attributeOf(element, "aria-valuenow");
  return value ? ` = ${quote(value)}` : "";
}

// Returns whether the content is more than a short text, so that it is written below or after the reference.
function isStructured(element, role) {
  if (SPREAD_ROLES.has(role) || CONTAINERS.has(role) || CONTAINERS_IF_NAMED.has(role)) return true;
  if (SPREAD_TAGS.has(tagOf(element)) || hasActionableInside(element)) return true;
  if (role === "listitem" && selectFirst(element, "ul,ol") !== null) return true;
  if (!firstElementOf(element)) return false;
  if (grabbedElements.has(element) && isLikeNeighbour(firstElementOf(element))) return true;
  if (selectFirst(element, "iframe,frame,pre,table,canvas") !== null || hasPointerInside(element)) return true;
  return textContentOf(element).length > MAX_CLICKABLE_CHARS || (nameFromAria(element) !== "" && mayHoldBlocks(element));
}

// A box that listens for its parts, such as a list of chips, shows by the cursor which parts can be pressed.
function hasPointerInside(element) {
  const parts = element.getElementsByTagName("*");
  if (parts.length > MAX_SEARCHED_ELEMENTS || getComputedStyle(element).cursor === "pointer") return false;
  const isPressed = (each, style) => pressedByHover.has(each) || style.cursor === "pointer" || (style.userSelect === "none" && isLitItem(each));
  return [...parts].some((each) => isPressed(each, getComputedStyle(each)) && isVisible(each));
}

const SPREAD_ROLES = new Set(["row", "table", "grid", "treegrid"]);
const SPREAD_TAGS = new Set(["canvas", "pre", "table"]);
const MAX_CLICKABLE_CHARS = 400;

function mayHoldBlocks(element) {
  return selectFirst(element, "p,ul,ol,dl,h1,h2,h3,h4,h5,h6") !== null;
}

function emitClickableContainer(element, out, style, role) {
  const name = nameFromAria(element);
  const ref = out.refer(element);
  const mark = `${ref}${formatStates(element, role)}${scrollsContent(element, style) ? " scrollable" : ""}`;
  if (role === "row") out.rowMark = `<${ref}>`;
  else if (role === "listitem") out.pendingMark = `<${ref}>`;
  else if (isContainerLine(element, role, name)) out.containerMark = ` ${mark}`;
  else return emitMarkedContent(element, out, style, role, plainLine(name), mark);
  emitStatic(element, out, style, role);
}

// Returns whether the outline has a separate line for such a container, to which the reference is added.
function isContainerLine(element, role, name) {
  if (TABLE_ROLES.has(role)) return !(role === "table" && isLayoutTable(element));
  return CONTAINERS.has(role) || (role !== "list" && CONTAINERS_IF_NAMED.has(role) && (name || nameFromMarkup(element)) !== "");
}

function emitMarkedContent(element, out, style, role, name, mark) {
  if (tagOf(element) === "canvas") return out.item(`<canvas ${name || hintForNameless(element)} ${describeSize(element)} ${mark}>`);
  const label = name;
  emitCellBorder(out.layout ? "" : role, out);
  out.item(`<${label ? `${label} ` : ""}${mark}>`);
  if (CELL_ROLES.has(role) && !out.layout) return walkChildren(element, out, style);
  if (name) return out.nested(() => emitStatic(element, out, style, role));
  emitStatic(element, out, style, role);
}

function describeSize(element) {
  const { width, height } = rectOf(element);
  return `${Math.round(width)}×${Math.round(height)}`;
}
