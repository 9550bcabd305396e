"""Find groups that may be a list of objects, with values."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from outrider.pages.values.declared import describe_json_ld, flatten_json, read_json_ld, read_microdata
from outrider.pages.values.definitions import read_definitions
from outrider.pages.values.moments import read_only_date
from outrider.pages.values.named_elements import SKIPPED_TAGS, is_hidden
from outrider.pages.values.offered_value import OfferedValue, TextReader
from outrider.pages.values.shown import ShownReader, is_menu, list_menu_ids, read_body
from outrider.pages.values.tables import MAX_ROWS, Row, has_head_row, read_columns, read_grid, read_rows


def find_declared_groups(tree: Any) -> list[list[Row]]:
    """Return groups of at least two objects in JSON-LD or microdata, by their type."""
    by_type: dict[str, list[Row]] = {}
    for data in read_json_ld(tree):
        rows = by_type.setdefault(describe_json_ld(data), [])
        place = f"{describe_json_ld(data)} {len(rows) + 1}"
        rows.append((place, list(flatten_json(data, place))))
    for node in tree.css("[itemscope][itemtype]")[:MAX_ROWS]:
        kind = (node.attributes.get("itemtype") or "").rpartition("/")[2]
        rows = by_type.setdefault(f"microdata {kind}", [])
        rows.append((f"microdata {kind} {len(rows) + 1}", list(read_microdata(node))))
    return [rows for rows in by_type.values() if len(rows) > 1]


def find_row_groups(tree: Any) -> Iterator[list[Row]]:
    """Yield groups of at least two rows that a page shows: rows of tables, definitions, repeated elements."""
    texts = TextReader()
    for rows in (*_read_tables(tree, texts), *read_definitions(tree, texts), *_find_repeated(tree, texts)):
        if len(rows) > 1 or (rows and " row " in rows[0][0]):
            yield rows


def _read_tables(tree: Any, texts: TextReader) -> list[list[Row]]:
    """Return each table's rows, and its columns as rows.

    Tables with the same header are joined.
    """
    max_tables = 200
    by_head: dict[tuple[tuple[str, ...], ...], list[Row]] = {}  # by the labels next to the rows
    turned: list[list[Row]] = []
    for number, table in enumerate(tree.css('table, [role="table"], [role="grid"]')[:max_tables], 1):
        # A table around others only places them, unless its columns have headings.
        if is_hidden(table) or (len(table.css("table")) > 1 and not has_head_row(table)):
            continue
        grid = read_grid(table, texts)
        place = f"table {number}"
        by_head.setdefault(tuple(each[-1:] for each in grid.label_columns()), []).extend(read_rows(grid, place, texts))
        turned.append(read_columns(grid, place, texts))
    return [*by_head.values(), *turned]


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


def _find_repeated(tree: Any, texts: TextReader) -> Iterator[list[Row]]:
    """Yield three or more siblings with the same tag and class; two suffice if they have a class."""
    menus = list_menu_ids(tree)
    by_text: dict[tuple[int, tuple[str, ...]], list[Any]] = {}
    for nodes in _group_alike(tree):
        if not is_hidden(nodes[0]) and not is_menu(nodes, menus):
            # Elements around others have the same text, and outer ones have all that is in them.
            by_text.setdefault((len(nodes), tuple(texts.read(node) for node in nodes[:50])), nodes)
    large = sorted(by_text.items(), key=lambda item: sum(map(len, item[0][1])), reverse=True)
    max_groups = 80
    for _, nodes in large[:max_groups]:
        name = nodes[0].tag + "".join(f".{each}" for each in (nodes[0].attributes.get("class") or "").split()[:1])
        rows = []
        for number, node in enumerate(nodes[:MAX_ROWS], 1):
            place = f"{name} {number}"
            own = (
                [OfferedValue(("url",), address, "element", f"{place}, link", 0.5)]
                if (node.tag == "a" and (address := node.attributes.get("href")))
                else []
            )
            own += [*read_body(node, texts, place), *read_only_date(texts.read(node), place)]
            rows.append((place, [*read_microdata(node), *ShownReader(texts, f"{place}, ").read(node), *own]))
        yield _drop_repeated_titles(rows)


def _drop_repeated_titles(rows: list[Row]) -> list[Row]:
    """Return rows without the titles and links that most of them have, such as "Read more"."""
    labels = (("title",), ("url",))
    found = ({(each.labels, each.text) for each in offers if each.labels in labels} for _, offers in rows)
    counts = Counter(chain.from_iterable(found))
    repeated = {each for each, count in counts.items() if count > max(2, len(rows) / 2)}
    return [(place, [each for each in offers if (each.labels, each.text) not in repeated]) for place, offers in rows]


def _group_alike(tree: Any) -> list[list[Any]]:
    """Return groups of elements of the same tag and class, of one parent or of alike parents, none in another."""
    max_nodes = 20_000
    groups: dict[tuple[int | str, str, str], list[Any]] = {}
    lists: dict[int, tuple[set[str], list[Any]]] = {}
    for node in tree.css("li, article, section, div, a, tr, table, details, figure, p")[:max_nodes]:
        parent = node.parent
        if parent is None or parent.tag in SKIPPED_TAGS:
            continue
        first_class = (node.attributes.get("class") or "").strip().partition(" ")[0]
        groups.setdefault((parent.mem_id, node.tag, first_class), []).append(node)
        if node.tag == "li":  # items of one list are alike whatever their classes
            classes, items = lists.setdefault(parent.mem_id, (set(), []))
            classes.add(first_class)
            items.append(node)
        if first_class:  # a list may be in several parts, each with a heading
            around = f"{parent.tag} {(parent.attributes.get('class') or '').strip().partition(' ')[0]}"
            groups.setdefault((around, node.tag, first_class), []).append(node)
    groups |= {(f"items {key}", "li", ""): items for key, (classes, items) in lists.items() if len(classes) > 1}
    return [
        part
        for (_, _, first_class), nodes in groups.items()
        for part in _split_nested(nodes)
        if len(part) > (1 if first_class else 2)
    ]


def _split_nested(nodes: list[Any]) -> list[list[Any]]:
    """Return elements in groups by how many of the others are around them."""
    max_levels = 12
    ids = {node.mem_id for node in nodes}
    by_count: dict[int, list[Any]] = {}
    for node in nodes:
        above, count = node.parent, 0
        for _ in range(max_levels if len({each.parent.mem_id for each in nodes[:2]}) > 1 else 0):
            if above is None:
                break
            count += above.mem_id in ids
            above = above.parent
        by_count.setdefault(count, []).append(node)
    return [*by_count.values()]
