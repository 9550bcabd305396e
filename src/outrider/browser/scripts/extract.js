// The rendered document as data: a map of it, its HTML with shadow trees laid open, what is selected.

const MAP_CHILDREN = 20;
const VOID = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
const NOT_COPIED = new Set(["script", "style", "noscript", "template"]);

function domMap({ selector = "body", depth = 5 } = {}) {
  const { tops, failure } = scopes(selector);
  if (failure) return { ok: false, ...failure };
  return { ok: true, title: titleOf(document), url: location.href, domMap: mapNode(tops[0], Math.min(depth, 20)) };
}

function mapNode(element, depth) {
  const node = { tag: tagOf(element), selector: selectorOf(element) };
  const add = (name, value) => {
    if (value) node[name] = cleaned(shorten(String(value), 300));
  };
  for (const name of ["id", "class", "type", "href", "src", "alt", "placeholder", "name", "role", "title"]) add(name, element.getAttribute(name));
  add("ariaLabel", element.getAttribute("aria-label"));
  if (FIELD_ROLES.has(roleOf(element))) add("value", valueOf(element));
  add("text", shorten(ownText(element), 100));
  const children = depth > 0 ? mapChildren(element) : [];
  if (children.length) node.children = children.slice(0, MAP_CHILDREN).map((child) => mapNode(child, depth - 1));
  if (children.length > MAP_CHILDREN) node.more = children.length - MAP_CHILDREN;
  return node;
}

function ownText(element) {
  return collapse([...childrenOf(element)].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join(" "));
}

function mapChildren(element) {
  return [...childrenOf(element)].filter(
    (node) => node.nodeType === Node.ELEMENT_NODE && !UNREAD.has(tagOf(node)) && node.checkVisibility(),
  );
}

// As the reader sees it: shadow trees in place, nothing that is not rendered, fields without their values.
function composedHtml({ selector = "", limit = 5_000_000, rendered = true } = {}) {
  const { tops, failure } = selector ? scopes(selector) : { tops: [document.documentElement].filter(Boolean) };
  if (failure) return { ok: false, ...failure };
  const out = { parts: [], size: 0, limit, rendered };
  for (const top of tops) copyNode(top, out);
  return { ok: true, html: out.parts.join(""), truncated: out.size > limit, title: titleOf(document), url: location.href };
}

function put(out, text) {
  out.size += text.length;
  if (out.size <= out.limit) out.parts.push(text);
}

function copyNode(node, out) {
  if (out.size > out.limit) return;
  if (node.nodeType === Node.TEXT_NODE) put(out, escaped(node.data));
  else if (node.nodeType === Node.ELEMENT_NODE) copyElement(node, out);
}

function copyElement(element, out) {
  const tag = tagOf(element);
  if (NOT_COPIED.has(tag) && element.type !== "application/ld+json") return;
  if (out.rendered && !isHead(element) && !element.checkVisibility() && !foldedAway(element)) return;
  if (tag === "slot") return copyChildren(element, out);
  put(out, `<${tag}${copiedAttributes(element)}>`);
  if (VOID.has(tag)) return;
  if (tag === "iframe") put(out, `<!--frame:${refOf(element)}-->`);
  else if (tag === "script") put(out, element.textContent);
  else copyChildren(element, out);
  put(out, `</${tag}>`);
}

// Closed details are text that a reader may open; display: contents has no box but children.
function foldedAway(element) {
  if (tagOf(element) === "option" || tagOf(element) === "optgroup") return true;
  return closedDetails(element) !== null || getComputedStyle(element).display === "contents";
}

function isHead(element) {
  return element === document.documentElement || holds(document.head, element);
}

function copyChildren(element, out) {
  for (const child of childrenOf(element)) copyNode(child, out);
}

function copiedAttributes(element) {
  let text = "";
  for (const { name, value } of element.attributes) {
    if (name.startsWith("on") || name === "style" || name === "srcdoc" || (name === "value" && isSecret(element))) continue;
    text += ` ${name}="${escaped(resolved(element, name, value)).replace(/"/g, "&quot;")}"`;
  }
  return text;
}

function resolved(element, name, value) {
  if (name === "href" && typeof element.href === "string") return element.href;
  if (name === "src" && typeof element.currentSrc === "string" && element.currentSrc) return element.currentSrc;
  return name === "src" && typeof element.src === "string" ? element.src : value;
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function selectedText() {
  const field = focused();
  if (field && isSecret(field)) return { text: "" };
  const from = field && "selectionStart" in field ? field.selectionStart : null;
  if (from !== null && from !== undefined) return { text: cleaned(field.value.slice(from, field.selectionEnd)) };
  return { text: cleaned(String(getSelection())) };
}

// Boxes of what can be acted on and seen, for drawing references on a screenshot.
function boxes() {
  const found = [];
  for (const element of everyElement(bodyOf(document))) {
    const make = asInteractable(element, false);
    const rect = make && boxOf(element);
    if (rect && intersects(rect)) found.push({ ref: refOf(element), ...rect });
  }
  return { boxes: found.slice(0, 300) };
}
