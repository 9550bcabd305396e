import Handsontable from "handsontable";
import "handsontable/styles/handsontable.css";
import "handsontable/styles/ht-theme-main.css";

const rows = [["Tagcat", "Classic Vest", "2026-04-17", true, 3], ["Zoomzone", "Cycling Cap", "2026-05-02", false, 12], ["Meeveo", "Gloves", "2026-06-11", true, 7]];
const table = new Handsontable(document.getElementById("table"), {
  data: rows,
  colHeaders: ["Company", "Product", "Sell date", "In stock", "Qty"],
  columns: [{ type: "text" }, { type: "dropdown", source: ["Classic Vest", "Cycling Cap", "Gloves", "HL Tube"] }, { type: "text" }, { type: "checkbox" }, { type: "numeric" }],
  rowHeaders: true,
  columnSorting: true,
  contextMenu: true,
  dropdownMenu: true,
  filters: true,
  themeName: "ht-theme-main",
  licenseKey: "non-commercial-and-evaluation",
  height: 320,
  afterChange: (changes) => changes?.forEach(([row, column, , value]) => tell(`${row} ${column}`, value)),
  afterColumnSort: (_, [now]) => tell("sorted", now && [now.column, now.sortOrder]),
  afterCreateRow: () => tell("rows", table.countRows()),
  afterFilter: () => tell("shown", table.countRows()),
});
