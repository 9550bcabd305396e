"""Resolve the styles and lists of a Word document.

ISO/IEC 29500-1 sections 17.7 and 17.9.
"""

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
    "author": "plain",  # based on the title in other programs than Word
    "date": "plain",
    "subtitle": "plain",
    "toc heading": "toc",
    "contents heading": "toc",
}
LEVEL_PLACEHOLDER = re.compile(r"%([1-9])")
OFF_VALUES = frozenset({"0", "false", "off", "none"})
TOGGLES = frozenset({"w:b", "w:i", "w:strike", "w:dstrike", "w:vanish"})
MAX_STYLE_CHAIN = 20  # levels of inheritance
ROMAN_DIGITS = tuple(zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
                  ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"), strict=True))  # fmt: skip


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """Properties of a paragraph style: heading level (0 for none), kind, and list with its level.

    `depth` is the nesting that the style's name implies: Word's built-in second-level lists are separate lists.
    """

    heading: int = 0
    kind: str = ""
    list: str = ""
    level: int = 0
    depth: int = 0


class WordStyles:
    """The paragraph and character styles by id."""

    def __init__(self, root: XmlElement) -> None:
        self._elements = {style.get("w:styleId"): style for style in root.iter_named("w:style")}
        self._resolved: dict[str, ParagraphStyle] = {"": ParagraphStyle()}
        self._monospaced: dict[str, bool | None] = {}
        self._toggles: dict[str, frozenset[str]] = {"": frozenset()}
        defaults = (
            style
            for style in root.iter_named("w:style")
            if style.get("w:type") == "paragraph" and style.get("w:default") in ("1", "true", "on")
        )
        is_monospaced = self.is_monospaced(next(defaults, XmlElement("")).get("w:styleId"))
        if is_monospaced is None:
            is_monospaced = is_monospaced_run(root.find("w:docDefaults", "w:rPrDefault", "w:rPr"))
        self.is_all_monospaced = bool(is_monospaced)  # text without its own font is monospaced
        self.language = root.get_value("w:docDefaults", "w:rPrDefault", "w:rPr", "w:lang", attribute="w:val") or ""

    def get_style(self, name: str) -> ParagraphStyle:
        """Return a style's properties, inherited ones included."""
        if name in self._resolved:
            return self._resolved[name]
        heading, kind, list_id, level, depth, seen = 0, "", "", 0, 0, 0
        base = name
        while base in self._elements and seen < MAX_STYLE_CHAIN:
            element, seen = self._elements[base], seen + 1
            title = (element.get_value("w:name", attribute="w:val") or "").lower()
            builtin_heading, builtin_list = HEADING_STYLE.match(title), NESTED_LIST_STYLE.match(title)
            heading = heading or read_outline_level(element.find("w:pPr"))
            heading = heading or (int(builtin_heading[1]) if builtin_heading else 0)
            kind = kind or ("toc" if title.startswith("toc ") else STYLE_KINDS.get(title, ""))
            depth = depth or (int(builtin_list[1]) - 1 if builtin_list else 0)
            if not list_id:
                list_id, level = read_numbering(element.find("w:pPr"))
            base = element.get_value("w:basedOn", attribute="w:val") or ""
        self._resolved[name] = ParagraphStyle(0 if kind == "toc" else heading, kind, list_id, level, depth)
        return self._resolved[name]

    def is_monospaced(self, name: str) -> bool | None:
        """Return whether a style is monospaced or one for code; None if it does not set a font."""
        if name in self._monospaced:
            return self._monospaced[name]
        base, seen, is_monospaced = name, 0, None
        while is_monospaced is None and base in self._elements and seen < MAX_STYLE_CHAIN:
            element, seen = self._elements[base], seen + 1
            title = element.get_value("w:name", attribute="w:val") or ""
            is_code = element.get("w:type") == "character" and is_code_style(title)
            is_monospaced = True if is_code else is_monospaced_run(element.find("w:rPr"))
            base = element.get_value("w:basedOn", attribute="w:val") or ""
        self._monospaced[name] = is_monospaced
        return is_monospaced

    def get_toggles(self, name: str) -> frozenset[str]:
        """Return the toggles that a style sets, such as bold, by the names of their elements."""
        if name in self._toggles:
            return self._toggles[name]
        chain: list[XmlElement] = []
        base = name
        while base in self._elements and len(chain) < MAX_STYLE_CHAIN:
            chain.append(self._elements[base])
            base = chain[-1].get_value("w:basedOn", attribute="w:val") or ""
        toggles: frozenset[str] = frozenset()
        for style in reversed(chain):
            toggles = apply_toggles(style.find("w:rPr"), toggles)
        self._toggles[name] = toggles
        return toggles


def apply_toggles(properties: XmlElement | None, inherited: frozenset[str]) -> frozenset[str]:
    """Return the toggles of a run that are on, by the names of their elements (section 17.7.3)."""
    for child in properties.iter_children() if properties else ():
        if child.name in TOGGLES:
            is_on = child.get("w:val").lower() not in OFF_VALUES
            inherited = inherited | {child.name} if is_on else inherited - {child.name}
    return inherited


def is_monospaced_run(properties: XmlElement | None) -> bool | None:
    """Return whether a run's properties name a monospaced font; None if they name none."""
    fonts = properties.find("w:rFonts") if properties else None
    if fonts is None:
        return None
    if fonts.get("w:asciiTheme"):
        return False
    font = fonts.get("w:ascii") or fonts.get("w:hAnsi")
    return is_monospaced_font(font) if font else None


def read_outline_level(properties: XmlElement | None) -> int:
    """Return the heading level in a paragraph's properties; 0 for body text."""
    value = properties.get_value("w:outlineLvl", attribute="w:val") if properties else None
    return int(value) + 1 if value and value.isdigit() and len(value) == 1 and int(value) < 9 else 0


def read_numbering(properties: XmlElement | None) -> tuple[str, int]:
    """Return the id of a paragraph's list, empty for none, and its level there."""
    numbering = properties.find("w:numPr") if properties else None
    if numbering is None:
        return "", 0
    level = numbering.get_value("w:ilvl", attribute="w:val") or ""
    return numbering.get_value("w:numId", attribute="w:val") or "", _parse_number(level, 0)


def _parse_number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else default


@dataclass(slots=True)
class ListLevel:
    """One level of a list: its number format, the text around its numbers (`%1.%2`), and its start."""

    format: str = "decimal"
    text: str = ""
    start: int = 1
    is_legal: bool = False  # numbers of outer levels are shown as decimals


@dataclass
class WordList:
    """The levels of a list, and how far each has counted; lists of one definition share counters."""

    levels: dict[int, ListLevel]
    counters: dict[int, int]
    restarts: dict[int, int] = field(default_factory=dict)


class WordLists:
    """The lists by id, counting as their items come."""

    def __init__(self, root: XmlElement) -> None:
        definitions = {element.get("w:abstractNumId"): element for element in root.iter_named("w:abstractNum")}
        styled = {each.get_value("w:styleLink", attribute="w:val"): name for name, each in definitions.items()}
        counters: dict[str, dict[int, int]] = {}
        self._lists: dict[str, WordList] = {}
        for element in root.iter_named("w:num"):
            name = element.get_value("w:abstractNumId", attribute="w:val") or ""
            style = definitions.get(name, root).get_value("w:numStyleLink", attribute="w:val")
            name = styled.get(style, name) if style else name  # the definition of a list style
            word_list = WordList(read_list_levels(definitions.get(name)), counters.setdefault(name, {}))
            for override in element.iter_named("w:lvlOverride"):
                word_list.levels |= read_list_levels(override)
                start = override.get_value("w:startOverride", attribute="w:val")
                if start is not None:
                    word_list.restarts[_parse_number(override.get("w:ilvl"), 0)] = _parse_number(start, 1)
            self._lists[element.get("w:numId")] = word_list

    def next_marker(self, name: str, level: int) -> str | None:
        """Count the next item and return its marker: `-`, or its formatted number; None if it is not an item.

        The marker is empty for a paragraph that continues an item, which some programs write as a blank bullet.
        """
        max_number = 100_000
        word_list = self._lists.get(name)
        if word_list is None:
            return None
        list_level = word_list.levels.get(level, ListLevel())
        if list_level.format == "none":
            return None
        if list_level.format == "bullet":
            return "-" if list_level.text.strip() or not list_level.text else ""
        counters, start = word_list.counters, list_level.start
        if level in word_list.restarts:
            counters.pop(level, None)
            start = word_list.restarts.pop(level)
        counters[level] = min(max_number, counters.get(level, start - 1) + 1)
        for outer in range(min(level, 9)):  # a level that is skipped counts
            counters.setdefault(outer, word_list.levels.get(outer, ListLevel()).start)
        for deeper in [known for known in counters if known > level]:
            del counters[deeper]

        def format_level(match: re.Match[str]) -> str:
            number = int(match[1]) - 1
            outer = word_list.levels.get(number, ListLevel())
            return format_list_number(
                counters.get(number, outer.start), "decimal" if list_level.is_legal else outer.format
            )

        return LEVEL_PLACEHOLDER.sub(format_level, list_level.text or f"%{level + 1}.").strip()


def read_list_levels(definition: XmlElement | None) -> dict[int, ListLevel]:
    """Return the levels that a definition of a list, or an override, describes."""
    return {
        _parse_number(level.get("w:ilvl"), 0): ListLevel(
            level.get_value("w:numFmt", attribute="w:val") or "decimal",
            (level.get_value("w:lvlText", attribute="w:val") or "")[:50],
            _parse_number(level.get_value("w:start", attribute="w:val") or "", 0),
            is_toggle_on(level, "w:isLgl"),
        )
        for level in (definition.iter_named("w:lvl") if definition else ())
    }


def is_toggle_on(properties: XmlElement, name: str, *, default: bool = False) -> bool:
    """Return whether a toggle property is set, with or without a value (section 17.3.2)."""
    value = properties.get_value(name, attribute="w:val")
    return default if value is None else value.lower() not in OFF_VALUES


def format_list_number(number: int, number_format: str) -> str:
    """Return a number in a list's number format (ST_NumberFormat, ISO/IEC 29500-1 section 17.18.59)."""
    text = f"{number:02d}" if number_format == "decimalZero" else str(number)
    if number_format == "ordinal":
        text += "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    if number_format in ("lowerLetter", "upperLetter") and number > 0:
        text = chr(ord("a") + (number - 1) % 26) * min(10, 1 + (number - 1) // 26)
    elif number_format in ("lowerRoman", "upperRoman") and 0 < number < 4_000:
        text = ""
        for value, letters in ROMAN_DIGITS:
            times, number = divmod(number, value)
            text += letters * times
    return text.upper() if number_format.startswith("upper") else text
