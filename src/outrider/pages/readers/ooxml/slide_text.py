"""The paragraphs of a text body in DrawingML, as slides hold them (ISO/IEC 29500-1 section 21.1.2)."""

from collections.abc import Mapping

from outrider.pages.readers.ooxml.math import render_latex
from outrider.pages.readers.ooxml.package import Relationship
from outrider.pages.readers.ooxml.styles import format_list_number
from outrider.pages.readers.parsing.draft import (
    DocumentDraft,
    TextRun,
    format_script_digits,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.monospace import CodeDetector, is_code_line, is_monospaced_font
from outrider.pages.readers.parsing.xml import XmlElement
from outrider.pages.readers.text import format_code_block

FORMULA_ELEMENTS = ("mc:AlternateContent", "m")


def build_runs(paragraph: XmlElement, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> list[TextRun]:
    """A paragraph's runs."""
    found: list[TextRun] = []
    for piece in paragraph.iter_children():
        if piece.name in ("a:r", "a:fld"):
            found.append(_build_run(piece, draft, relations))
        elif piece.name == "a:br":
            found.append(TextRun("\n"))
        elif piece.name in FORMULA_ELEMENTS:
            mark = "$$" if any(True for _ in piece.iter_outermost("m:oMathPara")) else "$"
            found += [
                TextRun(f"{mark}{render_latex(each)}{mark}", literal=True) for each in piece.iter_outermost("m:oMath")
            ]
    return found


def _build_run(piece: XmlElement, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> TextRun:
    true_values = frozenset({"1", "true"})
    properties = piece.find("a:rPr") or XmlElement("")
    text = "".join(each.text for each in piece.iter_named("a:t")).replace("\v", "\n").replace("_x000D_", "")
    link = relations.get(properties.get_value("a:hlinkClick", attribute="r:id") or "")
    rise = properties.get("baseline")
    return TextRun(
        format_script_digits(text, (-1 if rise.startswith("-") else 1) if rise.strip("-0") else 0),
        bold=properties.get("b") in true_values,
        italic=properties.get("i") in true_values,
        struck=properties.get("strike") not in ("", "noStrike"),
        address=draft.resolve_link(link.target, text) if link and link.external else "",
        code=is_monospaced_font(properties.get_value("a:latin", attribute="typeface") or ""),
    )


def render_line(body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> str:
    """A text body as one line, for titles and cells."""
    paragraphs = body.iter_named("a:p") if body else ()
    return " ".join(
        text for each in paragraphs if (text := " ".join(render_inline(build_runs(each, draft, relations)).split()))
    )


def render_title(body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> str:
    """A text body as one line without marks."""
    paragraphs = body.iter_named("a:p") if body else ()
    return " ".join(text for each in paragraphs if (text := render_plain(build_runs(each, draft, relations))))


def write_paragraphs(
    body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship], *, listed: bool
) -> None:
    """Writes the paragraphs: as items where they have bullets or numbers, else as they are.

    Args:
        body: The text body.
        draft: Takes them.
        relations: Where links lead.
        listed: Whether paragraphs have bullets unless they say otherwise, as on a slide's body.
    """
    content_elements = ("a:r", "a:fld", *FORMULA_ELEMENTS)  # what a paragraph is not empty with
    paragraphs = list(body.iter_named("a:p")) if body else []
    filled = [each for each in paragraphs if any(True for _ in each.iter_named(*content_elements))]
    numbers: dict[int, int] = {}
    typewriter, code = CodeDetector(saw_proportional=True), list[str]()
    for paragraph in filled:
        properties = paragraph.find("a:pPr") or XmlElement("")
        given = properties.get("lvl")
        level = int(given) if given.isascii() and given.isdigit() and len(given) == 1 else 0
        marker = _next_marker(properties, level, numbers, listed=listed and len(filled) > 1)
        said = typewriter.filter_code(build_runs(paragraph, draft, relations))
        if not marker and is_code_line(said):
            code.append("".join(run.text for run in said))
            continue
        _end_code(code, draft)
        if marker:
            draft.add_item(level, render_inline(said), marker)
        else:
            draft.add_block(render_inline(said))
    _end_code(code, draft)


def _end_code(code: list[str], draft: DocumentDraft) -> None:
    """Writes the listing that ends."""
    if any(line.strip() for line in code):
        draft.add_block(format_code_block("\n".join(code).strip("\n"), ""))
    code.clear()


def _next_marker(properties: XmlElement, level: int, numbers: dict[int, int], *, listed: bool) -> str:
    automatic = properties.find("a:buAutoNum")
    for deeper in [each for each in numbers if each > level or (each == level and automatic is None)]:
        del numbers[deeper]
    if automatic is not None:
        start = automatic.get("startAt")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        numbers[level] = numbers.get(level, first - 1) + 1
        return f"{format_list_number(numbers[level], 'decimal')}."
    bulleted = properties.find("a:buChar") or properties.find("a:buBlip")
    return "-" if bulleted or (properties.find("a:buNone") is None and (listed or level)) else ""
