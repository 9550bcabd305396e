// Decides what can be acted on: native controls, roles, focus, editing, a pointer cursor, and listeners.

const NATIVE_CONTROLS = new Set(["button", "select", "textarea", "summary"]);
const HANDLER_ATTRIBUTES = ["onclick", "onmousedown", "onmouseup", "onpointerdown", "ondblclick", "ontouchstart"];
const SELECTABLE_SELECTOR = "div[aria-selected]:not([role])";
const ACTIONABLE_SELECTOR =
  `${SELECTABLE_SELECTOR},` +
  "a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio]," +
  "[role=tab],[role=menuitem],[role=option],[role=switch],[role=textbox],[role=combobox],[role=treeitem],[role=slider],[tabindex]:not([tabindex='-1']:empty,[tabindex='-1'][role=none]),[contenteditable]";

// Returns why an element can be acted on (native, role, focus, edit, handler or cursor), or "" if it cannot.
function whyActionable(element, role, style, parentContext) {
  const tag = tagOf(element);
  if (NATIVE_CONTROLS.has(tag)) return tag === "summary" && role !== "button" ? "" : "native";
  if (tag === "input") return element.type === "hidden" ? "" : "native";
  if ((tag === "a" || tag === "area") && hasAttribute(element, "href")) return "native";
  if ((tag === "video" || tag === "audio") && element.controls) return "native";
  if (tag === "body" && (isEditingHost(element) || document.designMode === "on")) return "edit";
  if (tag === "slot" || tag === "option" || tag === "body" || tag === "html" || tag === "iframe") return "";
  if (ACTIVE_ROLES.has(role)) return "role";
  if (role === "separator" && isDivider(element)) return "";
  if (element.attributes.length && whyActionableByAttribute(element)) return whyActionableByAttribute(element);
  if (listeningElements.has(element)) return coversPage(element) || framesOneControl(element) || framesOneToggle(element, role) || (role === "" && framesOneText(element)) ? "" : "handler";
  if (hoverOpeners.has(element)) return "hover";
  if (hasListeningElements && GRID_CELL_ROLES.has(role) && style.display !== "contents" && isInListeningGrid(element)) return framesOneText(element) || holdsOnlyControls(element) ? "" : "handler";
  if (hasListeningElements && TABLE_CELL_ROLES.has(role) && isInSpreadsheet(element, style)) return framesOneText(element) || holdsOnlyControls(element) ? "" : "handler";
  if (hasListeningElements && matchesSelector(element, SELECTABLE_SELECTOR) && isBelow(element, (box) => listeningElements.has(box))) return "handler";
  if (tag === "canvas") return isVisible(element) ? "drawing" : "";
  if (hasListeningElements && isItemOfListeningBox(element, tag)) return "handler";
  if (tag === "label" && hasListeningElements) return isFreeLabel(element) ? "handler" : "";
  if (hasListeningElements && style.userSelect === "none" && isLitItem(element)) return "handler";
  const isPressed = pressedByHover.has(element) ? !pressedByHover.has(parentElementOf(element)) : style.cursor === "pointer";
  return isPressed && tag !== "label" && parentContext.cursor !== "pointer" && !isLabelOfControl(element) ? "cursor" : "";
}

// A press on a part of a label acts on its control, which has its own reference.
function isLabelOfControl(element) {
  const label = closestOf(element, "label");
  return label !== null && label.control !== null && isControlShown(label.control);
}

// A movable splitter has a position or a listener. Menus also make their dividing lines focusable.
function isDivider(element) {
  return !hasAttribute(element, "aria-valuenow") && !listeningElements.has(element);
}

const MAX_FRAMES = 4;
const FRAMED_SHARE = 0.7;

// Toolbars, pickers and web components listen on boxes around a control that fills them: a press on it reaches them all.
function framesOneControl(element) {
  let inside = element;
  for (let level = 0; level < MAX_FRAMES; level++) {
    inside = findOnlyChild(inside);
    if (inside === null) return false;
    if (matchesSelector(inside, "button,a[href],input:not([type=hidden]),[role=combobox]")) return replacesFrame(inside, element);
  }
  return false;
}

const MAX_TOGGLE_PX = 64;
const MAX_TOGGLE_PARTS = 12;

// Libraries listen on a small box around a check box and what they draw over it.
function framesOneToggle(element, role) {
  if (role !== "" || element.childElementCount === 0 || hasManyParts(element)) return false;
  const { width, height } = rectOf(element);
  if (width > MAX_TOGGLE_PX || height > MAX_TOGGLE_PX || textContentOf(element).trim() !== "") return false;
  const [toggle, ...others] = selectAll(element, ACTIONABLE_SELECTOR);
  return toggle !== undefined && !others.length && isToggle(toggle) && (isVisible(toggle) || isClippedToggle(toggle)) && !toggle.disabled;
}

// A toggle that keys and screen readers reach, and that the outline names at the box that clips it.
function isClippedToggle(toggle) {
  const box = parentElementOf(toggle);
  return toggle.tabIndex >= 0 && checkVisibilityOf(toggle) && isClippedAway(box, getComputedStyle(box));
}

