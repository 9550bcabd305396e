// Maps elements to roles (HTML-AAM), in words that are one token for a model.

const TAG_ROLES = {
  a: "", article: "article", aside: "aside", button: "button", canvas: "canvas", datalist: "listbox", dd: "", details: "group",
  dialog: "dialog", dl: "", dt: "", fieldset: "group", figure: "figure", footer: "footer", form: "form", h1: "heading",
  h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", header: "header", hr: "separator",
  iframe: "iframe", frame: "iframe", img: "img", li: "listitem", main: "main", math: "math", menu: "list", meter: "meter",
  nav: "nav", ol: "list", optgroup: "group", option: "option", output: "status", progress: "progressbar", search: "search",
  section: "region", select: "combobox", summary: "button", svg: "img", table: "table", tbody: "rowgroup", td: "cell",
  textarea: "textbox", tfoot: "rowgroup", th: "columnheader", thead: "rowgroup", tr: "row", ul: "list", video: "video",
  audio: "audio",
};

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "file", date: "date", time: "time", month: "month",
  week: "week", "datetime-local": "datetime", color: "color", hidden: "",
};

const SHORT_ROLE_NAMES = { banner: "header", contentinfo: "footer", navigation: "nav", complementary: "aside", image: "img" };

const ACTIVE_ROLES = new Set([
  "button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
  "textbox", "searchbox", "combobox", "slider", "spinbutton", "treeitem", "file", "date", "time", "month", "week",
  "datetime", "color",
]);

const FIELD_ROLES = new Set([
  "textbox", "searchbox", "combobox", "slider", "spinbutton", "listbox", "file", "date", "time", "month", "week",
  "datetime", "color",
]);

const NAMED_BY_CONTENT = new Set([
  "button", "link", "heading", "option", "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "cell", "gridcell",
  "columnheader", "rowheader", "checkbox", "radio", "switch", "treeitem", "tooltip", "row",
]);

const SECTIONING_TAGS = new Set(["ARTICLE", "ASIDE", "MAIN", "NAV", "SECTION"]);

function computeRole(element) {
  const given = element.getAttribute("role");
  if (given) {
    const role = readExplicitRole(element, given);
    if (role !== null) return role;
  }
  return computeImplicitRole(element);
}

function readExplicitRole(element, given) {
  const role = given.trim().split(/\s+/)[0].toLowerCase();
  if (role === "presentation" || role === "none" || role === "generic") return canFocus(element) ? null : "";
  return ROLE_WORD.test(role) ? SHORT_ROLE_NAMES[role] || role : null;
}

// Roles are written without quotes, so nothing but a word is one.
const ROLE_WORD = /^[a-z-]{1,30}$/;

function computeImplicitRole(element) {
  const tag = tagOf(element);
  if (tag === "input") return INPUT_ROLES[element.type] ?? (element.hasAttribute("list") ? "combobox" : "textbox");
  if (tag === "a" || tag === "area") return element.hasAttribute("href") ? "link" : "";
  if (tag === "select") return element.multiple || element.size > 1 ? "listbox" : "combobox";
  if (tag === "header" || tag === "footer") return isInSection(element) ? "" : TAG_ROLES[tag];
  if (tag === "th") return element.scope === "row" ? "rowheader" : "columnheader";
  if (tag === "summary") return domParentOf(element)?.localName === "details" ? "button" : "";
  if (tag === "img") return element.getAttribute("alt") === "" ? "" : "img";
  return TAG_ROLES[tag] ?? "";
}

function isInSection(element) {
  for (let each = domParentOf(element); each; each = domParentOf(each)) if (SECTIONING_TAGS.has(each.tagName)) return true;
  return false;
}

function canFocus(element) {
  return element.hasAttribute("tabindex") || element.matches("a[href],button,input,select,textarea");
}

function readHeadingLevel(element) {
  const given = Number(element.getAttribute("aria-level"));
  if (given > 0) return Math.min(given, 6);
  return /^h[1-6]$/.test(tagOf(element)) ? Number(tagOf(element)[1]) : 2;
}

function isEditingHost(element) {
  const value = element.getAttribute("contenteditable");
  return value !== null && value !== "false" && element.isContentEditable;
}
