// Writes tables: one row per line, cells separated by bars; layout tables as plain blocks.

const CELL_ROLES = new Set(["cell", "gridcell", "columnheader", "rowheader"]);
const TABLE_ROLES = new Set(["table", "grid", "treegrid"]);
const layoutTables = new WeakMap();

function emitTable(table, out, style, role) {
  out.flush();
  const { layout } = out;
  out.layout = role === "table" && isLayoutTable(table);
  if (out.layout) walkChildren(table, out, style);
  else emitDataTable(table, out, style, role);
  out.layout = layout;
}

function emitDataTable(table, out, style, role) {
  const name = computeName(table, role);
  const rows = table.rows?.length || selectAll(table, "[role=row]").length;
  out.line(`${role}${name ? ` ${quote(name)}` : ""}${out.takeContainerMark()}${rows > 3 ? ` (${rows} rows)` : ""}`);
  out.nested(() => walkTable(table, out, style));
}

function walkTable(table, out, style) {
  const parentContext = new ParentContext(style, table);
  for (const child of childrenOf(table)) {
    if (nodeTypeOf(child) === Node.ELEMENT_NODE && tagOf(child) !== "caption") walkElement(child, out, parentContext);
  }
}

function isLayoutTable(table) {
  if (table.localName !== "table") return false;
  let known = layoutTables.get(table);
  if (known === undefined) {
    known = looksLikeLayout(table);
    layoutTables.set(table, known);
  }
  return known;
}

function looksLikeLayout(table) {
  if (table.caption || table.tHead || selectFirst(table, "th")) return selectFirst(table, "table") !== null;
  if (selectFirst(table, "table,form,h1,h2,h3,section,article,nav")) return true;
  return table.rows.length < 2 || (table.rows[0]?.cells.length || 0) < 2;
}

function emitRow(row, out, style) {
  const mark = out.rowMark ? `${out.rowMark} ` : "";
  out.rowMark = "";
  if (out.layout) return emitLayoutRow(row, out, style, mark);
  const cells = out.cells;
  out.onOneLine(() => {
    if (mark) out.item(mark);
    out.cells = 0;
    walkChildren(row, out, style);
  });
  out.cells = cells;
}

function emitLayoutRow(row, out, style, mark) {
  out.flush();
  if (mark) out.item(mark);
  walkChildren(row, out, style);
  out.flush();
}

function emitCell(cell, out, style, role) {
  if (out.layout) return emitLayoutCell(cell, out, style);
  emitCellBorder(role, out);
  walkChildren(cell, out, style);
}

function emitLayoutCell(cell, out, style) {
  out.pad();
  walkChildren(cell, out, style);
  out.pad();
}

function emitCellBorder(role, out) {
  if (CELL_ROLES.has(role) && out.inline && out.cells++ > 0) out.item("|");
}
