"""Convert the grids of Javadoc, since JDK 16 without rows, to tables.

The cells have classes (`jdk.javadoc`, HtmlStyle): `table-header` above, `col-last` at the end of each row.
"""

from typing import Any


def may_have_javadoc_tables(source: bytes) -> bool:
    """Return whether the head of a page names Javadoc as its generator."""
    # The generator is named in a comment and in a meta element. Searching all of each page would be slow.
    return source.find(b"javadoc", 0, 10_000) >= 0


def convert_javadoc_tables(tree: Any) -> None:
    """Give these grids rows, and their elements the roles of a table. Nested grids stay unchanged."""
    max_tables = 500
    outer_grids = []
    for grid in tree.css("div.summary-table")[:max_tables]:
        ancestor = grid.parent
        while ancestor is not None and "summary-table" not in (ancestor.attributes.get("class") or ""):
            ancestor = ancestor.parent
        if ancestor is None:
            outer_grids.append(grid)
    for grid in outer_grids:
        row = None
        for cell in [node for node in grid.iter() if node.is_element_node]:
            names = cell.attributes.get("class") or ""
            if row is None:
                cell.insert_before(tree.create_node("div"))
                row = cell.prev
                row.attrs["role"] = "row"
            cell.attrs["role"] = "columnheader" if "table-header" in names else "cell"
            row.insert_child(cell)  # inserts a copy
            cell.decompose()
            if "col-last" in names:
                row = None
        grid.attrs["role"] = "table"
