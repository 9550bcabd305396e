"""The tables of Javadoc: since JDK 16 cells in a grid without rows, which only its style sheet lays out.

Their cells have classes (`jdk.javadoc`, HtmlStyle): `table-header` above, `col-last` at the end of each row.
"""

from typing import Any

GENERATOR_NAME, GENERATOR_HEAD_BYTES = (
    b"javadoc",
    10_000,
)  # who made a page says so in a comment and in a meta element, at its head


def may_have_javadoc_tables(source: bytes) -> bool:
    """Whether a page may have such tables: to search all of it for their class takes .05 ms, and few pages have any."""
    return source.find(GENERATOR_NAME, 0, GENERATOR_HEAD_BYTES) >= 0


def convert_javadoc_tables(tree: Any) -> None:
    """Gives these tables rows, and their elements the roles of a table's. Those in one another are left as they are."""
    max_tables = 500  # of a page
    table_selector = "div.summary-table"
    for grid in [each for each in tree.css(table_selector)[:max_tables] if not _is_nested_table(each)]:
        _wrap_cells_in_rows(tree, grid)


def _is_nested_table(grid: Any) -> bool:
    up = grid.parent
    while up is not None and "summary-table" not in (up.attributes.get("class") or ""):
        up = up.parent
    return up is not None


def _wrap_cells_in_rows(tree: Any, grid: Any) -> None:
    row = None
    for cell in [each for each in grid.iter() if each.is_element_node]:
        names = cell.attributes.get("class") or ""
        if row is None:
            cell.insert_before(tree.create_node("div"))
            row = cell.prev
            row.attrs["role"] = "row"
        cell.attrs["role"] = "columnheader" if "table-header" in names else "cell"
        row.insert_child(cell)  # a copy
        cell.decompose()
        if "col-last" in names:
            row = None
    grid.attrs["role"] = "table"
