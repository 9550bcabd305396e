// What can be acted on: native controls, roles, focus, editing, a hand cursor, and listeners of its own.

const NATIVE = new Set(["button", "select", "textarea", "summary"]);
const HANDLERS = ["onclick", "onmousedown", "onmouseup", "onpointerdown", "ondblclick", "ontouchstart"];
const NESTED =
  "a[href],button,input:not([type=hidden]),select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=radio]," +
  "[role=tab],[role=menuitem],[role=option],[role=switch],[role=textbox],[role=combobox],[role=treeitem],[tabindex],[contenteditable]";

// Returns "" for what cannot be acted on, otherwise why it can: native, role, focus, edit, handler or cursor.
function actionable(element, role, style, around) {
  const tag = tagOf(element);
  if (NATIVE.has(tag)) return tag === "summary" && role !== "button" ? "" : "native";
  if (tag === "input") return element.type === "hidden" ? "" : "native";
  if ((tag === "a" || tag === "area") && element.hasAttribute("href")) return "native";
  if ((tag === "video" || tag === "audio") && element.controls) return "native";
  if (tag === "option" || tag === "body" || tag === "html" || tag === "iframe") return "";
  if (ACTIVE_ROLES.has(role)) return "role";
  if (element.attributes.length && byAttribute(element)) return byAttribute(element);
  if (listening.has(element)) return coversPage(element) ? "" : "handler";
  return style.cursor === "pointer" && tag !== "label" && around.cursor !== "pointer" ? "cursor" : "";
}

function byAttribute(element) {
  if (isEditingHost(element)) return "edit";
  if (HANDLERS.some((name) => element.hasAttribute(name))) return coversPage(element) ? "" : "handler";
  if (element.tabIndex >= 0 && element.hasAttribute("tabindex")) return "focus";
  return element.getAttribute("draggable") === "true" ? "handler" : "";
}

// A listener on a container of everything is delegation, not a button.
function coversPage(element) {
  if (!element.firstElementChild) return false;
  const { width, height } = element.getBoundingClientRect();
  return width * height > 0.6 * innerWidth * innerHeight && element.querySelector(NESTED) !== null;
}

function hasNested(element) {
  return element.firstElementChild !== null && (element.querySelector(NESTED) !== null || holdsListening(element));
}

const LOOKED_INTO = 300;

function holdsListening(element) {
  if (!anyListening) return false;
  const inside = element.getElementsByTagName("*");
  if (inside.length > LOOKED_INTO) return true;
  for (const each of inside) if (listening.has(each) && each.checkVisibility()) return true;
  return false;
}

// A label whose own control cannot be seen stands for it: custom check boxes are drawn that way.
function standsFor(label) {
  const control = label.control;
  if (!control || control.type === "hidden" || tagOf(control) === "button") return null;
  return isSeen(control) ? null : control;
}

function isSeen(element) {
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1;
}
