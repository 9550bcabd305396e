"""The paragraphs of a text body in DrawingML, as slides hold them (ISO/IEC 29500-1 section 21.1.2)."""

from collections.abc import Mapping

from outrider.pages.readers.parts.openxml.math import latex
from outrider.pages.readers.parts.openxml.package import Relation
from outrider.pages.readers.parts.openxml.styles import count
from outrider.pages.readers.parts.typewriter import Typewriter, is_fixed, is_listed
from outrider.pages.readers.parts.writing import Draft, Run, inline, raised, unmarked
from outrider.pages.readers.parts.xml import Element
from outrider.pages.readers.text import fenced

ON = frozenset({"1", "true"})
FORMULAS = ("mc:AlternateContent", "m")
FILLING = ("a:r", "a:fld", *FORMULAS)  # what a paragraph is not empty with


def runs(paragraph: Element, draft: Draft, relations: Mapping[str, Relation]) -> list[Run]:
    """A paragraph's runs."""
    found: list[Run] = []
    for piece in paragraph.elements():
        if piece.name in ("a:r", "a:fld"):
            found.append(_run(piece, draft, relations))
        elif piece.name == "a:br":
            found.append(Run("\n"))
        elif piece.name in FORMULAS:
            mark = "$$" if any(True for _ in piece.outermost("m:oMathPara")) else "$"
            found += [Run(f"{mark}{latex(each)}{mark}", literal=True) for each in piece.outermost("m:oMath")]
    return found


def _run(piece: Element, draft: Draft, relations: Mapping[str, Relation]) -> Run:
    properties = piece.find("a:rPr") or Element("")
    text = "".join(each.text for each in piece.each("a:t")).replace("\v", "\n").replace("_x000D_", "")
    link = relations.get(properties.value("a:hlinkClick", attribute="r:id") or "")
    rise = properties.get("baseline")
    return Run(
        raised(text, (-1 if rise.startswith("-") else 1) if rise.strip("-0") else 0),
        bold=properties.get("b") in ON,
        italic=properties.get("i") in ON,
        struck=properties.get("strike") not in ("", "noStrike"),
        address=draft.address(link.target, text) if link and link.external else "",
        code=is_fixed(properties.value("a:latin", attribute="typeface") or ""),
    )


def line(body: Element | None, draft: Draft, relations: Mapping[str, Relation]) -> str:
    """A text body as one line, for titles and cells."""
    paragraphs = body.each("a:p") if body else ()
    return " ".join(text for each in paragraphs if (text := " ".join(inline(runs(each, draft, relations)).split())))


def title(body: Element | None, draft: Draft, relations: Mapping[str, Relation]) -> str:
    """A text body as one line without marks."""
    paragraphs = body.each("a:p") if body else ()
    return " ".join(text for each in paragraphs if (text := unmarked(runs(each, draft, relations))))


def write(body: Element | None, draft: Draft, relations: Mapping[str, Relation], *, listed: bool) -> None:
    """Writes the paragraphs: as items where they have bullets or numbers, else as they are.

    Args:
        body: The text body.
        draft: Takes them.
        relations: Where links lead.
        listed: Whether paragraphs have bullets unless they say otherwise, as on a slide's body.
    """
    paragraphs = list(body.each("a:p")) if body else []
    filled = [each for each in paragraphs if any(True for _ in each.each(*FILLING))]
    numbers: dict[int, int] = {}
    typewriter, code = Typewriter(seen=True), list[str]()
    for paragraph in filled:
        properties = paragraph.find("a:pPr") or Element("")
        given = properties.get("lvl")
        level = int(given) if given.isascii() and given.isdigit() and len(given) == 1 else 0
        marker = _marker(properties, level, numbers, listed=listed and len(filled) > 1)
        said = typewriter.coded(runs(paragraph, draft, relations))
        if not marker and is_listed(said):
            code.append("".join(run.text for run in said))
            continue
        _end(code, draft)
        if marker:
            draft.item(level, inline(said), marker)
        else:
            draft.add(inline(said))
    _end(code, draft)


def _end(code: list[str], draft: Draft) -> None:
    """Writes the listing that ends."""
    if any(line.strip() for line in code):
        draft.add(fenced("\n".join(code).strip("\n"), ""))
    code.clear()


def _marker(properties: Element, level: int, numbers: dict[int, int], *, listed: bool) -> str:
    automatic = properties.find("a:buAutoNum")
    for deeper in [each for each in numbers if each > level or (each == level and automatic is None)]:
        del numbers[deeper]
    if automatic is not None:
        start = automatic.get("startAt")
        first = int(start) if start.isascii() and start.isdigit() and len(start) < 6 else 1
        numbers[level] = numbers.get(level, first - 1) + 1
        return f"{count(numbers[level], 'decimal')}."
    bulleted = properties.find("a:buChar") or properties.find("a:buBlip")
    return "-" if bulleted or (properties.find("a:buNone") is None and (listed or level)) else ""
