// Walks the composed tree, through open and closed shadow roots and slots.

const closedRoots = new WeakMap();

// Form fields and named forms can shadow a node's own properties, so these are read from the prototype.
function prototypeGetter(prototype, name) {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name);
  return (node) => get.call(node);
}

const tagOf = prototypeGetter(Element.prototype, "localName");
const idOf = prototypeGetter(Element.prototype, "id");
const parentNodeOf = prototypeGetter(Node.prototype, "parentNode");
const domParentOf = prototypeGetter(Node.prototype, "parentElement");
const firstChildOf = prototypeGetter(Node.prototype, "firstChild");
const childNodesOf = prototypeGetter(Node.prototype, "childNodes");
const titleOf = prototypeGetter(Document.prototype, "title");
const bodyOf = prototypeGetter(Document.prototype, "body");

const nodeTypeOf = prototypeGetter(Node.prototype, "nodeType");
const textContentOf = prototypeGetter(Node.prototype, "textContent");
const classListOf = prototypeGetter(Element.prototype, "classList");
const openRootOf = prototypeGetter(Element.prototype, "shadowRoot");
const elementSlotOf = prototypeGetter(Element.prototype, "assignedSlot");
const textSlotOf = prototypeGetter(Text.prototype, "assignedSlot");
const firstElementOf = prototypeGetter(Element.prototype, "firstElementChild");
const elementsOf = prototypeGetter(Element.prototype, "children");

// The same for their methods; documents and shadow roots have their own versions of `select...`.
function prototypeMethod(prototype, name) {
  const method = prototype[name];
  return (node, argument) => method.call(node, argument);
}

const ownAttributeOf = prototypeMethod(Element.prototype, "getAttribute");
const hasAttribute = prototypeMethod(Element.prototype, "hasAttribute");
const matchesSelector = prototypeMethod(Element.prototype, "matches");
const closestOf = prototypeMethod(Element.prototype, "closest");
const rectOf = prototypeMethod(Element.prototype, "getBoundingClientRect");
const checkVisibilityOf = prototypeMethod(Element.prototype, "checkVisibility");
const rootOf = prototypeMethod(Node.prototype, "getRootNode");
const selectFirst = (node, selector) => (isElement(node) ? Element.prototype.querySelector.call(node, selector) : node.querySelector(selector));
const selectAll = (node, selector) => (isElement(node) ? Element.prototype.querySelectorAll.call(node, selector) : node.querySelectorAll(selector));

// Roles and states set by ElementInternals, as equivalent attributes.
const internalsOf = new WeakMap();
let hasInternals = false;

function attributeOf(element, name) {
  const value = ownAttributeOf(element, name);
  return value === null && hasInternals ? (internalsOf.get(element)?.get(name) ?? null) : value;
}

function isElement(node) {
  return nodeTypeOf(node) === Node.ELEMENT_NODE;
}

function slotOf(node) {
  if (isElement(node)) return elementSlotOf(node);
  return nodeTypeOf(node) === Node.TEXT_NODE ? textSlotOf(node) : null;
}

function shadowOf(element) {
  return openRootOf(element) || closedRoots.get(element) || null;
}

function childrenOf(element) {
  const root = shadowOf(element);
  if (root) return root.childNodes;
  if (tagOf(element) !== "slot") return childNodesOf(element);
  const assigned = assignedTo(element);
  return assigned.length ? assigned : childNodesOf(element);
}

// The slots of a closed root are empty in an isolated world, so the host's children are matched by name.
function assignedTo(slot) {
  const assigned = slot.assignedNodes();
  const root = rootOf(slot);
  if (assigned.length || !root.host || closedRoots.get(root.host) !== root) return assigned;
  return [...root.host.childNodes].filter((node) => (node.slot || "") === slot.name);
}

function parentOf(node) {
  const slot = slotOf(node);
  if (slot) return slot;
  const parent = parentNodeOf(node);
  if (!parent) return null;
  return nodeTypeOf(parent) === Node.DOCUMENT_FRAGMENT_NODE ? parent.host || null : parent;
}

function parentElementOf(node) {
  const parent = parentOf(node);
  return parent && nodeTypeOf(parent) === Node.ELEMENT_NODE ? parent : null;
}

function containsNode(ancestor, node) {
  for (let each = node; each; each = parentOf(each)) if (each === ancestor) return true;
  return false;
}

function findClosest(element, test) {
  for (let each = element; each; each = parentElementOf(each)) if (test(each)) return each;
  return null;
}

function elementAtPoint(x, y) {
  let root = document;
  let hit = null;
  while (root) {
    const found = root.elementFromPoint(x, y);
    if (!found || found === hit) break;
    hit = found;
    root = shadowOf(found);
  }
  return hit;
}

// A search has a time limit, because a page that is busy with it would seem to hang.
const SEARCH_BUDGET_MS = 15_000;
let searchDeadline = Infinity;

function startSearchClock() {
  searchDeadline = performance.now() + SEARCH_BUDGET_MS;
}

function* iterElements(root) {
  const stack = [root];
  for (let count = 0; stack.length; count++) {
    if (count % 500 === 499 && performance.now() > searchDeadline) {
      throw new Error(`the page is too large to be searched in ${SEARCH_BUDGET_MS / 1000} s; use a reference or a CSS selector`);
    }
    const node = stack.pop();
    if (nodeTypeOf(node) === Node.ELEMENT_NODE) yield node;
    const children = nodeTypeOf(node) === Node.ELEMENT_NODE ? childrenOf(node) : node.childNodes;
    for (let at = children.length - 1; at >= 0; at--) {
      if (nodeTypeOf(children[at]) === Node.ELEMENT_NODE) stack.push(children[at]);
    }
  }
}

function collapseSpace(text) {
  return text.replace(/[\s\u00a0]+/g, " ").trim();
}

function shorten(text, limit) {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

function boxOf(element) {
  const { x, y, width, height } = rectOf(element);
  return { x: roundToTenth(x), y: roundToTenth(y), width: roundToTenth(width), height: roundToTenth(height) };
}

function roundToTenth(number) {
  return Math.round(number * 10) / 10;
}
