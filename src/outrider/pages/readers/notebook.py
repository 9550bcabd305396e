"""Jupyter notebooks (nbformat 4, and the worksheets of 3): text, code and what the code gave."""

import json
import re
from typing import Any

from outrider.pages.document import Document, line_of
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.json import read_json
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.text import fenced

OUTPUT = 4_000  # characters of one output that are shown
CELLS = 5_000
OUTPUTS = 200  # of one cell
EMBEDDED = re.compile(r"!\[([^\]\n]*)\]\((?:data:|attachment:)[^)\s]*\)")
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
HEADING = re.compile(r"^#{1,2} +(.{1,300}?) *#*$", re.MULTILINE)


def read(source: Source) -> Document:
    """The cells in order; pictures and other binary outputs are named, not shown. Never raises."""
    try:
        book = json.loads(source.text)
    except (ValueError, RecursionError):
        return read_json(source)
    cells = _cells(book)
    if cells is None:
        return read_json(source)
    language = _language(book)
    draft = Draft(source, "notebook")
    for cell in cells[:CELLS]:
        if draft.full:
            break
        _cell(cell, language, draft)
    draft.cut = draft.cut or draft.full or len(cells) > CELLS
    facts = _facts(book)
    found = HEADING.search("".join(draft.blocks)[:20_000])
    facts["title"] = facts["title"] or (found[1] if found else "")
    return draft.document(facts, metadata={"cells": len(cells), "language": language})


def _cells(book: Any) -> list[dict[str, Any]] | None:
    if not isinstance(book, dict):
        return None
    sheets = book.get("worksheets")
    cells = book.get("cells")
    if cells is None and isinstance(sheets, list):
        found = (sheet.get("cells") for sheet in sheets if isinstance(sheet, dict))
        cells = [cell for each in found if isinstance(each, list) for cell in each]
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else None


def _cell(cell: dict[str, Any], language: str, draft: Draft) -> None:
    text = _text(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        draft.heading(level if isinstance(level, int) else 1, text)
    elif kind == "code":
        draft.add(fenced(text.strip("\n"), language) if text.strip() else "")
        outputs = cell.get("outputs")
        for output in outputs[:OUTPUTS] if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                _output(output, draft)
    elif kind == "raw":
        draft.add(fenced(text, "") if text.strip() else "")
    else:
        draft.add(EMBEDDED.sub(lambda found: f"(picture: {found[1] or 'attached'})", text))


def _output(output: dict[str, Any], draft: Draft) -> None:
    if output.get("output_type") in ("error", "pyerr"):
        trace = _text(output.get("traceback")) if isinstance(output.get("traceback"), str) else ""
        lines = output.get("traceback")
        trace = trace or "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
        said = f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
        draft.add(fenced(_shortened(ANSI.sub("", trace).strip("\n") or said), "text"))
        return
    data = output.get("data", output)
    if not isinstance(data, dict):
        return
    if text := _text(data.get("text/markdown")):
        draft.add(_shortened(text))
    elif "<table" in (html := _text(data.get("text/html"))):
        draft.add(_shortened(extract(html[: 50 * OUTPUT], main=False, tags=5_000).markdown))
    elif text := _text(data.get("text/latex") or data.get("latex")):
        draft.add(_shortened(text))
    elif text := ANSI.sub("", _text(data.get("text/plain") or data.get("text") or output.get("text"))).strip("\n"):
        draft.add(fenced(_shortened(text), "text"))
    kinds = [name for name in data if name.startswith(("image/", "audio/", "video/")) or name in ("png", "jpeg", "svg")]
    if kinds:
        draft.add(f"(output: {line_of(kinds[0], 60)})")


def _shortened(text: str) -> str:
    return text if len(text) <= OUTPUT else f"{text[:OUTPUT]}\n(… {len(text) - OUTPUT} more characters of this output)"


def _text(value: Any) -> str:
    """A multi-line string, which notebooks keep as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _metadata(book: dict[str, Any]) -> dict[str, Any]:
    found = book.get("metadata")
    return found if isinstance(found, dict) else {}


def _language(book: dict[str, Any]) -> str:
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        about = _metadata(book).get(name)
        if isinstance(about, dict) and isinstance(about.get(key), str):
            return re.sub(r"[^\w+#-]", "", about[key])[:30].lower()
    return "python"


def _facts(book: dict[str, Any]) -> dict[str, str]:
    about = _metadata(book)
    authors = about.get("authors")
    names = [_text(each.get("name")) for each in authors if isinstance(each, dict)] if isinstance(authors, list) else []
    return {"title": _text(about.get("title") or about.get("name")), "author": ", ".join(filter(None, names))}


reader = Reader("notebook", ("application/x-ipynb+json",), read, suffixes=(".ipynb",), rank=20)
