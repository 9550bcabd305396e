"""Convert line-based markup to Markdown: headings, listings and links.

reStructuredText (docutils.sourceforge.io/docs/ref/rst), AsciiDoc (docs.asciidoctor.org) and Org (orgmode.org/manual).
Models can read the rest of these markups, so only what shows the structure is converted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.parsing.draft import render_table
from outrider.pages.readers.text import format_code_block

RST_ADORNMENT = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}")  # the line of punctuation above or below a heading
RST_CODE = re.compile(r"\.\. (?:code-block|code|sourcecode|highlight)::[ \t]*(\w*)[ \t]*")
RST_OPTION = re.compile(r"\s+:[\w-]+:.*")
RST_TARGET = re.compile(r"\.\. _[^:]{1,200}:\s*$")
LIST_ITEM = re.compile(r"(?:[-*+•]|\(?(?:\d{1,4}|[a-zA-Z#]|[ivx]{1,6})[.)])(?:\s|$)")
RST_LINK = re.compile(r"`([^`<\n]{1,300}?)\s{0,3}<(https?://[^>\s]{1,400})>`__?")
RST_LITERAL = re.compile(r"``([^`\n]{1,500})``")
ASCIIDOC_SECTION = re.compile(r"(={1,6}|#{1,6}) (\S.{0,300})")
ASCIIDOC_SOURCE = re.compile(r"\[(?:source|listing)?,? ?%?([\w+-]*)[^\]]{0,100}\]")
ASCIIDOC_BLOCK = re.compile(r"-{4,}|\.{4,}|`{3,}")
ASCIIDOC_CELL = re.compile(
    r"(?:(?<=\s)|^)(?:\d+\*)?(?:[\d.]+\+)?(?:[<^>.]{1,4})?[adehlms]?(?<!\\)\|"
)  # with its format
ASCIIDOC_LINK = re.compile(r"(?:link:)?(https?://[^\s\[\]]{1,400})\[([^\[\]\n]{1,300})\]")
ORG_HEADING = re.compile(r"(\*{1,8}) (?:(?:TODO|DONE) )?(\S.{0,300}?)(?:\s+:[\w:@]+:)?")
ORG_BLOCK = re.compile(r"\s*#\+BEGIN_(SRC|EXAMPLE)\s*([\w+-]*).*", re.IGNORECASE)
ORG_LINK = re.compile(r"\[\[(https?://[^\]\s]{1,400})\](?:\[([^\]\n]{1,300})\])?\]")
ORG_KEYWORD = re.compile(r"#\+(TITLE|AUTHOR|DATE|DESCRIPTION|LANGUAGE):\s*(.{1,300})", re.IGNORECASE)
ASCIIDOC_ATTRIBUTE = re.compile(r":(author|revdate|description|lang|email):[ \t]*(.{1,300})")


@dataclass
class ConvertedMarkup:
    """Markdown blocks of a converted text, and its document facts (title, author and the like)."""

    blocks: list[str] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)

    def add_heading(self, level: int, text: str) -> None:
        """Add a heading; the first one is the title unless the text declares one."""
        self.facts.setdefault("title", text)
        self.blocks += ["", f"{'#' * min(max(level, 1), 6)} {text}", ""]

    def add_code(self, lines: list[str], language: str) -> None:
        """Add a fenced code block."""
        self.blocks += ["", format_code_block("\n".join(lines), language), ""]

    def add_fact(self, name: str, value: str) -> None:
        """Record a fact that the text declares; the first value wins."""
        fact_names = {"revdate": "published", "date": "published", "lang": "language"}
        self.facts.setdefault(fact_names.get(name.lower(), name.lower()), value.strip())

    @property
    def markdown(self) -> str:
        return "\n".join(self.blocks)


class LineReader:
    """Iterate over lines with lookahead."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0

    def __iter__(self) -> Iterator[str]:
        while self._at < len(self._lines):
            self._at += 1
            yield self._lines[self._at - 1]

    def peek(self, ahead: int = 0) -> str:
        """Return the next line, or the one `ahead` lines later; empty past the end."""
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def skip(self, count: int = 1) -> None:
        """Skip lines."""
        self._at += count

    def take_until(self, ends: re.Pattern[str]) -> list[str]:
        """Consume lines up to the one that ends a listing; return them without that line."""
        lines: list[str] = []
        for line in self:
            if ends.fullmatch(line.strip()):
                break
            lines.append(line)
        return lines

    def take_indented(self) -> list[str]:
        """Consume the indented lines; return them without their common indentation."""
        lines: list[str] = []
        while self._at < len(self._lines) and (not self.peek().strip() or self.peek()[0] in " \t"):
            lines.append(self.peek())
            self.skip()
        while lines and not lines[-1].strip():
            lines.pop()
            self._at -= 1
        while lines and not lines[0].strip():
            lines.pop(0)
        common = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
        return [line[common:] for line in lines]


