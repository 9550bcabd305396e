// Reads tables, lists and labelled values of a page as records, by their structure.

const MAX_RECORDS = 10_000;
const MAX_RECORD_VALUE_CHARS = 10_000;
const TABLE_SELECTOR = "table,[role=table],[role=grid],[role=treegrid]";
const ITEM_LIST_SELECTOR = "ul,ol,[role=list],[role=feed],[role=listbox]";
const LABEL_SELECTOR = "dt,th,label,legend,[role=rowheader],[role=term],b,strong,span,div,p,td,h1,h2,h3,h4,h5,h6";

// Returns each structure of this kind and name: its name, its records, and the labels that it lacks.
function readRecords({ kind, name, columns }) {
  if (kind === "page") return [{ name: titleOf(document), records: [readRecord(document.body, columns)], missing: [] }];
  if (kind === "items") return readItems(queryDeep(name).filter(isVisible), columns, name);
  if (kind === "list") return findLists(name).flatMap((list) => readItems(listItems(list), columns, nameOfStructure(list)));
  return findStructures(TABLE_SELECTOR, name).map((table) => readTableRecords(table, columns));
}

function readItems(items, columns, name) {
  if (!items.length) return [];
  return [{ name, records: items.slice(0, MAX_RECORDS).map((item) => readRecord(item, columns)), missing: [] }];
}

function findStructures(selector, name) {
  const wanted = toComparableName(name.replace(/\*/g, ""));
  const shown = [...iterElements(document.documentElement)].filter((element) => matchesSelector(element, selector) && isVisible(element));
  return shown.filter((element) => !wanted || namesOfStructure(element).some((each) => toComparableName(each) === wanted));
}

function namesOfStructure(element) {
  return [computeName(element), cleanText(element.caption?.innerText || ""), findHeadingAbove(element), element.id];
}

function nameOfStructure(element) {
  return shorten(namesOfStructure(element).find(Boolean) || describeElement(element), 80);
}

// Cards without a list around them are the articles of one parent.
function findLists(name) {
  const lists = findStructures(ITEM_LIST_SELECTOR, name);
  if (lists.length) return lists;
  const parents = new Set([...document.querySelectorAll("article,[role=article],[role=listitem]")].map(parentElementOf));
  return [...parents].filter((each) => findStructures("*", name).includes(each));
}

function listItems(list) {
  const items = [...elementsOf(list)].filter((each) => matchesSelector(each, "li,article,[role=listitem],[role=article],[role=option]"));
  return items.filter(isVisible);
}

function readTableRecords(table, columns) {
  const rows = listTableRows(table);
  const grid = spreadCells(rows);
  const head = findHeadRow(rows, columns, grid);
  const places = new Map(columns.filter((each) => each.label).map((each) => [each.key, findColumn(grid[head] || [], each.label)]));
  const missing = columns.filter((each) => places.get(each.key) === -1).map((each) => each.label);
  const records = [];
  for (let index = head + 1; index < rows.length && records.length < MAX_RECORDS; index++) {
    if (!isDataRow(rows[index], grid[index], grid[head] || [])) continue;
    records.push(columns.map((column) => (column.label ? readCell(grid[index][places.get(column.key)]) : readPart(rows[index], column))));
  }
  return { name: nameOfStructure(table), records, missing };
}

function listTableRows(table) {
  const rows = table.rows ? [...table.rows] : [...selectAll(table, "[role=row]")].filter((row) => closestOf(row, TABLE_SELECTOR) === table);
  return rows.filter((row) => isVisible(row) && tagOf(row.parentElement) !== "tfoot");
}

// The cells of each row by column; a cell that spans several columns is repeated in each.
function spreadCells(rows) {
  const grid = rows.map(() => []);
  rows.forEach((row, index) => {
    let column = 0;
    for (const cell of row.cells || selectAll(row, "[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]")) {
      while (grid[index][column]) column++;
      for (let down = 0; down < Math.max(cell.rowSpan || 1, 1) && index + down < rows.length; down++) {
        for (let right = 0; right < Math.min(cell.colSpan || 1, 100); right++) grid[index + down][column + right] = cell;
      }
      column += cell.colSpan || 1;
    }
  });
  return grid;
}

