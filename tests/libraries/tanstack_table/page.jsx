import { createRoot } from "react-dom/client";
import { columnFilteringFeature, columnVisibilityFeature, createColumnHelper, createFilteredRowModel, createPaginatedRowModel, createSortedRowModel, filterFns, rowPaginationFeature, rowSelectionFeature, rowSortingFeature, sortFns, tableFeatures, useTable } from "@tanstack/react-table";
import { useEffect } from "react";

const features = tableFeatures({ columnFilteringFeature, columnVisibilityFeature, rowPaginationFeature, rowSelectionFeature, rowSortingFeature, filteredRowModel: createFilteredRowModel(), paginatedRowModel: createPaginatedRowModel(), sortedRowModel: createSortedRowModel(), filterFns, sortFns });
const helper = createColumnHelper();
const DATA = [["Tanner", "Linsley", 33], ["Kevin", "Vandy", 27], ["Joe", "Dirte", 45], ["Ann", "Lee", 30]].map(([first, last, age]) => ({ first, last, age }));
const columns = helper.columns([
  helper.display({ id: "select", header: ({ table }) => <input type="checkbox" aria-label="Select all" checked={table.getIsAllRowsSelected()} onChange={table.getToggleAllRowsSelectedHandler()} />, cell: ({ row }) => <input type="checkbox" checked={row.getIsSelected()} onChange={row.getToggleSelectedHandler()} /> }),
  helper.accessor("first", { header: "First Name", filterFn: "includesString" }),
  helper.accessor("last", { header: "Last Name" }),
  helper.accessor("age", { header: "Age" }),
]);

function People() {
  const table = useTable({ features, columns, data: DATA, initialState: { pagination: { pageIndex: 0, pageSize: 3 } } }, (state) => state);
  const state = table.state;
  useEffect(() => { tell("sorting", state.sorting); tell("page", state.pagination.pageIndex); tell("rows", Object.keys(state.rowSelection)); tell("shown", table.getRowModel().rows.map((row) => row.original.first)); tell("hidden", Object.keys(state.columnVisibility).filter((each) => !state.columnVisibility[each])); });
  return (
    <>
      <div>{table.getAllLeafColumns().filter(({ id }) => id !== "select").map((column) => <label key={column.id}><input type="checkbox" checked={column.getIsVisible()} onChange={column.getToggleVisibilityHandler()} />{column.id}</label>)}</div>
      <table>
        <thead>{table.getHeaderGroups().map((group) => <tr key={group.id}>{group.headers.map((header) => <th key={header.id}><div style={header.column.getCanSort() ? { cursor: "pointer" } : {}} onClick={header.column.getToggleSortingHandler()}><table.FlexRender header={header} />{{ asc: " 🔼", desc: " 🔽" }[header.column.getIsSorted()] ?? null}</div>{header.column.id === "first" && <input placeholder="Search..." onChange={(event) => header.column.setFilterValue(event.target.value)} />}</th>)}</tr>)}</thead>
        <tbody>{table.getRowModel().rows.map((row) => <tr key={row.id}>{row.getVisibleCells().map((cell) => <td key={cell.id}><table.FlexRender cell={cell} /></td>)}</tr>)}</tbody>
      </table>
      <button onClick={() => table.previousPage()} disabled={!table.getCanPreviousPage()}>{"<"}</button><button onClick={() => table.nextPage()} disabled={!table.getCanNextPage()}>{">"}</button>
    </>
  );
}

createRoot(document.getElementById("root")).render(<><h1>TanStack Table</h1><People /></>);
