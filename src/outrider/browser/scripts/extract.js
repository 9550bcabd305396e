// Exports the rendered document: a map of it, its HTML with shadow trees inlined, the selection.

const MAX_MAP_CHILDREN = 20;
const VOID_TAGS = new Set(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]);
const SKIPPED_TAGS = new Set(["script", "style", "noscript", "template"]);

function buildDomMap({ selector = "body", depth = 5 } = {}) {
  const { tops, failure } = findScopes(selector);
  if (failure) return { ok: false, ...failure };
  return { ok: true, title: titleOf(document), url: location.href, domMap: buildMapNode(tops[0], Math.min(depth, 20)) };
}

function buildMapNode(element, depth) {
  const node = { tag: tagOf(element), selector: buildSelector(element) };
  const add = (name, value) => {
    if (value) node[name] = cleanText(shorten(String(value), 300));
  };
  for (const name of ["id", "class", "type", "href", "src", "alt", "placeholder", "name", "role", "title"]) add(name, attributeOf(element, name));
  add("ariaLabel", attributeOf(element, "aria-label"));
  if (FIELD_ROLES.has(computeRole(element))) add("value", readValue(element));
  add("text", shorten(readOwnText(element), 100));
  const children = depth > 0 ? listMapChildren(element) : [];
  if (children.length) node.children = children.slice(0, MAX_MAP_CHILDREN).map((child) => buildMapNode(child, depth - 1));
  if (children.length > MAX_MAP_CHILDREN) node.more = children.length - MAX_MAP_CHILDREN;
  return node;
}

function readOwnText(element) {
  if (hidesText(element, getComputedStyle(element))) return "";
  return collapseSpace([...childrenOf(element)].filter((node) => nodeTypeOf(node) === Node.TEXT_NODE).map((node) => node.data).join(" "));
}

function listMapChildren(element) {
  return [...childrenOf(element)].filter(
    (node) => nodeTypeOf(node) === Node.ELEMENT_NODE && !UNRENDERED_TAGS.has(tagOf(node)) && checkVisibilityOf(node) && !hidesContent(node, getComputedStyle(node)),
  );
}

// The HTML as a reader sees it: with shadow trees in place, without elements that are not rendered, and without
// secrets.
function readComposedHtml({ selector = "", limit = 5_000_000, rendered = true, unseen = false } = {}) {
  const { tops, failure } = selector ? findScopes(selector) : { tops: [document.documentElement].filter(Boolean) };
  if (failure) return { ok: false, ...failure };
  const out = { parts: [], size: 0, limit, rendered, unseen };
  for (const top of tops) copyNode(top, out);
  return { ok: true, html: out.parts.join(""), truncated: out.size > limit, title: titleOf(document), url: location.href };
}

function writeHtml(out, text) {
  out.size += text.length;
  if (out.size <= out.limit) out.parts.push(text);
}

function copyNode(node, out) {
  if (out.size > out.limit) return;
  if (nodeTypeOf(node) === Node.TEXT_NODE) writeHtml(out, escapeHtml(node.data));
  else if (nodeTypeOf(node) === Node.ELEMENT_NODE) copyElement(node, out);
}

function copyElement(element, out) {
  const tag = tagOf(element);
  if (SKIPPED_TAGS.has(tag) && element.type !== "application/ld+json") return;
  const isHead = tag === "html" || tag === "head" || out.inHead;
  const style = out.rendered && !isHead ? getComputedStyle(element) : null;
  if (style && !(out.unseen ? isRendered(element, style) : canBeRead(element, style))) return;
  if (tag === "slot") return copyChildren(element, out, style);
  writeHtml(out, `<${tag}${formatAttributes(element)}>`);
  if (VOID_TAGS.has(tag)) return;
  if (tag === "iframe") writeHtml(out, `<!--frame:${refOf(element)}-->`);
  else if (tag === "script") writeHtml(out, textContentOf(element));
  else copyContent(element, out, style);
  writeHtml(out, `</${tag}>`);
}

function canBeRead(element, style) {
  return !hidesContent(element, style) && isRendered(element, style);
}

function isRendered(element, style) {
  return checkVisibilityOf(element) || isCollapsedContent(element, style);
}

// Closed details can be opened by a reader; display: contents has no box but children.
function isCollapsedContent(element, style) {
  if (OPTION_TAGS.has(tagOf(element))) return true;
  return style.display === "contents" || findClosedDetails(element) !== null;
}

function copyContent(element, out, style) {
  if (tagOf(element) !== "head") return copyChildren(element, out, style);
  out.inHead = true;
  copyChildren(element, out, style);
  out.inHead = false;
}

// Elements without a style have all their text copied.
function copyChildren(element, out, style) {
  let isTextHidden = style && !out.unseen && !OPTION_TAGS.has(tagOf(element)) ? undefined : false;
  for (const child of childrenOf(element)) {
    if (nodeTypeOf(child) === Node.TEXT_NODE && (isTextHidden ??= hidesText(element, style))) continue;
    copyNode(child, out);
  }
}

// The options of a closed list have no style of their own.
const OPTION_TAGS = new Set(["option", "optgroup"]);

function formatAttributes(element) {
  let text = "";
  for (const { name, value } of element.attributes) {
    if (name.startsWith("on") || name === "style" || name === "srcdoc" || (name === "value" && isSecret(element))) continue;
    text += ` ${name}="${escapeHtml(resolveAttribute(element, name, value)).replace(/"/g, "&quot;")}"`;
  }
  return text;
}

function resolveAttribute(element, name, value) {
  if (name === "href" && typeof element.href === "string") return element.href;
  if (name === "src" && typeof element.currentSrc === "string" && element.currentSrc) return element.currentSrc;
  return name === "src" && typeof element.src === "string" ? element.src : value;
}

function escapeHtml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function readSelection() {
  const field = focusedElement();
  if (field && isSecret(field)) return { text: "" };
  const from = field && "selectionStart" in field ? field.selectionStart : null;
  if (from !== null && from !== undefined) return { text: cleanText(field.value.slice(from, field.selectionEnd)) };
  return { text: cleanText(String(getSelection())) };
}

// Boxes of visible actionable elements, to draw references on a screenshot.
function listBoxes() {
  const found = [];
  for (const element of iterElements(bodyOf(document))) {
    const describe = toInteractable(element, false);
    const rect = describe && boxOf(element);
    if (rect && isInViewport(rect)) found.push({ ref: refOf(element), ...rect });
  }
  return { boxes: found.slice(0, 300) };
}
