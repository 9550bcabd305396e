"""What the styles and lists of a Word document mean (ISO/IEC 29500-1 sections 17.7 and 17.9)."""

import re
from dataclasses import dataclass, field

from outrider.pages.readers.parts.typewriter import is_code, is_fixed
from outrider.pages.readers.parts.xml import Element

HEADING = re.compile(r"heading ([1-9])$")
NESTED = re.compile(r"list (?:bullet|number|continue) ([2-5])$")
KINDS = {  # names of built-in styles, which are English in every language of Word
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
PLACE = re.compile(r"%([1-9])")
CHAIN = 20  # styles that one may be based on
LARGEST = 100_000  # a number beyond this is no list
ROMAN = tuple(zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                  ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"), strict=True))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says: heading level (0 none), kind, and list with its level.

    `depth` is how deep its name nests it: Word's own lists of the second level are lists of their own.
    """

    heading: int = 0
    kind: str = ""
    list: str = ""
    level: int = 0
    depth: int = 0


class Styles:
    """The paragraph styles by id."""

    def __init__(self, root: Element) -> None:
        self._elements = {each.get("w:styleId"): each for each in root.each("w:style")}
        self._known: dict[str, Style] = {"": Style()}
        self._fonts: dict[str, bool | None] = {}
        standard = next((each for each in root.each("w:style") if _is_standard(each)), Element(""))
        given = fixed(root.find("w:docDefaults", "w:rPrDefault", "w:rPr"))
        own = self.fixed(standard.get("w:styleId"))
        self.typed = bool(given if own is None else own)  # whether all is in a fixed width that says nothing else
        self.language = root.value("w:docDefaults", "w:rPrDefault", "w:rPr", "w:lang", attribute="w:val") or ""

    def of(self, name: str) -> Style:
        """What a style says, with what it inherits."""
        if name not in self._known:
            self._known[name] = self._resolved(name)
        return self._known[name]

    def fixed(self, name: str) -> bool | None:
        """Whether a style sets its words in a fixed width, or calls them code; None if it says nothing of it."""
        if name not in self._fonts:
            self._fonts[name] = self._font(name)
        return self._fonts[name]

    def _font(self, name: str) -> bool | None:
        seen = 0
        while name in self._elements and seen < CHAIN:
            element, seen = self._elements[name], seen + 1
            called = element.value("w:name", attribute="w:val") or ""
            if element.get("w:type") == "character" and is_code(called):
                return True
            given = fixed(element.find("w:rPr"))
            if given is not None:
                return given
            name = element.value("w:basedOn", attribute="w:val") or ""
        return None

    def _resolved(self, name: str) -> Style:
        heading, kind, listed, level, depth, seen = 0, "", "", 0, 0, 0
        while name in self._elements and seen < CHAIN:
            element, seen = self._elements[name], seen + 1
            called = (element.value("w:name", attribute="w:val") or "").lower()
            heading = heading or outline(element.find("w:pPr")) or _heading(called)
            kind = kind or ("toc" if called.startswith("toc ") else KINDS.get(called, ""))
            nested = NESTED.match(called)
            depth = depth or (int(nested[1]) - 1 if nested else 0)
            if not listed:
                listed, level = numbering(element.find("w:pPr"))
            name = element.value("w:basedOn", attribute="w:val") or ""
        return Style(0 if kind == "toc" else heading, kind, listed, level, depth)


def _is_standard(style: Element) -> bool:
    return style.get("w:type") == "paragraph" and style.get("w:default") in ("1", "true", "on")


def fixed(properties: Element | None) -> bool | None:
    """Whether the properties of a run name a font of a fixed width; None if they name none."""
    fonts = properties.find("w:rFonts") if properties else None
    if fonts is None:
        return None
    if fonts.get("w:asciiTheme"):
        return False
    named = fonts.get("w:ascii") or fonts.get("w:hAnsi")
    return is_fixed(named) if named else None


def outline(properties: Element | None) -> int:
    """The heading level that a paragraph's properties name; 0 for body text."""
    value = properties.value("w:outlineLvl", attribute="w:val") if properties else None
    return int(value) + 1 if value and value.isdigit() and len(value) == 1 and int(value) < 9 else 0


def numbering(properties: Element | None) -> tuple[str, int]:
    """The list that a paragraph's properties put it in, and its level there; an empty name if none."""
    found = properties.find("w:numPr") if properties else None
    if found is None:
        return "", 0
    level = found.value("w:ilvl", attribute="w:val") or ""
    return found.value("w:numId", attribute="w:val") or "", _number(level, 0)


def _heading(name: str) -> int:
    found = HEADING.match(name)
    return int(found[1]) if found else 0


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else default


@dataclass(slots=True)
class Level:
    """One level of a list: how its numbers are written (`%1.%2`), and what they start from."""

    format: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass
class List:
    """The levels of a list, and how far each has counted; lists of one definition share the counters."""

    levels: dict[int, Level]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)


class Lists:
    """The lists by number, counting as their items come."""

    def __init__(self, root: Element) -> None:
        levels = {each.get("w:abstractNumId"): _levels(each) for each in root.each("w:abstractNum")}
        counters: dict[str, dict[int, int]] = {}
        self._lists: dict[str, List] = {}
        for each in root.each("w:num"):
            name = each.value("w:abstractNumId", attribute="w:val") or ""
            given = List(levels.get(name, {}), counters.setdefault(name, {}))
            for override in each.each("w:lvlOverride"):
                start = override.value("w:startOverride", attribute="w:val")
                if start is not None:
                    given.restarts[_number(override.get("w:ilvl"), 0)] = _number(start, 1)
            self._lists[each.get("w:numId")] = given

    def marker(self, name: str, level: int) -> str | None:
        """What stands before the next item: `-`, or a number as it is written; None if it is no item.

        Nothing stands before a paragraph that only goes on in an item, as some programs have it.
        """
        found = self._lists.get(name)
        if found is None:
            return None
        way = found.levels.get(level, Level())
        if way.format == "none":
            return None
        if way.format == "bullet":
            return "-" if way.text.strip() or not way.text else ""
        return self._numbered(found, level, way)

    @staticmethod
    def _numbered(found: List, level: int, way: Level) -> str:
        if level in found.restarts:
            found.counters.pop(level, None)
            way = Level(way.format, way.text, found.restarts.pop(level))
        found.counters[level] = min(LARGEST, found.counters.get(level, way.start - 1) + 1)
        for deeper in [each for each in found.counters if each > level]:
            del found.counters[deeper]

        def written(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            of = found.levels.get(at, Level())
            return count(found.counters.get(at, of.start), of.format)

        return PLACE.sub(written, way.text or f"%{level + 1}.").strip()


def _levels(definition: Element) -> dict[int, Level]:
    return {
        _number(each.get("w:ilvl"), 0): Level(
            each.value("w:numFmt", attribute="w:val") or "decimal",
            (each.value("w:lvlText", attribute="w:val") or "")[:50],
            _number(each.value("w:start", attribute="w:val") or "", 1),
        )
        for each in definition.each("w:lvl")
    }


def count(number: int, way: str) -> str:
    """A number as a list writes it (ST_NumberFormat, ISO/IEC 29500-1 section 17.18.59)."""
    if way in ("lowerLetter", "upperLetter") and number > 0:
        text = chr(ord("a") + (number - 1) % 26) * min(10, 1 + (number - 1) // 26)
        return text.upper() if way == "upperLetter" else text
    if way in ("lowerRoman", "upperRoman") and 0 < number < 4_000:
        text = _roman(number)
        return text.upper() if way == "upperRoman" else text
    return f"{number:02d}" if way == "decimalZero" else str(number)


def _roman(number: int) -> str:
    pieces = []
    for value, letters in ROMAN:
        times, number = divmod(number, value)
        pieces.append(letters * times)
    return "".join(pieces)
