// Maps elements to roles (HTML-AAM, WAI-ARIA 1.2), as words that are a single token for a model.

const TAG_ROLES = {
  a: "", address: "group", area: "", article: "article", aside: "aside", button: "button", canvas: "canvas", datalist: "listbox", dd: "",
  details: "group", dialog: "dialog", dl: "", dt: "", fieldset: "group", figure: "figure", footer: "footer", form: "form",
  h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading", header: "header",
  hgroup: "group", hr: "separator", iframe: "iframe", frame: "iframe", img: "img", li: "listitem", main: "main", math: "math",
  menu: "list", meter: "meter", nav: "nav", ol: "list", optgroup: "group", option: "option", output: "status",
  progress: "progressbar", search: "search", section: "region", select: "combobox", summary: "button", svg: "img",
  table: "table", tbody: "rowgroup", td: "cell", textarea: "textbox", tfoot: "rowgroup", th: "columnheader",
  thead: "rowgroup", tr: "row", ul: "list", video: "video", audio: "audio",
};

const INPUT_ROLES = {
  button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox", file: "file", date: "date", time: "time", month: "month",
  week: "week", "datetime-local": "datetime", color: "color", hidden: "",
};

// Roles that pages may use and that are written unchanged, without abstract ones.
const ARIA_ROLES = new Set(
  ("alert alertdialog application article button cell checkbox columnheader combobox dialog document feed figure form grid " +
    "gridcell group heading link list listbox listitem log main marquee math menu menubar menuitem menuitemcheckbox " +
    "menuitemradio meter note option progressbar radio radiogroup region row rowgroup rowheader scrollbar search searchbox " +
    "separator slider spinbutton status switch tab table tablist tabpanel term textbox timer toolbar tooltip tree treegrid " +
    "treeitem").split(" "),
);

// Roles that are written as another word.
const ROLE_WORDS = {
  banner: "header", contentinfo: "footer", navigation: "nav", complementary: "aside", image: "img", directory: "list",
  "graphics-document": "img", "graphics-symbol": "img", "graphics-object": "group", "doc-backlink": "link",
  "doc-biblioref": "link", "doc-glossref": "link", "doc-noteref": "link", "doc-cover": "img", "doc-index": "nav",
  "doc-pagelist": "nav", "doc-toc": "nav", "doc-pagebreak": "separator", "doc-subtitle": "heading",
};

// Roles of text and of parts of a text, which need no word.
const TEXT_ROLES = new Set(
  ("blockquote caption code comment definition deletion emphasis insertion mark paragraph sectionfooter sectionheader " +
    "strong subscript suggestion superscript time").split(" "),
);

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

function computeRole(element) {
  const given = attributeOf(element, "role");
  if (given) {
    const role = readExplicitRole(element, given);
    if (role !== null) return role;
  }
  return computeImplicitRole(element);
}

// The first known role of the list that may be used here; null keeps the element's own.
function readExplicitRole(element, given) {
  for (const token of given.trim().toLowerCase().split(/\s+/)) {
    if (token === "presentation" || token === "none") return keepsOwnRole(element) ? null : "";
    if (token === "generic") return isFocusable(element) ? null : "";
    if (TEXT_ROLES.has(token) || (token.startsWith("doc-") && !ROLE_WORDS[token])) return isFocusable(element) ? null : "";
    const role = ROLE_WORDS[token] || token;
    if (ROLE_WORDS[token] || (ARIA_ROLES.has(token) && (!NAMED_ROLES.has(token) || hasGivenName(element)))) return role;
  }
  return null;
}

// A form or region without a name is not a landmark.
const NAMED_ROLES = new Set(["form", "region"]);

function hasGivenName(element) {
  return readAriaLabel(element) !== "" || hasAttribute(element, "aria-labelledby");
}

// A focusable element, or one with ARIA attributes, is not presentational, whatever its role attribute says.
function keepsOwnRole(element) {
  return isFocusable(element) || GLOBAL_ATTRIBUTES.some((name) => hasAttribute(element, name));
}

