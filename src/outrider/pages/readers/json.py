"""JSON documents and JSON Lines."""

import json
from typing import Any

from outrider.pages.document import Document, line_of, tidy
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.text import ended, fenced

GROWTH = 4  # how much longer indentation may make a text before it is left as it came


def read_json(source: Source) -> Document:
    """JSON, indented; what does not parse is shown as it is, with the fact noted."""
    text = source.text.strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return read_lines(source)
    return _document(source, _pretty(value, text), title=_title(value))


def read_lines(source: Source) -> Document:
    """One JSON value a line, each line as short as it can be."""
    lines = [line for line in source.text.split("\n") if line.strip()]
    lines = lines[:-1] if source.cut and len(lines) > 1 else lines
    try:
        values = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return _document(source, source.text) if source.cut else _document(source, source.text, valid=False)
    compact = "\n".join(json.dumps(value, ensure_ascii=False) for value in values)
    return _document(source, compact, lines=len(lines))


def _pretty(value: Any, text: str) -> str:
    try:
        pretty = json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text
    return pretty if len(pretty) <= GROWTH * len(text) + 1_000 else text


def _title(value: Any) -> str:
    if not isinstance(value, dict):
        return ""
    return next((line_of(value[name]) for name in ("title", "name") if isinstance(value.get(name), str)), "")


def _document(source: Source, text: str, *, title: str = "", **facts: Any) -> Document:
    text = tidy(text)
    return ended(Document(fenced(text, "json"), text, title=title, kind="json", metadata=facts), source)


lines = Reader(
    "json_lines",
    ("application/jsonl", "application/x-ndjson", "application/x-jsonlines", "application/json-lines"),
    read_lines,
    suffixes=(".jsonl", ".ndjson"),
)
document = Reader(
    "json",
    ("application/json", "text/json", "*+json"),
    read_json,
    suffixes=(".json", ".geojson", ".webmanifest"),
    rank=60,
)
