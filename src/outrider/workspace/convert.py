"""A file's content in another format, where that keeps what it says: tables as tables, text as a page."""

import csv
import html
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Any, Literal

from markdown_it import MarkdownIt

from outrider.core.errors import InvalidInput
from outrider.workspace.encoding import decode_text

ExportFormat = Literal["md", "csv", "json", "html"]
MarkdownConverter = Callable[[bytes, str], Awaitable[str]]
EXPORT_MIME_TYPES = {"md": "text/markdown", "csv": "text/csv", "json": "application/json", "html": "text/html"}


async def convert_file(data: bytes, path: str, wanted: ExportFormat, to_markdown: MarkdownConverter) -> bytes:
    """The content of the file `path` as `wanted`; as it is where it is that already.

    Args:
        data: Its bytes.
        path: Its name; the ending tells what it is.
        wanted: What it shall be.
        to_markdown: Reads documents (web pages, PDF, Office) from their bytes and name.

    Raises:
        InvalidInput: this cannot become that, or its content is broken; the message names the place.
    """
    plain_kinds = {"txt", "log", "text", ""}
    aliases = {"markdown": "md", "htm": "html"}
    table_kinds = {"csv", "tsv", "json", "jsonl", "ndjson"}
    kind = PurePosixPath(path).suffix.lower().removeprefix(".")
    kind = aliases.get(kind, kind)
    if kind == wanted:
        return data
    if kind in table_kinds:
        return _format_table(_parse_table(decode_text(data, path)[0], kind), wanted, path).encode()
    if wanted == "md":
        return data if kind in plain_kinds else (await to_markdown(data, path)).encode()
    if wanted == "html":
        text = decode_text(data, path)[0]
        return _build_page(path, _rendered(text) if kind == "md" else f"<pre>{html.escape(text)}</pre>\n").encode()
    raise InvalidInput(
        f"format: {path!r} holds no table that could become {wanted}",
        hint="csv and json are made from csv, tsv, json and jsonl; leave format out to export the file as it is",
    )


def _parse_table(text: str, kind: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Column names and rows of a table. Raises InvalidInput."""
    text = text.removeprefix("\ufeff")
    try:
        if kind in ("csv", "tsv"):
            return _parse_csv(text, "\t" if kind == "tsv" else _delimiter(text))
        whole = json.loads(text) if kind == "json" else [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError, csv.Error) as error:
        raise InvalidInput(f"path: the file is no sound {kind}: {error}", hint="correct it first") from None
    rows = whole if isinstance(whole, list) else [whole]
    if not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("path: the JSON is no list of objects", hint="only that is a table")
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _parse_csv(text: str, delimiter: str) -> tuple[list[str], list[dict[str, Any]]]:
    max_cell_chars = 10_000_000  # characters of a cell; Python's own limit is 131,072
    csv.field_size_limit(max_cell_chars)
    lines = [line for line in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if line]
    header, body = (lines[0], lines[1:]) if lines else ([], [])
    if len(set(header)) < len(header):
        raise ValueError("two columns have the same name")
    for number, line in enumerate(body, 2):
        if len(line) > len(header):
            raise ValueError(f"row {number} has {len(line)} cells, the header {len(header)}")
    return header, [dict(zip(header, line, strict=False)) for line in body]


def _delimiter(text: str) -> str:
    """What stands most often in the first line."""
    delimiters = ",;\t|"
    first = text.partition("\n")[0]
    return max(delimiters, key=first.count)


def _format_table(table: tuple[list[str], list[dict[str, Any]]], wanted: ExportFormat, path: str) -> str:
    names, rows = table
    if wanted == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    cells = [[_format_cell(row.get(name)) for name in names] for row in rows]
    if wanted == "csv":
        target = io.StringIO(newline="")
        csv.writer(target, lineterminator="\r\n").writerows([names, *cells])
        return target.getvalue()
    if wanted == "md":
        lines = [
            _format_markdown_row(names),
            _format_markdown_row(["---"] * len(names)),
            *map(_format_markdown_row, cells),
        ]
        return "\n".join(lines) + "\n"
    return _build_page(path, _format_html_table(names, cells))


def _format_cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _format_markdown_row(cells: list[str]) -> str:
    plain = (cell.replace("\\", "\\\\").replace("|", "\\|") for cell in cells)
    return "| " + " | ".join("<br>".join(cell.splitlines()) for cell in plain) + " |"


def _format_html_table(names: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"


def _rendered(markdown: str) -> str:
    """Markdown as HTML; tags that stand in it are shown, not obeyed."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(markdown)


def _build_page(path: str, body: str) -> str:
    style = (
        "body{max-width:50em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}pre{overflow:auto}"
        "table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .5em;text-align:left}"
    )
    title = html.escape(PurePosixPath(path).stem)
    head = f"<meta charset=utf-8><title>{title}</title><style>{style}</style>"
    return f"<!doctype html>\n<html><head>{head}</head>\n<body>\n{body}</body></html>\n"