const GLOBAL_ATTRIBUTES = [
  "aria-atomic", "aria-busy", "aria-controls", "aria-current", "aria-describedby", "aria-description", "aria-details",
  "aria-flowto", "aria-keyshortcuts", "aria-label", "aria-labelledby", "aria-live", "aria-owns", "aria-relevant",
  "aria-roledescription",
];

function isFocusable(element) {
  if (hasAttribute(element, "tabindex")) return !Number.isNaN(parseInt(attributeOf(element, "tabindex"), 10));
  return matchesSelector(element, "a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,iframe,audio[controls],video[controls]") &&
    !matchesSelector(element, ":disabled");
}

const LIST_INPUTS = new Set(["text", "search", "tel", "url", "email"]);

function computeImplicitRole(element) {
  const tag = tagOf(element);
  const role = TAG_ROLES[tag];
  if (role === undefined) return tag === "input" ? computeInputRole(element) : "";
  const decide = DECIDED_BY_CONTEXT[tag];
  return decide ? decide(element, role) : role;
}

function computeInputRole(input) {
  if (LIST_INPUTS.has(input.type) && input.list) return "combobox";
  return INPUT_ROLES[input.type] ?? "textbox";
}

// Elements whose role depends on their attributes or ancestors.
const DECIDED_BY_CONTEXT = {
  a: (link) => (hasAddress(link) ? "link" : ""),
  area: (link) => (hasAddress(link) ? "link" : ""),
  aside: (aside, role) => (hasGivenName(aside) || !isInside(aside, SECTIONING) ? role : ""),
  footer: (footer, role) => (isInside(footer, LANDMARKS) ? "" : role),
  form: (form, role) => (hasGivenName(form) ? role : ""),
  header: (header, role) => (isInside(header, LANDMARKS) ? "" : role),
  img: (img, role) => (attributeOf(img, "alt") === "" && !keepsOwnRole(img) ? "" : role),
  li: (item, role) => (isListItem(item) ? role : ""),
  section: (section, role) => (hasGivenName(section) ? role : ""),
  select: (select) => (select.multiple || select.size > 1 ? "listbox" : "combobox"),
  summary: (summary, role) => (isFirstSummary(summary) ? role : ""),
  td: (cell, role) => (isInGrid(cell) ? "gridcell" : role),
  th: (cell) => computeHeaderRole(cell),
};

const SECTIONING = "article,aside,nav,section";
const LANDMARKS = `${SECTIONING},main,[role=article],[role=complementary],[role=main],[role=navigation],[role=region]`;

function hasAddress(link) {
  return hasAttribute(link, "href") || link.hasAttributeNS(XLINK, "href");
}

function isInside(element, selector) {
  for (let each = parentElementOf(element); each; each = parentElementOf(each)) if (matchesSelector(each, selector)) return true;
  return false;
}

// Without a list around it, or with one that is only presentational, there is no item.
function isListItem(item) {
  for (let each = parentElementOf(item); each; each = parentElementOf(each)) {
    if (matchesSelector(each, "ul,ol,menu,[role=list]")) return computeRole(each) !== "";
  }
  return false;
}

function isFirstSummary(summary) {
  const parent = domParentOf(summary);
  return parent !== null && tagOf(parent) === "details" && selectFirst(parent, ":scope > summary") === summary;
}

function isInGrid(cell) {
  const table = closestOf(cell, "table");
  const role = table && attributeOf(table, "role");
  return role ? /^(grid|treegrid)$/i.test(role.trim()) : false;
}

// A header cell next to data is a row header; the only cell of a table is not a header.
function computeHeaderRole(cell) {
  const scope = (attributeOf(cell, "scope") || "").toLowerCase();
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  const row = domParentOf(cell);
  for (const other of row?.cells || []) if (tagOf(other) === "td") return "rowheader";
  return row?.cells?.length === 1 && closestOf(cell, "table")?.rows.length === 1 ? "" : "columnheader";
}

function readHeadingLevel(element) {
  const given = Number(attributeOf(element, "aria-level"));
  if (given > 0) return Math.min(given, 6);
  return /^h[1-6]$/.test(tagOf(element)) ? Number(tagOf(element)[1]) : 2;
}

function isEditingHost(element) {
  const value = attributeOf(element, "contenteditable");
  return value !== null && value !== "false" && element.isContentEditable;
}
