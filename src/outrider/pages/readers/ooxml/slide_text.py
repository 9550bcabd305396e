"""Render paragraphs of DrawingML text bodies, as in slides.

ISO/IEC 29500-1 section 21.1.2.
"""

import re
from collections.abc import Mapping

from outrider.pages.readers.ooxml.math import render_latex
from outrider.pages.readers.ooxml.package import Relationship
from outrider.pages.readers.ooxml.styles import format_list_number
from outrider.pages.readers.parsing.draft import (
    DocumentDraft,
    TextRun,
    format_item,
    format_script_digits,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.monospace import CodeDetector, is_code_line, is_monospaced_font
from outrider.pages.readers.parsing.xml import XmlElement
from outrider.pages.readers.text import format_code_block

NUMBER_SCHEME = re.compile(r"(alphaLc|alphaUc|romanLc|romanUc|arabic)(ParenBoth|ParenR|Period|Plain)")
NUMBER_FORMATS = {"alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman"}
NUMBER_MARKS = {"ParenBoth": ("(", ")"), "ParenR": ("", ")"), "Plain": ("", "")}  # section 20.1.10.61
FORMULA_ELEMENTS = ("mc:AlternateContent", "m")  # `m` is in a namespace of Office 2010, which has no prefix here


def build_runs(paragraph: XmlElement, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> list[TextRun]:
    """Return a paragraph's runs."""
    runs: list[TextRun] = []
    true_values = ("1", "true")
    for piece in paragraph.iter_children():
        if piece.name in ("a:r", "a:fld"):
            properties = piece.find("a:rPr") or XmlElement("")
            text = "".join(part.text for part in piece.iter_named("a:t")).replace("\v", "\n").replace("_x000D_", "")
            link = relations.get(properties.get_value("a:hlinkClick", attribute="r:id") or "")
            rise = properties.get("baseline")
            runs.append(
                TextRun(
                    format_script_digits(text, (-1 if rise.startswith("-") else 1) if rise.strip("-0") else 0),
                    bold=properties.get("b") in true_values,
                    italic=properties.get("i") in true_values,
                    struck=properties.get("strike") not in ("", "noStrike"),
                    address=draft.resolve_link(link.target, text) if link and link.external else "",
                    code=is_monospaced_font(properties.get_value("a:latin", attribute="typeface") or ""),
                )
            )
        elif piece.name == "a:br":
            runs.append(TextRun("\n"))
        elif piece.name in FORMULA_ELEMENTS:
            mark = "$$" if any(True for _ in piece.iter_outermost("m:oMathPara")) else "$"
            formulas = (render_latex(math) for math in piece.iter_outermost("m:oMath"))
            runs += [TextRun(f"{mark}{formula}{mark}", literal=True) for formula in formulas]
    return runs


def render_line(body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> str:
    """Return a text body as one line of Markdown."""
    paragraphs = body.iter_named("a:p") if body else ()
    return " ".join(" ".join(render_inline(build_runs(part, draft, relations)) for part in paragraphs).split())


def render_title(body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship]) -> str:
    """Return a text body as one line without emphasis and links."""
    paragraphs = body.iter_named("a:p") if body else ()
    return " ".join(filter(None, (render_plain(build_runs(part, draft, relations)) for part in paragraphs)))


def write_paragraphs(
    body: XmlElement | None, draft: DocumentDraft, relations: Mapping[str, Relationship], *, listed: bool
) -> None:
    """Write paragraphs as list items where they have bullets or numbers, else as blocks.

    Args:
        body: The text body.
        draft: The document that they are added to.
        relations: The part's relationships, which hold the links' targets.
        listed: Whether paragraphs have bullets by default, as in a slide's body.
    """
    paragraphs = body.iter_named("a:p") if body else ()
    filled = [part for part in paragraphs if any(True for _ in part.iter_named("a:r", "a:fld", *FORMULA_ELEMENTS))]
    numbers: dict[int, int] = {}
    code_detector, code = CodeDetector(saw_proportional=True), list[str]()
    for paragraph in filled:
        properties = paragraph.find("a:pPr") or XmlElement("")
        depth = properties.get("lvl")
        level = int(depth) if depth.isascii() and depth.isdigit() and len(depth) == 1 else 0
        marker = _next_marker(properties, level, numbers, listed=listed and len(filled) > 1)
        runs = code_detector.filter_code(build_runs(paragraph, draft, relations))
        if not marker and is_code_line(runs):
            code.append("".join(run.text for run in runs))
            continue
        _end_code(code, draft)
        if marker:
            draft.add_item(level, *format_item(render_inline(runs), marker))
        else:
            draft.add_block(render_inline(runs))
    _end_code(code, draft)


def _end_code(code: list[str], draft: DocumentDraft) -> None:
    """Write the collected listing."""
    if any(line.strip() for line in code):
        draft.add_block(format_code_block("\n".join(code).strip("\n"), ""))
    code.clear()


def _next_marker(properties: XmlElement, level: int, numbers: dict[int, int], *, listed: bool) -> str:
    automatic = properties.find("a:buAutoNum")
    for ended in [known for known in numbers if known > level or (known == level and automatic is None)]:
        del numbers[ended]
    if automatic is not None:
        start = automatic.get("startAt")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        numbers[level] = numbers.get(level, first - 1) + 1
        scheme = NUMBER_SCHEME.match(automatic.get("type") or "arabicPeriod")
        number_format = NUMBER_FORMATS.get(scheme[1], "decimal") if scheme else "decimal"
        before, after = NUMBER_MARKS.get(scheme[2], ("", ".")) if scheme else ("", ".")
        return f"{before}{format_list_number(numbers[level], number_format)}{after}"
    bulleted = properties.find("a:buChar") or properties.find("a:buBlip")
    return "-" if bulleted or (properties.find("a:buNone") is None and (listed or level)) else ""
