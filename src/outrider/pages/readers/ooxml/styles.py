"""What the styles and lists of a Word document mean (ISO/IEC 29500-1 sections 17.7 and 17.9)."""

import re
from dataclasses import dataclass, field

from outrider.pages.readers.parsing.monospace import is_code_style, is_monospaced_font
from outrider.pages.readers.parsing.xml import XmlElement

HEADING_STYLE = re.compile(r"heading ([1-9])$")
NESTED_LIST_STYLE = re.compile(r"list (?:bullet|number|continue) ([2-5])$")
STYLE_KINDS = {  # names of built-in styles, which are English in every language of Word
    "title": "title",
    "quote": "quote",
    "intense quote": "quote",
    "block text": "quote",
    "html preformatted": "code",
    "plain text": "code",
    "macro": "code",
    "code": "code",
    "source code": "code",
    "preformatted text": "code",
    "author": "plain",  # which others than Word base on the title
    "date": "plain",
    "subtitle": "plain",
    "toc heading": "toc",
    "contents heading": "toc",
}
LEVEL_PLACEHOLDER = re.compile(r"%([1-9])")
MAX_STYLE_CHAIN = 20  # styles that one may be based on
ROMAN_DIGITS = tuple(zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                  ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"), strict=True))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a paragraph's style says: heading level (0 none), kind, and list with its level.

    `depth` is how deep its name nests it: Word's own lists of the second level are lists of their own.
    """

    heading: int = 0
    kind: str = ""
    list: str = ""
    level: int = 0
    depth: int = 0


class WordStyles:
    """The paragraph styles by id."""

    def __init__(self, root: XmlElement) -> None:
        self._elements = {each.get("w:styleId"): each for each in root.iter_named("w:style")}
        self._known: dict[str, ParagraphStyle] = {"": ParagraphStyle()}
        self._fonts: dict[str, bool | None] = {}
        standard = next((each for each in root.iter_named("w:style") if _is_standard(each)), XmlElement(""))
        given = is_monospaced_run(root.find("w:docDefaults", "w:rPrDefault", "w:rPr"))
        own = self.is_monospaced(standard.get("w:styleId"))
        self.is_all_monospaced = bool(
            given if own is None else own
        )  # whether all is in a fixed width that says nothing else
        self.language = root.get_value("w:docDefaults", "w:rPrDefault", "w:rPr", "w:lang", attribute="w:val") or ""

    def get_style(self, name: str) -> ParagraphStyle:
        """What a style says, with what it inherits."""
        if name not in self._known:
            self._known[name] = self._resolve_style(name)
        return self._known[name]

    def is_monospaced(self, name: str) -> bool | None:
        """Whether a style sets its words in a fixed width, or calls them code; None if it says nothing of it."""
        if name not in self._fonts:
            self._fonts[name] = self._resolve_monospaced(name)
        return self._fonts[name]

    def _resolve_monospaced(self, name: str) -> bool | None:
        seen = 0
        while name in self._elements and seen < MAX_STYLE_CHAIN:
            element, seen = self._elements[name], seen + 1
            called = element.get_value("w:name", attribute="w:val") or ""
            if element.get("w:type") == "character" and is_code_style(called):
                return True
            given = is_monospaced_run(element.find("w:rPr"))
            if given is not None:
                return given
            name = element.get_value("w:basedOn", attribute="w:val") or ""
        return None

    def _resolve_style(self, name: str) -> ParagraphStyle:
        heading, kind, listed, level, depth, seen = 0, "", "", 0, 0, 0
        while name in self._elements and seen < MAX_STYLE_CHAIN:
            element, seen = self._elements[name], seen + 1
            called = (element.get_value("w:name", attribute="w:val") or "").lower()
            heading = heading or read_outline_level(element.find("w:pPr")) or _parse_heading_level(called)
            kind = kind or ("toc" if called.startswith("toc ") else STYLE_KINDS.get(called, ""))
            nested = NESTED_LIST_STYLE.match(called)
            depth = depth or (int(nested[1]) - 1 if nested else 0)
            if not listed:
                listed, level = read_numbering(element.find("w:pPr"))
            name = element.get_value("w:basedOn", attribute="w:val") or ""
        return ParagraphStyle(0 if kind == "toc" else heading, kind, listed, level, depth)


def _is_standard(style: XmlElement) -> bool:
    return style.get("w:type") == "paragraph" and style.get("w:default") in ("1", "true", "on")


def is_monospaced_run(properties: XmlElement | None) -> bool | None:
    """Whether the properties of a run name a font of a fixed width; None if they name none."""
    fonts = properties.find("w:rFonts") if properties else None
    if fonts is None:
        return None
    if fonts.get("w:asciiTheme"):
        return False
    named = fonts.get("w:ascii") or fonts.get("w:hAnsi")
    return is_monospaced_font(named) if named else None


def read_outline_level(properties: XmlElement | None) -> int:
    """The heading level that a paragraph's properties name; 0 for body text."""
    value = properties.get_value("w:outlineLvl", attribute="w:val") if properties else None
    return int(value) + 1 if value and value.isdigit() and len(value) == 1 and int(value) < 9 else 0


def read_numbering(properties: XmlElement | None) -> tuple[str, int]:
    """The list that a paragraph's properties put it in, and its level there; an empty name if none."""
    found = properties.find("w:numPr") if properties else None
    if found is None:
        return "", 0
    level = found.get_value("w:ilvl", attribute="w:val") or ""
    return found.get_value("w:numId", attribute="w:val") or "", _parse_number(level, 0)


def _parse_heading_level(name: str) -> int:
    found = HEADING_STYLE.match(name)
    return int(found[1]) if found else 0


def _parse_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else default


@dataclass(slots=True)
class ListLevel:
    """One level of a list: how its numbers are written (`%1.%2`), and what they start from."""

    format: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass
class WordList:
    """The levels of a list, and how far each has counted; lists of one definition share the counters."""

    levels: dict[int, ListLevel]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)


