"""Text that is marked up by its lines, as Markdown: headings, listings and links; the rest stands as it is.

reStructuredText (docutils.sourceforge.io/docs/ref/rst), AsciiDoc (docs.asciidoctor.org), Org (orgmode.org/manual) and
LaTeX. They are read as they stand by any model, so only what tells the structure is put into other signs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.text import fenced

LONGEST = 400  # characters of a heading's line
ADORNED = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}")
CODE = re.compile(r"\.\. (?:code-block|code|sourcecode|highlight)::[ \t]*(\w*)[ \t]*")
FIELD = re.compile(r"\s+:[\w-]+:.*")
TARGET = re.compile(r"\.\. _[^:]{1,200}:\s*$")
WORDED = re.compile(r"`([^`<\n]{1,300}?)\s{0,3}<(https?://[^>\s]{1,400})>`__?")
LITERAL = re.compile(r"``([^`\n]{1,500})``")
SECTION = re.compile(r"(={1,6}|#{1,6}) (\S.{0,300})")
SOURCE = re.compile(r"\[(?:source|listing)?,? ?%?([\w+-]*)[^\]]{0,100}\]")
BLOCK = re.compile(r"-{4,}|\.{4,}|`{3,}")
ADDRESS = re.compile(r"(?:link:)?(https?://[^\s\[\]]{1,400})\[([^\[\]\n]{1,300})\]")
STAR = re.compile(r"(\*{1,8}) (?:(?:TODO|DONE) )?(\S.{0,300}?)(?:\s+:[\w:@]+:)?")
BEGIN = re.compile(r"\s*#\+BEGIN_(SRC|EXAMPLE)\s*([\w+-]*).*", re.IGNORECASE)
LINKED = re.compile(r"\[\[(https?://[^\]\s]{1,400})\](?:\[([^\]\n]{1,300})\])?\]")
KEYWORD = re.compile(r"#\+(TITLE|AUTHOR|DATE|DESCRIPTION|LANGUAGE):\s*(.{1,300})", re.IGNORECASE)
ATTRIBUTE = re.compile(r":(author|revdate|description|lang|email):[ \t]*(.{1,300})")
FACTS = {"revdate": "published", "date": "published", "lang": "language"}


@dataclass
class Marked:
    """What such a text becomes; `facts` are those of a document."""

    blocks: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def heading(self, level: int, text: str) -> None:
        """A heading; the first one is the title if nothing else is."""
        self.facts.setdefault("title", text)
        self.blocks += ["", f"{'#' * min(max(level, 1), 6)} {text}", ""]

    def listing(self, lines: list[str], language: str) -> None:
        """Code as it stands."""
        self.blocks += ["", fenced("\n".join(lines), language), ""]

    def note(self, name: str, value: str) -> None:
        """A fact that the text declares."""
        self.facts.setdefault(FACTS.get(name.lower(), name.lower()), value.strip())

    @property
    def markdown(self) -> str:
        return "\n".join(self.blocks)


class Lines:
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

    def until(self, ends: re.Pattern[str]) -> list[str]:
        """The lines up to one that ends a listing, which is left out."""
        found: list[str] = []
        for line in self:
            if ends.fullmatch(line.strip()):
                break
            found.append(line)
        return found

    def indented(self) -> list[str]:
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


def restructured(text: str) -> Marked:
    """reStructuredText: levels of headings in the order in which their signs appear."""
    made, lines, levels = Marked(), Lines(text), list[str]()
    for line in lines:
        under = lines.peek().strip()
        if ADORNED.fullmatch(line.strip()) and _is_title(under) and lines.peek(1).strip() == line.strip():
            made.heading(_level(levels, f"over {line[0]}"), under)
            lines.skip(2)
        elif _is_title(line) and line[0] not in " \t" and ADORNED.fullmatch(under) and len(under) >= len(line.strip()):
            made.heading(_level(levels, under[0]), line.strip())
            lines.skip()
        elif code := CODE.fullmatch(line):
            while FIELD.fullmatch(lines.peek()):
                lines.skip()
            made.listing(lines.indented(), code[1])
        elif not TARGET.fullmatch(line):
            made.blocks.append(LITERAL.sub(r"`\1`", WORDED.sub(r"[\1](\2)", _introduced(line))))
            if line.rstrip().endswith("::") and not line.startswith(".. ") and not lines.peek().strip():
                made.listing(lines.indented(), "")
    return made


def _is_title(line: str) -> bool:
    return 0 < len(line.strip()) <= 200 and not ADORNED.fullmatch(line.strip())


def _level(levels: list[str], sign: str) -> int:
    if sign not in levels:
        levels.append(sign)
    return levels.index(sign) + 1


def _introduced(line: str) -> str:
    """A line without the second colon by which it says that a listing follows."""
    bare = line.rstrip()
    if not bare.endswith("::") or bare.startswith(".. "):
        return line
    return "" if bare.strip() == "::" else bare[:-1]


def asciidoc(text: str) -> Marked:
    """AsciiDoc: headings, listings and links."""
    made, lines, language = Marked(), Lines(text), ""
    for line in lines:
        if (section := SECTION.fullmatch(line)) and not lines.peek().startswith("===="):
            made.heading(len(section[1]), section[2].rstrip(" ="))
        elif fact := ATTRIBUTE.fullmatch(line):
            made.note(*fact.groups())
        elif BLOCK.fullmatch(line.strip()):
            made.listing(lines.until(re.compile(re.escape(line.strip()))), language)
        elif (source := SOURCE.fullmatch(line)) and BLOCK.fullmatch(lines.peek().strip()):
            language = source[1]
            continue
        else:
            made.blocks.append(ADDRESS.sub(r"[\2](\1)", line))
        language = ""
    return made


def org(text: str) -> Marked:
    """Org: headings, listings and links; drawers are left out. A title of its own is above all headings."""
    made, lines, shift = Marked(), Lines(text), 0
    for line in lines:
        if fact := KEYWORD.fullmatch(line):
            made.note(*fact.groups())
            if fact[1].lower() == "title":
                shift = 1
                made.heading(1, fact[2].strip())
        elif len(line) < LONGEST and (star := STAR.fullmatch(line)):
            made.heading(len(star[1]) + shift, star[2])
        elif begin := BEGIN.fullmatch(line):
            listing = lines.until(re.compile(rf"#\+END_{begin[1]}", re.IGNORECASE))
            made.listing(listing, begin[2] if begin[1].upper() == "SRC" else "")
        elif line.strip() == ":PROPERTIES:":
            lines.until(re.compile(":END:"))
        else:
            made.blocks.append(LINKED.sub(lambda found: f"[{found[2] or found[1]}]({found[1]})", line))
    return made
