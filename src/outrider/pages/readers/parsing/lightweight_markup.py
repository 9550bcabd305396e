"""Text that is marked up by its lines, as Markdown: headings, listings and links; the rest stands as it is.

reStructuredText (docutils.sourceforge.io/docs/ref/rst), AsciiDoc (docs.asciidoctor.org), Org (orgmode.org/manual) and
LaTeX. They are read as they stand by any model, so only what tells the structure is put into other signs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.text import format_code_block

RST_ADORNMENT = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}")
RST_CODE = re.compile(r"\.\. (?:code-block|code|sourcecode|highlight)::[ \t]*(\w*)[ \t]*")
RST_OPTION = re.compile(r"\s+:[\w-]+:.*")
RST_TARGET = re.compile(r"\.\. _[^:]{1,200}:\s*$")
RST_LINK = re.compile(r"`([^`<\n]{1,300}?)\s{0,3}<(https?://[^>\s]{1,400})>`__?")
RST_LITERAL = re.compile(r"``([^`\n]{1,500})``")
ASCIIDOC_SECTION = re.compile(r"(={1,6}|#{1,6}) (\S.{0,300})")
ASCIIDOC_SOURCE = re.compile(r"\[(?:source|listing)?,? ?%?([\w+-]*)[^\]]{0,100}\]")
ASCIIDOC_BLOCK = re.compile(r"-{4,}|\.{4,}|`{3,}")
ASCIIDOC_LINK = re.compile(r"(?:link:)?(https?://[^\s\[\]]{1,400})\[([^\[\]\n]{1,300})\]")
ORG_HEADING = re.compile(r"(\*{1,8}) (?:(?:TODO|DONE) )?(\S.{0,300}?)(?:\s+:[\w:@]+:)?")
ORG_BLOCK = re.compile(r"\s*#\+BEGIN_(SRC|EXAMPLE)\s*([\w+-]*).*", re.IGNORECASE)
ORG_LINK = re.compile(r"\[\[(https?://[^\]\s]{1,400})\](?:\[([^\]\n]{1,300})\])?\]")
ORG_KEYWORD = re.compile(r"#\+(TITLE|AUTHOR|DATE|DESCRIPTION|LANGUAGE):\s*(.{1,300})", re.IGNORECASE)
ASCIIDOC_ATTRIBUTE = re.compile(r":(author|revdate|description|lang|email):[ \t]*(.{1,300})")


@dataclass
class ConvertedMarkup:
    """What such a text becomes; `facts` are those of a document."""

    blocks: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def add_heading(self, level: int, text: str) -> None:
        """A heading; the first one is the title if nothing else is."""
        self.facts.setdefault("title", text)
        self.blocks += ["", f"{'#' * min(max(level, 1), 6)} {text}", ""]

    def add_code(self, lines: list[str], language: str) -> None:
        """Code as it stands."""
        self.blocks += ["", format_code_block("\n".join(lines), language), ""]

    def add_fact(self, name: str, value: str) -> None:
        """A fact that the text declares."""
        fact_names = {"revdate": "published", "date": "published", "lang": "language"}
        self.facts.setdefault(fact_names.get(name.lower(), name.lower()), value.strip())

    @property
    def markdown(self) -> str:
        return "\n".join(self.blocks)


class LineReader:
    """Lines one after the other, of which one may look at the next."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def __iter__(self) -> Iterator[str]:
        while self._at < len(self._lines):
            self._at += 1
            yield self._lines[self._at - 1]

    def peek(self, ahead: int = 0) -> str:
        """The line that comes next, or so many later; empty behind the end."""
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def skip(self, count: int = 1) -> None:
        """Leaves lines out."""
        self._at += count

    def take_until(self, ends: re.Pattern[str]) -> list[str]:
        """The lines up to one that ends a listing, which is left out."""
        found: list[str] = []
        for line in self:
            if ends.fullmatch(line.strip()):
                break
            found.append(line)
        return found

    def take_indented(self) -> list[str]:
        """The lines that are set in, without what they have in common."""
        found: list[str] = []
        while self._at < len(self._lines) and (not self.peek().strip() or self.peek()[0] in " \t"):
            found.append(self.peek())
            self.skip()
        while found and not found[-1].strip():
            found.pop()
            self._at -= 1
        while found and not found[0].strip():
            found.pop(0)
        common = min((len(line) - len(line.lstrip()) for line in found if line.strip()), default=0)
        return [line[common:] for line in found]