def convert_rst(text: str) -> ConvertedMarkup:
    """Convert reStructuredText; heading levels follow the order in which adornments first appear."""
    converted = ConvertedMarkup()
    _convert_rst_lines(LineReader(text), converted, [], 0)
    return converted


def _convert_rst_lines(lines: LineReader, converted: ConvertedMarkup, levels: list[str], depth: int) -> None:
    """Convert the lines of a text, or of a part that is indented `depth` times."""
    max_depth = 10
    outer = last = ""  # the last line that was not indented, and the last that was not empty
    for line in lines:
        under = lines.peek().strip()
        if RST_ADORNMENT.fullmatch(line.strip()) and _is_title_line(under) and lines.peek(1).strip() == line.strip():
            converted.add_heading(_find_level(levels, f"over {line[0]}"), under)
            lines.skip(2)
        elif (
            _is_title_line(line)
            and line[0] not in " \t"
            and RST_ADORNMENT.fullmatch(under)
            and len(under) >= len(line.strip())
        ):
            converted.add_heading(_find_level(levels, under[0]), line.strip())
            lines.skip()
        elif code := RST_CODE.fullmatch(line):
            while RST_OPTION.fullmatch(lines.peek()):
                lines.skip()
            converted.add_code(lines.take_indented(), code[1])
        elif not RST_TARGET.fullmatch(line):
            _convert_rst_text(line, lines, converted)
        last = line if line.strip() else last
        outer = last if last[:1] not in (" ", "\t") else outer
        # Indented text below a paragraph is a quote, and below a directive its content; Markdown would read both as
        # code.
        if not line.strip() and under and lines.peek()[0] in " \t" and depth < max_depth and not LIST_ITEM.match(outer):
            inner = ConvertedMarkup(facts=converted.facts)
            _convert_rst_lines(LineReader("\n".join(lines.take_indented())), inner, levels, depth + 1)
            mark = "" if outer.startswith(".. ") or last != outer else "> "
            converted.blocks += [f"{mark}{row}".rstrip() for row in inner.markdown.strip("\n").split("\n")]


def _convert_rst_text(line: str, lines: LineReader, converted: ConvertedMarkup) -> None:
    """Convert a line of text, and the listing that it announces."""
    bare = line.rstrip()
    announces_literal = bare.endswith("::") and not bare.startswith(".. ")
    announcement = "" if bare.strip() == "::" else bare[:-1]  # without its second colon
    text = announcement if announces_literal else line
    converted.blocks.append(RST_LITERAL.sub(r"`\1`", RST_LINK.sub(r"[\1](\2)", text)))
    if announces_literal and not lines.peek().strip():
        converted.add_code(lines.take_indented(), "")


def _is_title_line(line: str) -> bool:
    return 0 < len(line.strip()) <= 200 and not RST_ADORNMENT.fullmatch(line.strip())


def _find_level(levels: list[str], sign: str) -> int:
    if sign not in levels:
        levels.append(sign)
    return levels.index(sign) + 1