// The row with most of the labels, among the first ones, because a table begins with its headings.
function findHeadRow(rows, columns, grid) {
  const labels = columns.filter((each) => each.label);
  if (!labels.length) return rows.findIndex((row) => selectFirst(row, "td,[role=cell],[role=gridcell]")) - 1;
  const counts = grid.slice(0, 5).map((cells) => labels.filter((each) => findColumn(cells, each.label) >= 0).length);
  return counts.indexOf(Math.max(...counts));
}

function findColumn(cells, label) {
  const wanted = toComparableName(label);
  return cells.findIndex((cell) => cell && toComparableName(readText(cell)) === wanted);
}

// A row of one cell over all columns is a heading or a remark such as "no orders".
function isDataRow(row, cells, head) {
  const different = new Set(cells.filter(Boolean));
  if (!different.size || (different.size === 1 && head.length > 1)) return false;
  return [...different].some((cell) => tagOf(cell) !== "th" && attributeOf(cell, "role") !== "columnheader");
}

function readRecord(root, columns) {
  return columns.map((column) => (column.label ? readLabelled(root, column.label) : readPart(root, column)));
}

function readPart(root, { part, selector }) {
  if (part === "text") return readCell(root);
  const found = selector ? [...selectAll(root, selector)] : [...selectAll(root, { heading: HEADING_SELECTOR, link: "a[href]", image: "img,[role=img]" }[part])];
  const shown = found.filter(isVisible);
  if (selector && shown.length > 1) return { several: shown.length };
  return shown.length ? readCell(shown[0]) : null;
}

// The value next to a label: a definition, the next cell, a field, or the text that follows.
function readLabelled(root, label) {
  const wanted = toComparableName(label);
  const labels = [...selectAll(root, LABEL_SELECTOR)].filter((each) => toComparableName(readText(each)) === wanted && isVisible(each));
  const innermost = labels.filter((each) => !labels.some((other) => other !== each && each.contains(other)));
  const values = innermost.map(readBeside).filter(Boolean);
  if (values.length) return takeOnly(values);
  return takeOnly([...selectAll(root, "p,li,div,span,td,dd")].filter(isVisible).flatMap((each) => readAfterColon(each, wanted)));
}

function takeOnly(values) {
  const different = new Set(values.map((each) => each.text));
  return different.size > 1 ? { several: different.size } : values[0] || null;
}

function readBeside(label) {
  if (label.control) return readCell(label.control);
  for (let each = label; each && each !== document.body; each = each.parentElement) {
    const after = each.nextSibling && (each.nextElementSibling || each.nextSibling);
    const direct = cleanText(collapseSpace(readFollowingText(each)));
    if (direct) return { text: direct.replace(/^[:–-]\s*/, ""), address: "" };
    if (after?.nodeType === Node.ELEMENT_NODE) return readCell(after);
    if (toComparableName(readText(each.parentElement || each)) !== toComparableName(readText(label))) return null;
  }
  return null;
}

// The bare text between an element and the next one.
function readFollowingText(element) {
  let text = "";
  for (let node = element.nextSibling; node && nodeTypeOf(node) !== Node.ELEMENT_NODE; node = node.nextSibling) if (nodeTypeOf(node) === Node.TEXT_NODE) text += node.data;
  return collapseSpace(text);
}

function readAfterColon(element, wanted) {
  if (selectFirst(element, "p,li,div,td,dd")) return [];
  const text = readText(element);
  const colon = text.indexOf(":");
  if (colon < 0 || toComparableName(text.slice(0, colon)) !== wanted) return [];
  return [{ text: text.slice(colon + 1).trim(), address: "" }];
}

function readCell(element) {
  if (!element) return null;
  const link = matchesSelector(element, "a[href]") ? element : selectFirst(element, "a[href]");
  const image = matchesSelector(element, "img") ? element : selectFirst(element, "img");
  const control = matchesSelector(element, "input,select,textarea") ? element : selectFirst(element, "input,select,textarea");
  const text = readText(element) || (control ? readControl(control) : "") || cleanText(image?.alt || "");
  return { text: text.slice(0, MAX_RECORD_VALUE_CHARS), address: link?.href || image?.currentSrc || "" };
}

function readText(element) {
  if (matchesSelector(element, "input,select,textarea")) return "";
  return collapseSpace(cleanText(element.innerText || ""));
}

function readControl(control) {
  if (isSecret(control)) return "";
  if (control.type === "checkbox" || control.type === "radio") return control.checked ? "yes" : "no";
  const chosen = control.selectedOptions ? [...control.selectedOptions].map((each) => each.label).join(", ") : control.value;
  return cleanText(chosen || "");
}
