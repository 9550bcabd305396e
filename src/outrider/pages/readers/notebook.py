"""Read Jupyter notebooks (nbformat 3 and 4): text, code and outputs."""

import json
import re
from typing import Any

from outrider.pages.document import Document, to_single_line
from outrider.pages.extract import extract
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.json import read_json
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.text import format_code_block

MAX_OUTPUT_CHARS = 4_000  # shown of one output
EMBEDDED_IMAGE = re.compile(r"!\[([^\]\n]*)\]\((?:data:|attachment:)[^)\s]*\)")
ANSI_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
TOP_HEADING = re.compile(r"^#{1,2} +(.{1,300}?) *#*$", re.MULTILINE)


def read_notebook(source: ReaderInput) -> Document:
    """Return the cells in order; images and other binary outputs are only named. Never raises."""
    max_cells = 5_000
    max_value_bytes = 60_000_000  # of the parsed notebook; 1.5 million numbers of a chart
    text = source.text
    # Approximate bytes of each parsed object, list, and number or text.
    if 160 * text.count("{") + 88 * text.count("[") + 40 * text.count(",") > max_value_bytes:
        return read_json(source)
    try:
        book = json.loads(text)
    except (ValueError, RecursionError):
        return read_json(source)
    cells = _find_cells(book)
    if cells is None:
        return read_json(source)
    metadata = book.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    language = "python"
    for name, key in (("kernelspec", "language"), ("language_info", "name")):  # the latter prevails
        section = metadata.get(name)
        if isinstance(section, dict) and isinstance(section.get(key), str):
            language = re.sub(r"[^\w+#-]", "", section[key])[:30].lower()
    draft = DocumentDraft(source, "notebook")
    for cell in cells[:max_cells]:
        if draft.is_full:
            break
        _write_cell(cell, language, draft)
    draft.is_cut = draft.is_cut or draft.is_full or len(cells) > max_cells
    authors = metadata.get("authors")
    people = [author for author in authors if isinstance(author, dict)] if isinstance(authors, list) else []
    facts = {
        "title": _join_lines(metadata.get("title") or metadata.get("name")),
        "author": ", ".join(filter(None, (_join_lines(person.get("name")) for person in people))),
    }
    heading = TOP_HEADING.search("".join(draft.blocks)[:20_000])
    facts["title"] = facts["title"] or (heading[1] if heading else "")
    return draft.build_document(facts, metadata={"cells": len(cells), "language": language})


def _find_cells(book: Any) -> list[dict[str, Any]] | None:
    if not isinstance(book, dict):
        return None
    sheets = book.get("worksheets")
    cells = book.get("cells")
    if cells is None and isinstance(sheets, list):  # nbformat 3
        lists = (sheet.get("cells") for sheet in sheets if isinstance(sheet, dict))
        cells = [cell for sheet_cells in lists if isinstance(sheet_cells, list) for cell in sheet_cells]
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else None


def _write_cell(cell: dict[str, Any], language: str, draft: DocumentDraft) -> None:
    max_outputs = 200
    text = _join_lines(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        draft.add_heading(level if isinstance(level, int) else 1, text)
    elif kind == "code":
        draft.add_block(format_code_block(text.strip("\n"), language) if text.strip() else "")
        outputs = cell.get("outputs")
        for output in outputs[:max_outputs] if isinstance(outputs, list) else ():
            if isinstance(output, dict):
                _write_output(output, draft)
    elif kind == "raw":
        draft.add_block(format_code_block(text, "") if text.strip() else "")
    else:
        draft.add_block(EMBEDDED_IMAGE.sub(lambda image: f"(picture: {image[1] or 'attached'})", text))


def _write_output(output: dict[str, Any], draft: DocumentDraft) -> None:
    if output.get("output_type") in ("error", "pyerr"):
        lines = output.get("traceback")
        trace = "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
        message = f"{_join_lines(output.get('ename'))}: {_join_lines(output.get('evalue'))}"
        draft.add_block(format_code_block(_shorten_output(ANSI_ESCAPE.sub("", trace).strip("\n") or message), "text"))
        return
    data = output.get("data", output)
    if not isinstance(data, dict):
        return
    if text := _join_lines(data.get("text/markdown")):
        draft.add_block(_shorten_output(text))
    elif "<table" in (html := _join_lines(data.get("text/html"))):
        draft.add_block(_shorten_output(extract(html[: 50 * MAX_OUTPUT_CHARS], main=False, tags=5_000).markdown))
    elif text := _join_lines(data.get("text/latex") or data.get("latex")):
        draft.add_block(_shorten_output(text))
    else:
        plain = _join_lines(data.get("text/plain") or data.get("text") or output.get("text"))
        if text := ANSI_ESCAPE.sub("", plain).strip("\n"):
            draft.add_block(format_code_block(_shorten_output(text), "text"))
    kinds = [name for name in data if name.startswith(("image/", "audio/", "video/")) or name in ("png", "jpeg", "svg")]
    if kinds:
        draft.add_block(f"(output: {to_single_line(kinds[0], 60)})")


def _shorten_output(text: str) -> str:
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return f"{text[:MAX_OUTPUT_CHARS]}\n(… {len(text) - MAX_OUTPUT_CHARS} more characters of this output)"


def _join_lines(value: Any) -> str:
    """Return a multi-line string, which notebooks store as a list of lines."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


reader = DocumentReader("notebook", ("application/x-ipynb+json",), read_notebook, suffixes=(".ipynb",), rank=20)
