import { AllCommunityModule, ModuleRegistry, createGrid } from "ag-grid-community";

ModuleRegistry.registerModules([AllCommunityModule]);
const api = createGrid(document.getElementById("grid"), {
  rowData: [["Tesla", "Model Y", 64950, true], ["Ford", "F-Series", 33850, false], ["Toyota", "Corolla", 29600, false], ["Mercedes", "EQA", 48890, true], ["Fiat", "500", 15774, false], ["Nissan", "Juke", 20675, false]]
    .map(([make, model, price, electric], id) => ({ id: String(id), make, model, price, electric })),
  getRowId: ({ data }) => data.id,
  columnDefs: [
    { field: "make", filter: true, floatingFilter: true, cellEditor: "agSelectCellEditor", cellEditorParams: { values: ["Tesla", "Ford", "Fiat"] }, editable: true },
    { field: "model", editable: true, filter: "agTextColumnFilter" },
    { field: "price", editable: true, valueFormatter: ({ value }) => `$${value.toLocaleString("en-US")}` },
    { field: "electric", editable: true },
  ],
  rowSelection: { mode: "multiRow" },
  pagination: true,
  paginationPageSize: 5,
  paginationPageSizeSelector: [5, 10],
  onSelectionChanged: () => tell("selected", api.getSelectedRows().map(({ make }) => make)),
  onSortChanged: () => tell("sort", api.getColumnState().filter(({ sort }) => sort).map(({ colId, sort }) => `${colId} ${sort}`)),
  onFilterChanged: () => tell("filter", api.getDisplayedRowCount()),
  onCellValueChanged: ({ data, colDef, newValue }) => tell(`${data.id} ${colDef.field}`, newValue),
  onPaginationChanged: () => window.setTimeout(() => tell("page", api.paginationGetCurrentPage())),
});
