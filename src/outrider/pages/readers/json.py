"""Read JSON documents and JSON Lines."""

import json
from typing import Any

from outrider.pages.document import Document, tidy_text, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.text import format_code_block, mark_cut


def read_json(source: ReaderInput) -> Document:
    """Return JSON, indented; text that does not parse is read as JSON Lines. Never raises."""
    text = source.text.strip()
    if _has_too_many_values(text):
        return _build_document(source, text)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return read_json_lines(source)
    names = [value.get("title"), value.get("name")] if isinstance(value, dict) else []
    title = next((to_single_line(name) for name in names if isinstance(name, str)), "")
    max_growth = 4  # deeply nested data is left unindented rather than multiplied in length
    try:
        pretty = json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        pretty = text
    if len(pretty) > max_growth * len(text) + 1_000:
        pretty = text
    return _build_document(source, pretty, title=title)


def read_json_lines(source: ReaderInput) -> Document:
    """Return one compact JSON value per line, and lines that do not parse unchanged. Never raises."""
    lines = [line for line in source.text.split("\n") if line.strip()]
    lines = lines[:-1] if source.is_cut and len(lines) > 1 else lines
    if _has_too_many_values(source.text):
        return _build_document(source, source.text)
    try:
        compact = "\n".join([json.dumps(json.loads(line), ensure_ascii=False) for line in lines])
    except (ValueError, RecursionError):
        return (
            _build_document(source, source.text) if source.is_cut else _build_document(source, source.text, valid=False)
        )
    return _build_document(source, compact, lines=len(lines))


def _has_too_many_values(text: str) -> bool:
    max_values = 200_000  # each takes up to a hundred bytes once it is parsed
    return sum(text.count(mark) for mark in ",:[{") > max_values


def _build_document(source: ReaderInput, text: str, *, title: str = "", **facts: Any) -> Document:
    text = tidy_text(text)
    return mark_cut(Document(format_code_block(text, "json"), text, title=title, kind="json", metadata=facts), source)


json_lines_reader = DocumentReader(
    "json_lines",
    ("application/jsonl", "application/x-ndjson", "application/x-jsonlines", "application/json-lines"),
    read_json_lines,
    suffixes=(".jsonl", ".ndjson"),
)
json_reader = DocumentReader(
    "json",
    ("application/json", "text/json", "*+json"),
    read_json,
    suffixes=(".json", ".geojson", ".webmanifest"),
    rank=60,
)