def convert_asciidoc(text: str) -> ConvertedMarkup:
    """Convert AsciiDoc headings, listings and links."""
    converted, lines, language, options = ConvertedMarkup(), LineReader(text), "", ""
    for line in lines:
        if (section := ASCIIDOC_SECTION.fullmatch(line)) and not lines.peek().startswith("===="):
            converted.add_heading(len(section[1]), section[2].rstrip(" ="))
        elif fact := ASCIIDOC_ATTRIBUTE.fullmatch(line):
            converted.add_fact(*fact.groups())
        elif line.startswith("|==="):
            table_lines = lines.take_until(re.compile(r"\|={3,}"))
            converted.blocks += ["", _render_asciidoc_table(table_lines, options), ""]
            options = ""
        elif line.startswith("[") and "|===" in (lines.peek()[:4], lines.peek(1)[:4]):
            options = line
            continue
        elif ASCIIDOC_BLOCK.fullmatch(line.strip()):
            converted.add_code(lines.take_until(re.compile(re.escape(line.strip()))), language)
        elif (source := ASCIIDOC_SOURCE.fullmatch(line)) and ASCIIDOC_BLOCK.fullmatch(lines.peek().strip()):
            language = source[1]
            continue
        else:
            is_title = line[:1] == "." and line[1:2].strip(". ") and lines.peek().strip()
            converted.blocks += [ASCIIDOC_LINK.sub(r"[\2](\1)", line[1:] if is_title else line), *[""] * bool(is_title)]
        language = ""
    return converted


def _render_asciidoc_table(lines: list[str], options: str) -> str:
    """Render a table, whose header may be an option.

    Otherwise its header is a first line followed by a blank one.
    """
    rows = _split_asciidoc_rows(lines)
    is_set_apart = "".join(lines[:1]).strip() and not "".join(lines[1:2]).strip()
    has_head = "header" in options.replace("noheader", "") or (is_set_apart and "noheader" not in options)
    return render_table(rows if has_head or not rows else [[""] * len(rows[0]), *rows])


def _split_asciidoc_rows(lines: list[str]) -> list[list[str]]:
    """Return a table's rows, as wide as its first line or first block."""
    cells: list[str] = []
    width = 0
    for line in filter(None, (line.strip() for line in lines)):
        if cells and not ASCIIDOC_CELL.match(line):  # the cell continues
            cells[-1] = f"{cells[-1]} {line}".strip()
            continue
        cells += [cell.strip() for cell in ASCIIDOC_CELL.split(line)[1:]]
        width = width or len(cells)
    if width == 1:  # one cell per line, and a row up to the first blank line
        first_blank = next((at for at, line in enumerate(lines) if at and not line.strip()), len(lines))
        width = sum(ASCIIDOC_CELL.match(line.lstrip()) is not None for line in lines[:first_blank])
    return [cells[at : at + width] for at in range(0, len(cells), max(1, width))]


def convert_org(text: str) -> ConvertedMarkup:
    """Convert Org headings, listings and links; drop drawers. A declared title ranks above all headings."""
    max_heading_chars = 400
    converted, lines, title_levels = ConvertedMarkup(), LineReader(text), 0
    list_indent = -1  # of the list that continues
    for line in lines:
        if fact := ORG_KEYWORD.fullmatch(line):
            converted.add_fact(*fact.groups())
            if fact[1].lower() == "title":
                title_levels = 1
                converted.add_heading(1, fact[2].strip())
        elif len(line) < max_heading_chars and (star := ORG_HEADING.fullmatch(line)):
            converted.add_heading(len(star[1]) + title_levels, star[2])
        elif begin := ORG_BLOCK.fullmatch(line):
            listing = lines.take_until(re.compile(rf"#\+END_{begin[1]}", re.IGNORECASE))
            converted.add_code(listing, begin[2] if begin[1].upper() == "SRC" else "")
        elif line.strip() == ":PROPERTIES:":
            lines.take_until(re.compile(":END:"))
        else:
            # Text may be indented as deep as its heading; Markdown takes that for code.
            list_indent = _find_list_indent(line, list_indent)
            bare = line[list_indent:] if list_indent >= 0 else line.lstrip()
            converted.blocks.append(ORG_LINK.sub(lambda link: f"[{link[2] or link[1]}]({link[1]})", bare))
    return converted


def _find_list_indent(line: str, list_indent: int) -> int:
    """Return the indent of a line's list, or -1 outside lists."""
    indent = len(line) - len(line.lstrip())
    if LIST_ITEM.match(line.lstrip()):
        return indent if list_indent < 0 else min(indent, list_indent)
    return -1 if line.strip() and indent <= list_indent else list_indent