def convert_rst(text: str) -> ConvertedMarkup:
    """reStructuredText: levels of headings in the order in which their signs appear."""
    made, lines, levels = ConvertedMarkup(), LineReader(text), list[str]()
    for line in lines:
        under = lines.peek().strip()
        if RST_ADORNMENT.fullmatch(line.strip()) and _is_title_line(under) and lines.peek(1).strip() == line.strip():
            made.add_heading(_find_level(levels, f"over {line[0]}"), under)
            lines.skip(2)
        elif (
            _is_title_line(line)
            and line[0] not in " \t"
            and RST_ADORNMENT.fullmatch(under)
            and len(under) >= len(line.strip())
        ):
            made.add_heading(_find_level(levels, under[0]), line.strip())
            lines.skip()
        elif code := RST_CODE.fullmatch(line):
            while RST_OPTION.fullmatch(lines.peek()):
                lines.skip()
            made.add_code(lines.take_indented(), code[1])
        elif not RST_TARGET.fullmatch(line):
            made.blocks.append(RST_LITERAL.sub(r"`\1`", RST_LINK.sub(r"[\1](\2)", _strip_literal_colon(line))))
            if line.rstrip().endswith("::") and not line.startswith(".. ") and not lines.peek().strip():
                made.add_code(lines.take_indented(), "")
    return made


def _is_title_line(line: str) -> bool:
    return 0 < len(line.strip()) <= 200 and not RST_ADORNMENT.fullmatch(line.strip())


def _find_level(levels: list[str], sign: str) -> int:
    if sign not in levels:
        levels.append(sign)
    return levels.index(sign) + 1


def _strip_literal_colon(line: str) -> str:
    """A line without the second colon by which it says that a listing follows."""
    bare = line.rstrip()
    if not bare.endswith("::") or bare.startswith(".. "):
        return line
    return "" if bare.strip() == "::" else bare[:-1]


def convert_asciidoc(text: str) -> ConvertedMarkup:
    """AsciiDoc: headings, listings and links."""
    made, lines, language = ConvertedMarkup(), LineReader(text), ""
    for line in lines:
        if (section := ASCIIDOC_SECTION.fullmatch(line)) and not lines.peek().startswith("===="):
            made.add_heading(len(section[1]), section[2].rstrip(" ="))
        elif fact := ASCIIDOC_ATTRIBUTE.fullmatch(line):
            made.add_fact(*fact.groups())
        elif ASCIIDOC_BLOCK.fullmatch(line.strip()):
            made.add_code(lines.take_until(re.compile(re.escape(line.strip()))), language)
        elif (source := ASCIIDOC_SOURCE.fullmatch(line)) and ASCIIDOC_BLOCK.fullmatch(lines.peek().strip()):
            language = source[1]
            continue
        else:
            made.blocks.append(ASCIIDOC_LINK.sub(r"[\2](\1)", line))
        language = ""
    return made


def convert_org(text: str) -> ConvertedMarkup:
    """Org: headings, listings and links; drawers are left out. A title of its own is above all headings."""
    max_heading_chars = 400  # characters of a heading's line
    made, lines, shift = ConvertedMarkup(), LineReader(text), 0
    for line in lines:
        if fact := ORG_KEYWORD.fullmatch(line):
            made.add_fact(*fact.groups())
            if fact[1].lower() == "title":
                shift = 1
                made.add_heading(1, fact[2].strip())
        elif len(line) < max_heading_chars and (star := ORG_HEADING.fullmatch(line)):
            made.add_heading(len(star[1]) + shift, star[2])
        elif begin := ORG_BLOCK.fullmatch(line):
            listing = lines.take_until(re.compile(rf"#\+END_{begin[1]}", re.IGNORECASE))
            made.add_code(listing, begin[2] if begin[1].upper() == "SRC" else "")
        elif line.strip() == ":PROPERTIES:":
            lines.take_until(re.compile(":END:"))
        else:
            made.blocks.append(ORG_LINK.sub(lambda found: f"[{found[2] or found[1]}]({found[1]})", line))
    return made