class WordLists:
    """The lists by number, counting as their items come."""

    def __init__(self, root: XmlElement) -> None:
        levels = {each.get("w:abstractNumId"): _parse_levels(each) for each in root.iter_named("w:abstractNum")}
        counters: dict[str, dict[int, int]] = {}
        self._lists: dict[str, WordList] = {}
        for each in root.iter_named("w:num"):
            name = each.get_value("w:abstractNumId", attribute="w:val") or ""
            given = WordList(levels.get(name, {}), counters.setdefault(name, {}))
            for override in each.iter_named("w:lvlOverride"):
                start = override.get_value("w:startOverride", attribute="w:val")
                if start is not None:
                    given.restarts[_parse_number(override.get("w:ilvl"), 0)] = _parse_number(start, 1)
            self._lists[each.get("w:numId")] = given

    def next_marker(self, name: str, level: int) -> str | None:
        """What stands before the next item: `-`, or a number as it is written; None if it is no item.

        Nothing stands before a paragraph that only goes on in an item, as some programs have it.
        """
        found = self._lists.get(name)
        if found is None:
            return None
        way = found.levels.get(level, ListLevel())
        if way.format == "none":
            return None
        if way.format == "bullet":
            return "-" if way.text.strip() or not way.text else ""
        return self._format_marker(found, level, way)

    @staticmethod
    def _format_marker(found: WordList, level: int, way: ListLevel) -> str:
        max_number = 100_000  # a number beyond this is no list
        if level in found.restarts:
            found.counters.pop(level, None)
            way = ListLevel(way.format, way.text, found.restarts.pop(level))
        found.counters[level] = min(max_number, found.counters.get(level, way.start - 1) + 1)
        for deeper in [each for each in found.counters if each > level]:
            del found.counters[deeper]

        def format_level(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            of = found.levels.get(at, ListLevel())
            return format_list_number(found.counters.get(at, of.start), of.format)

        return LEVEL_PLACEHOLDER.sub(format_level, way.text or f"%{level + 1}.").strip()


def _parse_levels(definition: XmlElement) -> dict[int, ListLevel]:
    return {
        _parse_number(each.get("w:ilvl"), 0): ListLevel(
            each.get_value("w:numFmt", attribute="w:val") or "decimal",
            (each.get_value("w:lvlText", attribute="w:val") or "")[:50],
            _parse_number(each.get_value("w:start", attribute="w:val") or "", 1),
        )
        for each in definition.iter_named("w:lvl")
    }


def format_list_number(number: int, way: str) -> str:
    """A number as a list writes it (ST_NumberFormat, ISO/IEC 29500-1 section 17.18.59)."""
    if way in ("lowerLetter", "upperLetter") and number > 0:
        text = chr(ord("a") + (number - 1) % 26) * min(10, 1 + (number - 1) // 26)
        return text.upper() if way == "upperLetter" else text
    if way in ("lowerRoman", "upperRoman") and 0 < number < 4_000:
        text = _to_roman(number)
        return text.upper() if way == "upperRoman" else text
    return f"{number:02d}" if way == "decimalZero" else str(number)


def _to_roman(number: int) -> str:
    pieces = []
    for value, letters in ROMAN_DIGITS:
        times, number = divmod(number, value)
        pieces.append(letters * times)
    return "".join(pieces)