// Counting all parts of many nested boxes would take long.
function hasManyParts(element) {
  return element.getElementsByTagName("*").item(MAX_TOGGLE_PARTS) !== null;
}

// Grids and calendars listen on boxes around a text that listens as well: a press on the text reaches them all.
function framesOneText(element) {
  if (element.childElementCount === 0 || hasManyParts(element) || rectOf(element).height > MAX_TOGGLE_PX) return false;
  const text = textContentOf(element).trim();
  const isOperable = (each) => (listeningElements.has(each) || matchesSelector(each, ACTIONABLE_SELECTOR)) && isVisible(each);
  const operable = [...selectAll(element, "*")].filter(isOperable);
  return text !== "" && operable.length > 0 && operable.every((each) => !each.disabled && textContentOf(each).trim() === text);
}

// A cell that contains only check boxes or buttons is pressed through these.
function holdsOnlyControls(cell) {
  if (cell.childElementCount === 0 || hasManyParts(cell)) return false;
  const controls = [...selectAll(cell, ACTIONABLE_SELECTOR)].filter(isVisible);
  const compare = (elements) => elements.map(textContentOf).join("").replace(/\s/g, "");
  return controls.length > 0 && controls.every((each) => !each.disabled) && compare(controls) === compare([cell]);
}

function findOnlyChild(element) {
  const children = childrenOf(element);
  if (children.length > 9) return null; // such a frame has one, apart from white space and comments
  const shown = [...children].filter(isShownNode);
  return shown.length === 1 && nodeTypeOf(shown[0]) === Node.ELEMENT_NODE ? shown[0] : null;
}

function isShownNode(node) {
  if (nodeTypeOf(node) === Node.TEXT_NODE) return node.data.trim() !== "";
  return nodeTypeOf(node) === Node.ELEMENT_NODE && !UNRENDERED_TAGS.has(tagOf(node));
}

// A disabled button gets no events, but the box around it does.
function replacesFrame(control, frame) {
  return fillsBox(control, frame) && !control.disabled && !isHidden(control) && getComputedStyle(control).pointerEvents !== "none" && (nameFromAria(frame) === "" || computeName(control) !== "");
}

function fillsBox(element, box) {
  const [inner, outer] = [rectOf(element), rectOf(box)];
  return inner.width * inner.height >= FRAMED_SHARE * outer.width * outer.height && inner.width > 0;
}

const GRID_CELL_ROLES = new Set(["gridcell", "columnheader", "rowheader"]);
const MAX_GRID_LEVELS = 6;

// Calendars and spreadsheets listen on the grid, or on a box around it, for presses on its cells.
function isInListeningGrid(cell) {
  const grid = closestOf(cell, "[role=grid],[role=treegrid]");
  if (grid === null || attributeOf(cell, "aria-disabled") === "true" || hasButtonCells(grid)) return false;
  let level = 0;
  for (let box = parentElementOf(cell); box !== null && level < MAX_GRID_LEVELS; box = parentElementOf(box)) {
    if (listeningElements.has(box)) return true;
    level += containsNode(box, grid) ? 1 : 0;
  }
  return false;
}

const TABLE_CELL_ROLES = new Set(["cell", "columnheader", "rowheader"]);

// Spreadsheets in plain tables turn off the selection of their text, because a press selects the cell. A box around the
// table listens, or takes the keys.
function isInSpreadsheet(cell, style) {
  if (style.userSelect !== "none" || textContentOf(cell).trim() === "") return false;
  return isBelow(closestOf(cell, "table"), (box) => listeningElements.has(box) || (box.tabIndex >= 0 && hasAttribute(box, "tabindex")));
}

// Calendars and menus without roles listen on a box around their days and items, and light up the one under the pointer.
function isLitItem(element) {
  if (!isBelow(element, (box) => listeningElements.has(box)) || !isLitByHover(element)) return false;
  if (TABLE_PART_TAGS.has(tagOf(element)) || hasManyParts(element)) return false;
  return textContentOf(element).trim() !== "" && !hasActionableInside(element);
}

function isBelow(element, isSought) {
  let box = element;
  for (let level = 0; box !== null && level < MAX_GRID_LEVELS; level++, box = parentElementOf(box)) if (isSought(box)) return true;
  return false;
}

// Caches for one call: whether the cells of a grid are buttons themselves, like the days of most date pickers, and
// which boxes cover the page, which is checked for each of their items.
let knownButtonGrids = new WeakMap();
let knownCovers = new WeakMap();

function forgetBoxes() {
  knownButtonGrids = new WeakMap();
  knownCovers = new WeakMap();
}

function hasButtonCells(grid) {
  if (!knownButtonGrids.has(grid)) {
    const minShare = 0.8; // a column of week numbers may be next to seven of days
    const filled = [...selectAll(grid, "[role=gridcell],td")].filter((each) => firstElementOf(each) !== null || textContentOf(each).trim() !== "");
    const buttons = filled.filter((each) => firstElementOf(each)?.localName === "button");
    knownButtonGrids.set(grid, buttons.length > 0 && buttons.length >= minShare * filled.length);
  }
  return knownButtonGrids.get(grid);
}

