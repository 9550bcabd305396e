// Writes elements that are read and not acted on: headings, containers, lists, images, gauges, code.

const CONTAINERS = new Set([
  "main", "nav", "header", "footer", "aside", "search", "dialog", "alertdialog", "alert", "menu", "menubar", "tablist",
  "toolbar", "tree", "radiogroup", "tabpanel", "feed", "log", "figure", "article", "listbox",
]);
const CONTAINERS_IF_NAMED = new Set(["form", "region", "group", "list", "status"]);

function emitStatic(element, out, style, role) {
  if (role === "heading") return emitHeading(element, out, style);
  if (TABLE_ROLES.has(role)) return emitTable(element, out, style, role);
  if (role === "row") return emitRow(element, out, style);
  if (CELL_ROLES.has(role)) return emitCell(element, out, style, role);
  if (role === "listitem") return emitListItem(element, out, style);
  if (role === "img" || role === "canvas" || role === "video" || role === "audio") return emitImage(element, out, style, role);
  if (role === "iframe") return emitFrame(element, out);
  if (role === "progressbar" || role === "meter") return emitGauge(element, out, style, role);
  if (tagOf(element) === "pre") return emitPre(element, out, style);
  if (tagOf(element) === "details" && !element.open) return emitClosedDetails(element, out, style);
  if (CONTAINERS.has(role)) return emitContainer(element, out, style, role, computeName(element, role));
  if (CONTAINERS_IF_NAMED.has(role)) return emitIfNamed(element, out, style, role);
  return walkChildren(element, out, style);
}

function emitHeading(element, out, style) {
  out.flush();
  out.onOneLine(() => {
    out.item("#".repeat(readHeadingLevel(element)));
    const label = nameFromAria(element);
    if (label && !collapseSpace(textContentOf(element)) && !shadowOf(element)) out.text(label);
    else walkChildren(element, out, style);
  });
}

function emitContainer(element, out, style, role, name) {
  out.flush();
  const mark = out.takeContainerMark();
  const word = role === "dialog" && isModal(element) ? "modal dialog" : role;
  out.line(`${word}${name ? ` ${quote(name)}` : ""}${mark}${attributeOf(element, "aria-busy") === "true" ? " busy" : ""}`);
  const at = out.lines.length;
  out.nested(() => walkChildren(element, out, style));
  if (!out.inline && out.lines.length === at && !name && !mark) out.lines.pop();
}

function isModal(dialog) {
  return matchesSelector(dialog, ":modal") || attributeOf(dialog, "aria-modal") === "true";
}

function emitIfNamed(element, out, style, role) {
  const name = role === "list" ? "" : nameFromAria(element) || nameFromMarkup(element);
  if (!name) return role === "list" && isInListItem(element) ? out.nested(() => walkChildren(element, out, style)) : walkChildren(element, out, style);
  emitContainer(element, out, style, role, name);
}

function isInListItem(list) {
  return domParentOf(list)?.localName === "li" && !matchesSelector(domParentOf(list), "nav li:only-child");
}

function emitListItem(element, out, style) {
  out.flush();
  const { depth } = out;
  const mark = out.pendingMark ? `${out.pendingMark} ` : "";
  out.pendingMark = "";
  if (!out.inline) out.prefix = `${readListMarker(element, style)} ${mark}`;
  else out.put(mark);
  walkChildren(element, out, style);
  out.flush();
  if (!out.inline) {
    if (out.prefix && mark) out.line("");
    out.prefix = "";
    out.depth = depth;
  }
}

function emitImage(element, out, style, role) {
  if (out.muted) return;
  const name = computeName(element, role);
  if (name) out.item(`(${role} ${quote(name)})`);
  if (tagOf(element) === "svg") return emitSvgContent(element, out, style);
  if (role !== "img" && !name) out.item(`(${role})`);
  if (tagOf(element) !== "img") walkChildren(element, out, style);
}

function emitSvgContent(svg, out, style) {
  if (firstElementOf(svg)) walkChildren(svg, out, style);
}

// Python puts the frame's own outline in place of this line.
function emitFrame(element, out) {
  if (out.muted) return;
  const name = collapseSpace(element.title || attributeOf(element, "aria-label") || element.name || "");
  out.flush();
  out.line(`iframe${name ? ` ${quote(name)}` : ""}\u0001${refOf(element)}\u0001`);
}

function emitGauge(element, out, style, role) {
  const name = computeName(element, role);
  const value = attributeOf(element, "aria-valuetext") || attributeOf(element, "aria-valuenow") || readGaugeValue(element);
  out.item(`(${role}${name ? ` ${quote(name)}` : ""}${value ? ` ${plainLine(value)}${formatRange(element)}` : ""})`);
  if (tagOf(element) !== "progress" && tagOf(element) !== "meter") emitRemainder(element, `${name} ${value}`, out, style);
}

// A native bar without a value only shows that something is in progress.
function readGaugeValue(element) {
  if (tagOf(element) === "progress" && !hasAttribute(element, "value")) return "";
  return String(element.value ?? "");
}

function emitPre(element, out, style) {
  if (firstElementOf(element) && hasActionableInside(element)) return walkChildren(element, out, style);
  if (out.inline || out.muted) return out.text(readShownText(element));
  out.flush();
  for (const line of cleanText(readShownText(element)).split("\n")) if (line.trim()) out.line(plainRun(line).trimEnd());
}

function emitClosedDetails(element, out, style) {
  const summary = [...elementsOf(element)].find((child) => tagOf(child) === "summary");
  if (summary) walkElement(summary, out, new ParentContext(style, element));
}
