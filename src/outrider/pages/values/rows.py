"""Find the groups of a page that may be a list of objects, each row with its values."""

from collections.abc import Iterator
from typing import Any

from outrider.pages.values.declared import describe_json_ld, flatten_json, read_json_ld, read_microdata
from outrider.pages.values.offered_value import OfferedValue, TextReader, tidy_value
from outrider.pages.values.shown import SKIPPED_TAGS, is_hidden, read_shown

MAX_ROWS, MAX_GROUPS = 1_000, 80
Row = tuple[str, list[OfferedValue]]


def find_row_groups(tree: Any) -> Iterator[list[Row]]:
    """Yield groups of at least two rows: objects in JSON-LD or microdata, rows of tables, repeated elements."""
    by_type: dict[str, list[Row]] = {}
    for data in read_json_ld(tree):
        rows = by_type.setdefault(describe_json_ld(data), [])
        place = f"{describe_json_ld(data)} {len(rows) + 1}"
        rows.append((place, list(flatten_json(data, place))))
    for node in tree.css("[itemscope][itemtype]")[:MAX_ROWS]:
        kind = (node.attributes.get("itemtype") or "").rpartition("/")[2]
        rows = by_type.setdefault(f"microdata {kind}", [])
        rows.append((f"microdata {kind} {len(rows) + 1}", list(read_microdata(node))))
    tables = [read_html_table(table, number) for number, table in enumerate(tree.css("table")[:200], 1)]
    for rows in (*by_type.values(), *tables, *_find_repeated(tree)):
        if len(rows) > 1:
            yield rows


def read_html_table(table: Any, number: int) -> list[Row]:
    """Return the rows of an HTML table under the labels of its first row."""
    if table.css_first("table table") is not None or is_hidden(table):
        return []
    lines = [[cell for cell in row.iter() if cell.tag in ("th", "td")] for row in table.css("tr")[: MAX_ROWS + 1]]
    texts = [[tidy_value(cell.text(separator=" ")) for cell in line] for line in lines]
    rows = read_table(texts, f"table {number}")
    for (place, candidates), line in zip(rows, [line for line in lines if line][1:], strict=False):
        links = [node.attributes.get("href") or "" for cell in line for node in cell.css("a[href]")[:1]]
        candidates += [OfferedValue(("url",), link, "table", f"{place}, link", 0.8) for link in links[:1] if link]
    return rows


def read_table(lines: list[list[str]], place: str) -> list[Row]:
    """Return the rows of a table under the labels of its first row; none if it has no such row."""
    lines = [line for line in lines if line]
    if len(lines) < 2 or len(lines[0]) < 2 or not all(0 < len(label) <= 60 for label in filter(None, lines[0])):
        return []
    rows: list[Row] = []
    for number, line in enumerate(lines[1 : MAX_ROWS + 1], 2):
        where = f"{place} row {number}"
        pairs = [(label, value) for label, value in zip(lines[0], line, strict=False) if label and value]
        found = [OfferedValue((label,), value, "table", f"{where}, {label!r}", 0.93) for label, value in pairs]
        rows.append((where, found))
    return rows


def _find_repeated(tree: Any) -> Iterator[list[Row]]:
    """Yield the children of one parent that have the same tag and class, at least three."""
    min_rows, max_parents = 3, 4_000
    groups: dict[tuple[int, str, str], list[Any]] = {}
    for node in tree.css("li, article, section, div, a, tr")[: max_parents * 5]:
        parent = node.parent
        if parent is None or parent.tag in SKIPPED_TAGS:
            continue
        first_class = (node.attributes.get("class") or "").strip().partition(" ")[0]
        groups.setdefault((parent.mem_id, node.tag, first_class), []).append(node)
    large = [nodes for nodes in groups.values() if len(nodes) >= min_rows and not is_hidden(nodes[0])]
    texts = TextReader()
    large.sort(key=lambda nodes: sum(len(texts.read(node)) for node in nodes[:50]), reverse=True)
    for nodes in large[:MAX_GROUPS]:
        name = nodes[0].tag + "".join(f".{each}" for each in (nodes[0].attributes.get("class") or "").split()[:1])
        rows = []
        for number, node in enumerate(nodes[:MAX_ROWS], 1):
            place = f"{name} {number}"
            own = (
                [OfferedValue(("url",), address, "element", f"{place}, link", 0.5)]
                if (node.tag == "a" and (address := node.attributes.get("href")))
                else []
            )
            rows.append((place, [*read_microdata(node), *read_shown(node, texts, place), *own]))
        yield rows
