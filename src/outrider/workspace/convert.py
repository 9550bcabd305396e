"""Convert files between formats: tables to tables, text to web pages, documents to Markdown."""

import csv
import html
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import PurePosixPath
from typing import Any, Literal

from markdown_it import MarkdownIt

from outrider.core.csv_rows import read_csv
from outrider.core.errors import InvalidInput
from outrider.workspace.encoding import decode_text

ExportFormat = Literal["md", "csv", "json", "html"]
MarkdownConverter = Callable[[bytes, str], Awaitable[str]]
EXPORT_MIME_TYPES = {"md": "text/markdown", "csv": "text/csv", "json": "application/json", "html": "text/html"}


async def convert_file(data: bytes, path: str, export_format: ExportFormat, to_markdown: MarkdownConverter) -> bytes:
    """Return the content of a file in another format, or unchanged if it has that format already.

    Args:
        data: The bytes of the file.
        path: Its path; the suffix gives its format.
        export_format: The format to convert to.
        to_markdown: Converts documents (web pages, PDF, Office), given their bytes and name.

    Raises:
        InvalidInput: The file cannot be converted to this format, or its content is malformed.
    """
    kind = PurePosixPath(path).suffix.lower().removeprefix(".")
    kind = {"markdown": "md", "htm": "html"}.get(kind, kind)
    if kind == export_format:
        return data
    if kind in ("csv", "tsv", "json", "jsonl", "ndjson"):
        return _format_table(_parse_table(decode_text(data, path)[0], kind), export_format, path).encode()
    if export_format == "md":
        return data if kind in ("txt", "log", "text", "") else (await to_markdown(data, path)).encode()
    if export_format == "html":
        text = decode_text(data, path)[0]
        if kind != "md":
            return _build_page(path, f"<pre>{html.escape(text)}</pre>\n").encode()
        # Without "html", tags in the Markdown are shown as text and not obeyed.
        parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        return _build_page(path, parser.render(text)).encode()
    raise InvalidInput(
        f"format: {path!r} is not a table, so it cannot become {export_format}",
        hint="csv and json are made from csv, tsv, json and jsonl; omit format to export the file unchanged",
    )


def _parse_table(text: str, kind: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the column names and rows of a table. Raises InvalidInput."""
    text = text.removeprefix("\ufeff")
    try:
        if kind in ("csv", "tsv"):
            first_line = text.partition("\n")[0]
            delimiter = "\t" if kind == "tsv" else max(",;\t|", key=first_line.count)
            return _parse_csv(text, delimiter)
        if kind == "json":
            document = json.loads(text)
        else:
            document = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError, csv.Error) as error:
        raise InvalidInput(f"path: the file is not valid {kind}: {error}", hint="correct it first") from None
    rows = document if isinstance(document, list) else [document]
    if not all(isinstance(row, dict) for row in rows):
        raise InvalidInput("path: the JSON is not a list of objects", hint="only such a list is a table")
    return list(dict.fromkeys(name for row in rows for name in row)), rows


def _parse_csv(text: str, delimiter: str) -> tuple[list[str], list[dict[str, Any]]]:
    lines = [line for line in read_csv(text, delimiter, strict=True) if line]
    header, body = (lines[0], lines[1:]) if lines else ([], [])
    if len(set(header)) < len(header):
        raise ValueError("two columns have the same name")
    for number, line in enumerate(body, 2):
        if len(line) > len(header):
            raise ValueError(f"row {number} has {len(line)} cells, the header {len(header)}")
    return header, [dict(zip(header, line, strict=False)) for line in body]


def _format_table(table: tuple[list[str], list[dict[str, Any]]], export_format: ExportFormat, path: str) -> str:
    names, rows = table
    if export_format == "json":
        return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
    cells = [[format_cell(row.get(name)) for name in names] for row in rows]
    if export_format == "csv":
        target = io.StringIO(newline="")
        csv.writer(target, lineterminator="\r\n").writerows([names, *cells])
        return target.getvalue()
    if export_format == "md":
        lines = [
            ["<br>".join(cell.replace("\\", "\\\\").replace("|", "\\|").splitlines()) for cell in line]
            for line in [names, ["---"] * len(names), *cells]
        ]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>\n" for row in cells)
    return _build_page(path, f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table>\n")


def format_cell(value: Any) -> str:
    """Return a value as the text of a cell; JSON unless it is text or None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _build_page(path: str, body: str) -> str:
    style = (
        "body{max-width:50em;margin:2em auto;padding:0 1em;font:16px/1.5 sans-serif}pre{overflow:auto}"
        "table{border-collapse:collapse}td,th{border:1px solid #999;padding:.2em .5em;text-align:left}"
    )
    title = html.escape(PurePosixPath(path).stem)
    head = f"<meta charset=utf-8><title>{title}</title><style>{style}</style>"
    return f"<!doctype html>\n<html><head>{head}</head>\n<body>\n{body}</body></html>\n"
