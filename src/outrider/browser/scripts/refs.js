// Assigns references: an element keeps its reference as long as it exists, and none is used twice.

const refOfElement = new WeakMap();
const elementOfRef = new Map();
const shownNames = new Map();
const listeningElements = new WeakSet();
const doubleClickedElements = new WeakSet();
const grabbedElements = new WeakSet();
let hasListeningElements = false;
let refPrefix = "";
let lastRef = 0;

function refOf(element) {
  let ref = refOfElement.get(element);
  if (!ref) {
    ref = `${refPrefix}${++lastRef}`;
    refOfElement.set(element, ref);
    elementOfRef.set(ref, new WeakRef(element));
  }
  return ref;
}

function elementOf(ref) {
  const element = elementOfRef.get(ref)?.deref();
  return element && element.isConnected ? element : null;
}

// Records the role, name and row shown to a model for a reference, for comparison when it acts on it.
function recordShown(ref, element) {
  const before = shownNames.get(ref);
  const role = computeRole(element);
  const name = nameToRecord(element, role);
  const row = nameOfRow(element);
  if (before && before.role === role && before.name === name && before.row === row && !before.warned) return;
  shownNames.set(ref, { role, name, row, warned: false });
}

function describeShown({ role, name, row }) {
  const own = name ? `${role || "element"} ${quote(shorten(name, 80))}` : role || "element";
  return row ? `${own} in the row ${quote(row)}` : own;
}

// An action on a changed element is refused once; the second call passes, unless more than digits changed again.
function findChange(ref, element) {
  const before = shownNames.get(ref);
  if (!before) return null;
  const role = computeRole(element);
  const name = nameToRecord(element, role);
  const row = nameOfRow(element);
  if (before.role === role && before.name === name && before.row === row) return null;
  const warned = `${name} ${row}`;
  if (before.warned && isSameExceptDigits(before.warned, warned)) return null;
  const [was, is] = before.row === row ? [{ ...before, row: "" }, { role, name, row: "" }] : [before, { role, name, row }];
  shownNames.set(ref, { ...before, warned });
  return { was: describeShown(was), is: describeShown(is) };
}

function isSameExceptDigits(one, other) {
  const plain = (text) => text.replace(/\d+/g, "#").trim();
  return plain(one) === plain(other);
}

// The name that an outline shows for such an element, or a more specific text.
function nameToRecord(element, role) {
  if (isEditingHost(element) && !FIELD_ROLES.has(role)) return nameFromAria(element);
  const name = (ACTIVE_ROLES.has(role) && readPictographTitle(element, role)) || computeName(element, role);
  return name || (ACTIVE_ROLES.has(role) || FIELD_ROLES.has(role) ? "" : briefContentName(element));
}