function whyActionableByAttribute(element) {
  if (isEditingHost(element)) return "edit";
  if (HANDLER_ATTRIBUTES.some((name) => hasAttribute(element, name))) return coversPage(element) ? "" : "handler";
  if (element.tabIndex >= 0 && hasAttribute(element, "tabindex")) return "focus";
  if (classListOf(element).contains(DROP_TARGET_CLASS)) return coversPage(element) ? "" : "handler";
  return attributeOf(element, "draggable") === "true" ? "handler" : "";
}

// jQuery UI watches the pointer itself, so only the class shows where something can be dropped.
const DROP_TARGET_CLASS = "ui-droppable";

// A label without a field below a listener can be pressed, for instance to edit it by a double click.
function isFreeLabel(label) {
  return label.control === null && !label.htmlFor && findClosest(label, (each) => listeningElements.has(each)) !== null;
}

// Lists listen for presses on their items, and sortable boxes for the start of a drag of one of their similar parts.
function isItemOfListeningBox(element, tag) {
  const box = parentElementOf(element);
  if (box === null) return false;
  if (tag === "li" && isRowOfOpenableList(element)) return true;
  if (grabbedElements.has(box)) return isLikeNeighbour(element) && !element.isContentEditable && !coversPage(box) && textContentOf(element).trim() !== "";
  if (tag !== "li" || !listeningElements.has(box) || coversPage(box)) return false;
  return !hasActionableInside(element) && selectFirst(element, "label") === null;
}

function isLikeNeighbour(element) {
  const isLike = (other) => other !== null && tagOf(other) === tagOf(element) && classListOf(other)[0] === classListOf(element)[0];
  if (tagOf(element) === "li" && parentElementOf(element).childElementCount === 1) return true;
  const isItem = tagOf(element) === "li" || (tagOf(element) === "div" && classListOf(element).length > 0);
  return isItem && (isLike(element.nextElementSibling) || isLike(element.previousElementSibling));
}

// File lists listen for clicks and double clicks on the list or a box around it, which select and open items.
// If an item has its own label, that is pressed.
function isRowOfOpenableList(item) {
  let box = parentElementOf(item);
  for (let level = 0; box !== null && level < 3; level++, box = parentElementOf(box)) {
    if (doubleClickedElements.has(box)) return !coversPage(box) && !selectFirst(item, "label");
  }
  return false;
}

// A listener on a container of most of the page is event delegation, not a button.
function coversPage(element) {
  if (!firstElementOf(element)) return false;
  if (!knownCovers.has(element)) {
    const { width, height } = rectOf(element);
    const isLarge = width * height > 0.6 * innerWidth * innerHeight;
    knownCovers.set(element, isLarge && selectFirst(element, ACTIONABLE_SELECTOR) !== null);
  }
  return knownCovers.get(element);
}

function hasActionableInside(element) {
  if (firstElementOf(element) === null && shadowOf(element) === null && tagOf(element) !== "slot") return false;
  if (selectFirst(element, ACTIONABLE_SELECTOR) !== null || hasListenerInside(element)) return true;
  return hasActionableThroughSlots(element, (each) => matchesSelector(each, ACTIONABLE_SELECTOR) || (listeningElements.has(each) && checkVisibilityOf(each)));
}

const MAX_SEARCHED_ELEMENTS = 300;

function hasListenerInside(element) {
  if (!hasListeningElements) return false;
  const inside = element.getElementsByTagName("*");
  if (inside.length > MAX_SEARCHED_ELEMENTS) return true;
  for (const each of inside) if (listeningElements.has(each) && checkVisibilityOf(each)) return true;
  return false;
}

// Selectors do not cross shadow roots and slots, so the content shown there is searched separately.
function hasActionableThroughSlots(element, isSought) {
  if (!crossesShadow(element)) return false;
  for (const each of iterElements(element)) if (each !== element && isSought(each)) return true;
  return false;
}

function crossesShadow(element) {
  if (tagOf(element) === "slot" || shadowOf(element) !== null) return true;
  for (const each of element.getElementsByTagName("*")) if (tagOf(each) === "slot" || shadowOf(each) !== null) return true;
  return false;
}

// Returns the invisible control that a label replaces: custom check boxes are drawn as their labels.
function findReplacedControl(label) {
  const control = label.control;
  if (!control || !LABEL_REPLACED_TYPES.has(control.type)) return null;
  return isControlShown(control) ? null : control;
}

// Libraries clip the control, or a box a few levels around it, to nothing.
function isControlShown(control) {
  if (!isVisible(control)) return false;
  let box = parentElementOf(control);
  for (let level = 0; box !== null && level < 3; level++, box = parentElementOf(box)) {
    if (tagOf(box) === "label") return true;
    if (isClippedAway(box, getComputedStyle(box))) return false;
  }
  return true;
}

function isVisible(element) {
  if (!checkVisibilityOf(element, { visibilityProperty: true })) return false;
  const { width, height } = rectOf(element);
  return width > 1 && height > 1;
}
