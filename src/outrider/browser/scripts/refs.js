// References: an element keeps its own for as long as it lives, and none is ever given twice.

const refOfElement = new WeakMap();
const elementOfRef = new Map();
const shownAs = new Map();
const listening = new WeakSet();
let anyListening = false;
let refPrefix = "e";
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

// What the model was told about a reference, to compare with when it acts on it.
function remember(ref, role, name) {
  const before = shownAs.get(ref);
  if (before && before.role === role && before.name === name && !before.warned) return;
  shownAs.set(ref, { role, name, warned: false });
}

function describedAs(role, name) {
  return name ? `${role || "element"} ${quoted(shorten(name, 80))}` : role || "element";
}

// Refused once: the second call on the same changed element goes through, unless more than digits changed again.
function changeSince(ref, element) {
  const before = shownAs.get(ref);
  if (!before) return null;
  const role = roleOf(element);
  const name = rememberedName(element, role);
  if (before.role === role && before.name === name) return null;
  if (before.warned && sameButDigits(before.warned, name)) return null;
  const was = describedAs(before.role, before.name);
  shownAs.set(ref, { ...before, warned: name || " " });
  return { was, is: describedAs(role, name) };
}

function sameButDigits(one, other) {
  const plain = (text) => text.replace(/\d+/g, "#").trim();
  return plain(one) === plain(other);
}

// What an outline takes for the name of such an element, and therefore remembers.
function rememberedName(element, role) {
  if (isEditingHost(element) && !FIELD_ROLES.has(role)) return ownName(element);
  return nameOf(element, role) || (ACTIVE_ROLES.has(role) || FIELD_ROLES.has(role) ? "" : briefContent(element));
}

function briefContent(element) {
  return shorten(contentName(element, null, 400), 200);
}

function forgetDead() {
  for (const [ref, held] of elementOfRef) if (!held.deref()) elementOfRef.delete(ref);
}
