// Finds the visible replacement of a field that is transparent, clipped or without size: editors, sliders, selects.

const STAND_IN_ROLES = new Set(["textbox", "combobox", "searchbox", "slider", "spinbutton"]);
const MAX_STAND_IN_LEVELS = 6;
const TOGGLE_SELECTOR = "input[type=checkbox],input[type=radio]";

// Only for fields: a transparent button may appear under the pointer, and the box around it does something else.
function isHiddenField(element) {
  const isField = (tagOf(element) === "input" ? !NON_TEXT_TYPES.has(element.type) : tagOf(element) === "textarea") || isEditingHost(element);
  if (!isField && !STAND_IN_ROLES.has(attributeOf(element, "role"))) return false;
  return isHidden(element);
}

function isHidden(element) {
  return findTransparentAncestor(element) !== null || isClippedAway(element, getComputedStyle(element)) || !isControlShown(element);
}

// The nearest visible box around a hidden field without another field, and a free point next to its buttons.
// With `reach` false, nothing is scrolled, and the point of a press stays open.
function findStandIn(field, { reach = true } = {}) {
  const hasPoint = (box, others) => (findPoint(box) || scrollToPoint(box)) && (!others.length || findFreePoint(box, others));
  let box = parentElementOf(field);
  for (let level = 0; box !== null && level < MAX_STAND_IN_LEVELS; level++, box = parentElementOf(box)) {
    const others = listOtherControls(box, field);
    if (tagOf(box) === "body" || tagOf(box) === "form" || others.some((each) => each.tabIndex >= 0 && FIELD_ROLES.has(computeRole(each)))) return null;
    if (isToggle(field) && selectAll(box, TOGGLE_SELECTOR).length > 1) return null;
    if (isVisible(box) && !findTransparentAncestor(box) && (!reach || hasPoint(box, others))) return box;
  }
  return null;
}

// A field that lets presses through is pressed through the box around it, if that is a control or only listens for this
// field.
function findPressedBox(field) {
  const role = computeRole(field);
  if (getComputedStyle(field).pointerEvents !== "none") return null;
  if (isToggle(field)) return findPressedItem(field);
  if (!STAND_IN_ROLES.has(role)) return null;
  const box = findStandIn(field);
  const owner = box && findClosest(box, (each) => listeningElements.has(each) || attributeOf(each, "role") === role);
  return owner && !listOtherControls(owner, field).some((each) => FIELD_ROLES.has(computeRole(each))) ? box : null;
}

const TICKED_ITEM_ROLES = new Set(["option", "treeitem", "menuitem", "menuitemcheckbox", "menuitemradio", "cell", "gridcell"]);

// Lists and tables draw a check box in an item that takes the presses.
function findPressedItem(toggle) {
  const item = findClosest(toggle, (each) => TICKED_ITEM_ROLES.has(computeRole(each)));
  return item && getComputedStyle(item).pointerEvents !== "none" && !listOtherControls(item, toggle).length ? item : null;
}

// The label next to a hidden check box draws it even if it names no control, if the page listens on it.
function findDrawnLabel(toggle) {
  const label = toggle.nextElementSibling;
  return label && tagOf(label) === "label" && !label.control && listeningElements.has(label) && isVisible(label) ? label : null;
}

// Other controls in a box around a field, such as the buttons that remove chosen items.
function listOtherControls(box, field) {
  const isOther = (each) => each !== field && !containsNode(each, field) && isVisible(each) && !findTransparentAncestor(each);
  return [...selectAll(box, ACTIONABLE_SELECTOR)].filter(isOther);
}

function findFreePoint(box, controls) {
  const isFree = ({ x, y }) => {
    const hit = elementAtPoint(x, y);
    return hit !== null && containsNode(box, hit) && !controls.some((each) => containsNode(each, hit));
  };
  return listPoints(box).find(isFree) || null;
}

// Libraries hide a native control and draw another one next to it.
function suggestDrawnSibling(element) {
  const fields = listOtherControls(parentElementOf(element), element).filter((each) => FIELD_ROLES.has(computeRole(each)));
  if (fields.length === 1) return `it is drawn as ${refOf(fields[0])} ${describeElement(fields[0])}: act on that`;
  for (const sibling of [element.nextElementSibling, element.previousElementSibling]) {
    if (!sibling || tagOf(sibling) === "label" || !isVisible(sibling)) continue;
    const control = matchesSelector(sibling, ACTIONABLE_SELECTOR) ? sibling : [...selectAll(sibling, ACTIONABLE_SELECTOR)].find(isVisible);
    if (control) return `it is drawn as ${refOf(control)} ${describeElement(control)}: act on that`;
  }
  return "";
}
