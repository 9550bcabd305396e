"""Find groups that may be a list of objects, with values."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from outrider.pages.urls import resolve_url
from outrider.pages.values.declared import describe_json_ld, flatten_json, read_json_ld, read_microdata
from outrider.pages.values.named_elements import SKIPPED_TAGS, is_hidden
from outrider.pages.values.offered_value import OfferedValue, TextReader
from outrider.pages.values.shown import ShownReader
from outrider.pages.values.tables import MAX_ROWS, Row, read_columns, read_grid, read_rows

NEXT_WORDS = re.compile(
    r"(?:next(?: page)?|older(?: posts| entries)?|more results|weiter|n\u00e4chste(?: seite)?|suivante?|siguiente"
    r"|pr\u00f3xim[ao]|successiv[ao]|\u4e0b\u4e00\u9875|\u6b21\u3078|[\u203a\u00bb\u2192>]|>>)",
    re.IGNORECASE,
)


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
    texts = TextReader()
    for rows in (*by_type.values(), *_read_tables(tree, texts), *_find_repeated(tree, texts)):
        if len(rows) > 1:
            yield rows


def _read_tables(tree: Any, texts: TextReader) -> list[list[Row]]:
    """Return each table's rows, and its columns as rows.

    Tables with the same header are joined.
    """
    max_tables = 200
    by_head: dict[tuple[tuple[str, ...], ...], list[Row]] = {}
    turned: list[list[Row]] = []
    for number, table in enumerate(tree.css('table, [role="table"], [role="grid"]')[:max_tables], 1):
        if len(table.css("table")) > 1 or is_hidden(table):
            continue
        grid = read_grid(table, texts)
        place = f"table {number}"
        by_head.setdefault(tuple(grid.label_columns()), []).extend(read_rows(grid, place, texts))
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
    max_parents = 4_000
    groups: dict[tuple[int | str, str, str], list[Any]] = {}
    for node in tree.css("li, article, section, div, a, tr, table, details, figure, p")[: max_parents * 5]:
        parent = node.parent
        if parent is None or parent.tag in SKIPPED_TAGS:
            continue
        first_class = (node.attributes.get("class") or "").strip().partition(" ")[0]
        groups.setdefault((parent.mem_id, node.tag, first_class), []).append(node)
        if first_class:  # a list may be in several parts, each with a heading
            around = f"{parent.tag} {(parent.attributes.get('class') or '').strip().partition(' ')[0]}"
            groups.setdefault((around, node.tag, first_class), []).append(node)
    large = [
        nodes for (_, _, named), nodes in groups.items() if len(nodes) > (1 if named else 2) and not is_hidden(nodes[0])
    ]
    large.sort(key=lambda nodes: sum(len(texts.read(node)) for node in nodes[:50]), reverse=True)
    max_groups = 80
    for nodes in large[:max_groups]:
        name = nodes[0].tag + "".join(f".{each}" for each in (nodes[0].attributes.get("class") or "").split()[:1])
        rows = []
        for number, node in enumerate(nodes[:MAX_ROWS], 1):
            place = f"{name} {number}"
            own = (
                [OfferedValue(("url",), address, "element", f"{place}, link", 0.5)]
                if (node.tag == "a" and (address := node.attributes.get("href")))
                else []
            )
            rows.append((place, [*read_microdata(node), *ShownReader(texts, f"{place}, ").read(node), *own]))
        yield rows


def find_next_page(html: str, url: str) -> str:
    """Return the address of the same site's next page, or ""."""
    decoration = " \u203a\u00bb\u2192>"
    from outrider.pages.extraction.main_content import parse_html

    tree = parse_html(html)
    for node in [*tree.css("link[rel~=next][href], a[rel~=next][href]"), *tree.css("a[href]")]:
        label = (node.attributes.get("aria-label") or node.text() or "")[:60].strip()
        says_next = NEXT_WORDS.fullmatch(label) or NEXT_WORDS.fullmatch(label.strip(decoration))
        if not says_next and "next" not in (node.attributes.get("rel") or ""):
            continue
        address = resolve_url(node.attributes.get("href") or "", url).partition("#")[0]
        if address and urlsplit(address).netloc == urlsplit(url).netloc and address != url:
            return address
    return ""
