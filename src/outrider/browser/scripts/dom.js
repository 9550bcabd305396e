// The composed tree: what is rendered, through open and closed shadow roots and slots.

const closedRoots = new WeakMap();

// A form's fields and a document's forms shadow its own properties by their names, so these are asked for past them.
function plainly(prototype, name) {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name);
  return (node) => get.call(node);
}

const tagOf = plainly(Element.prototype, "localName");
const idOf = plainly(Element.prototype, "id");
const parentNodeOf = plainly(Node.prototype, "parentNode");
const plainParentOf = plainly(Node.prototype, "parentElement");
const firstChildOf = plainly(Node.prototype, "firstChild");
const nodesOf = plainly(Node.prototype, "childNodes");
const titleOf = plainly(Document.prototype, "title");
const bodyOf = plainly(Document.prototype, "body");

function shadowOf(element) {
  return element.shadowRoot || closedRoots.get(element) || null;
}

function childrenOf(element) {
  const root = shadowOf(element);
  if (root) return root.childNodes;
  if (tagOf(element) !== "slot") return nodesOf(element);
  const assigned = assignedTo(element);
  return assigned.length ? assigned : nodesOf(element);
}

// A closed root's slots say nothing to another world, so its host's children are matched by name.
function assignedTo(slot) {
  const assigned = slot.assignedNodes();
  const root = slot.getRootNode();
  if (assigned.length || !root.host || closedRoots.get(root.host) !== root) return assigned;
  return [...root.host.childNodes].filter((node) => (node.slot || "") === slot.name);
}

function parentOf(node) {
  if (node.assignedSlot) return node.assignedSlot;
  const parent = parentNodeOf(node);
  if (!parent) return null;
  return parent.nodeType === Node.DOCUMENT_FRAGMENT_NODE ? parent.host || null : parent;
}

function parentElementOf(node) {
  const parent = parentOf(node);
  return parent && parent.nodeType === Node.ELEMENT_NODE ? parent : null;
}

function holds(ancestor, node) {
  for (let each = node; each; each = parentOf(each)) if (each === ancestor) return true;
  return false;
}

function closestWhere(element, test) {
  for (let each = element; each; each = parentElementOf(each)) if (test(each)) return each;
  return null;
}

function hitAt(x, y) {
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

function* everyElement(root) {
  const stack = [root];
  while (stack.length) {
    const node = stack.pop();
    if (node.nodeType === Node.ELEMENT_NODE) yield node;
    const children = node.nodeType === Node.ELEMENT_NODE ? childrenOf(node) : node.childNodes;
    for (let at = children.length - 1; at >= 0; at--) {
      if (children[at].nodeType === Node.ELEMENT_NODE) stack.push(children[at]);
    }
  }
}

function collapse(text) {
  return text.replace(/[\s\u00a0]+/g, " ").trim();
}

function shorten(text, limit) {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}

function boxOf(element) {
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x: tenth(x), y: tenth(y), width: tenth(width), height: tenth(height) };
}

function tenth(number) {
  return Math.round(number * 10) / 10;
}
