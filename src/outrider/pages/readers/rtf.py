"""Rich Text Format, by a parser of our own: those for Python give text without headings, tables and notes."""

import re
from dataclasses import dataclass, field, replace

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.runs import parse_hyperlink_field
from outrider.pages.readers.parsing.draft import (
    DocumentDraft,
    TextRun,
    format_script_digits,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.monospace import CodeDetector, is_code_line, is_monospaced_font
from outrider.pages.readers.parsing.rtf_tokens import (
    CHARSET_CODECS,
    ControlWord,
    GroupEdge,
    GroupStack,
    GroupState,
    RtfBytes,
    RtfToken,
    find_codec,
    iter_tokens,
)
from outrider.pages.readers.text import format_code_block
from outrider.pages.readers.word import MAX_TABLE_COLUMNS, align_cell_ends

KEPT_DESTINATIONS = frozenset({"fonttbl", "stylesheet", "info", "title", "author", "subject", "creatim", "fldinst", "footnote",
                  "listtext", "pntext", "annotation"})  # fmt: skip
SKIPPED_DESTINATIONS = frozenset(
    "colortbl pict object nonshppict header headerl headerr headerf footer footerl footerr footerf sp listtable "  # noqa: SIM905
    "listoverridetable rsidtbl generator xe tc themedata colorschememapping datastore latentstyles filetbl revtbl "
    "atnid atnauthor atndate atnref bkmkstart bkmkend operator company category keywords comment doccomm hlinkbase "
    "template pntxta pntxtb ftnsep ftnsepc aftnsep aftnsepc xmlnstbl mmathPr wgrffmtfilter".split()
)
TRANSPARENT_DESTINATIONS = frozenset({"shpinst", "shptxt", "fldrslt", "rtf", "field", "shp", "result"})
SPECIAL_CHARS = {"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
           "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "line": "\n", "lbr": "\n"}  # fmt: skip
TOGGLE_WORDS = {"b": "bold", "i": "italic", "strike": "struck", "striked": "struck", "v": "hidden"}
HEADING_STYLE = re.compile(r"heading ([1-9])")
BULLET_MARKER = re.compile(r"^(?:\W{0,3}|o)$")  # Word's point of the second level is a small letter
NUMBER_MARKER = re.compile(r"^(\d{1,9})[.)]$")
MAX_FONTS = 5_000
STYLES = 5_000


def read_rtf(source: ReaderInput) -> Document:
    """The paragraphs with headings, lists, tables and notes. Hidden text, headers and pictures are left out.

    Raises:
        Unavailable: code `broken_file`, if it does not begin as such a file does.
    """
    tokens_per_tag = 8  # for each tag that may be looked at in a page
    start = source.body[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if not start.startswith(b"{\\rtf"):
        raise build_broken_error(source, "RTF document", "it does not begin as one")
    writer, most = RtfWriter(DocumentDraft(source, "rtf")), source.max_tags * tokens_per_tag
    for number, token in enumerate(iter_tokens(source.body[source.body.index(b"{\\rtf") :], most + 1)):
        if writer.draft.is_full or number >= most:
            writer.draft.is_cut = True
            break
        writer.handle_token(token)
    return writer.build_document()


@dataclass
class RtfParagraph:
    """What is known of the paragraph at hand."""

    style: int = -1
    outline: int = 0
    in_table: bool = False
    level: int = 0
    marker: str = ""


@dataclass
class RtfWriter:
    """Takes tokens, writes blocks."""

    draft: DocumentDraft
    facts: dict[str, str] = field(default_factory=dict)
    _stack: GroupStack = field(default_factory=GroupStack)
    _runs: list[TextRun] = field(default_factory=list)
    _paragraph: RtfParagraph = field(default_factory=RtfParagraph)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[tuple[str, int, str]]] = field(default_factory=list)
    _row: list[tuple[int, str]] = field(default_factory=list)
    _merged: str = ""
    _shift: int = 0
    _held: list[str] = field(default_factory=list)
    _bytes: bytearray = field(default_factory=bytearray)
    _fonts: dict[int, str] = field(default_factory=dict)
    _styles: dict[int, str] = field(default_factory=dict)
    _names: dict[int, str] = field(default_factory=dict)  # of fonts
    _fixed: set[int] = field(default_factory=set)  # fonts that are said to have letters of one width
    _standard: int = 0
    _code: list[str] = field(default_factory=list)
    _code_detector: CodeDetector = field(default_factory=CodeDetector)
    _default: str = "cp1252"
    _skip: int = 0
    _starred: bool = False
    _style: int = 0
    _notes: list[tuple[list[TextRun], str]] = field(default_factory=list)
    _link: str = ""
    _high: int = 0
    _created: dict[str, int] = field(default_factory=dict)

    def handle_token(self, token: RtfToken) -> None:
        """One token."""
        if isinstance(token, RtfBytes):
            self._data(token.data)
            return
        self._flush_bytes()
        if isinstance(token, GroupEdge):
            self._skip = 0
            self._end_group(self._stack.cross_edge(opening=token.opening))
        elif token.name == "*":
            self._starred = True
        else:
            self._handle_word(token)
            self._starred = False

    def build_document(self) -> Document:
        """What was written."""
        self._flush_bytes()
        self._end_paragraph()
        self._end_table()
        self._end_code()
        return self.draft.build_document(self.facts)

    def _data(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._bytes += data[skipped:]

    def _flush_bytes(self) -> None:
        """Decodes the bytes that came since the last control word."""
        if self._bytes:
            name = self._fonts.get(self._stack.current.font, self._default)
            text = self._bytes.decode(name, "replace")
            self._bytes.clear()
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        now = self._stack.current
        if now.to == "-":
            return
        if now.to == "stylesheet":
            self._styles[self._style] = (self._styles.get(self._style, "") + text)[:200]
        elif now.to == "fonttbl":
            if len(self._names) < MAX_FONTS:
                self._names[now.font] = (self._names.get(now.font, "") + text)[:200]
        elif now.to and now.to not in ("footnote", "annotation"):
            self._held.append(text[:5_000])
        elif now.hidden:
            self.draft.hidden_count += bool(text.strip())
        else:
            self._runs.append(
                TextRun(
                    format_script_digits(text, now.rise),
                    now.bold,
                    now.italic,
                    now.struck,
                    now.address,
                    code=self._is_code(now.font),
                )
            )

    def _is_code(self, font: int) -> bool:
        """Whether letters of a font have one width where those of the document do not."""
        return font >= 0 and self._is_monospaced(font) and not self._is_monospaced(self._standard)

    def _is_monospaced(self, font: int) -> bool:
        return font in self._fixed or is_monospaced_font(self._names.get(font, ""))

    def _end_group(self, ended: GroupState | None) -> None:
        """What a group has gathered is used at its end."""
        if ended is None or ended.to == self._stack.current.to:
            return
        held = "".join(self._held).strip()
        if ended.to in ("footnote", "annotation"):
            self._end_note(ended.to)
        elif ended.to == "fldinst":
            address = parse_hyperlink_field(held)
            self._link = self.draft.resolve_link(address) if address else ""
        elif ended.to in ("listtext", "pntext"):
            self._paragraph.marker = held or "-"
        elif ended.to in ("title", "author", "subject"):
            self.facts["description" if ended.to == "subject" else ended.to] = held
        if ended.to not in ("-", ""):
            self._held.clear()

    def _end_note(self, kind: str) -> None:
        note, (self._runs, label) = self._runs, self._notes.pop()
        text = render_inline(note)
        self.draft.add_note(label, f"Comment: {text}" if kind == "annotation" and text else text)

    def _handle_word(self, word: ControlWord) -> None:
        name = word.name
        if (
            name in KEPT_DESTINATIONS
            or name in SKIPPED_DESTINATIONS
            or (self._starred and name not in TRANSPARENT_DESTINATIONS)
        ):
            self._enter_destination(name)
        elif name == "u" and word.value is not None:
            self._add_unicode(word.value)
        elif name == "sign":
            self._add_text(chr(word.value or 0))
        elif name in SPECIAL_CHARS:
            self._add_text(SPECIAL_CHARS[name])
        elif name == "deleted" and word.is_on and self._stack.current.to == "":
            self._stack.update(to="-")
        elif name in TOGGLE_WORDS:
            self._stack.update(**{TOGGLE_WORDS[name]: word.is_on})
        elif name in WORD_HANDLERS:
            WORD_HANDLERS[name](self, word)

    def _enter_destination(self, name: str) -> None:
        now = self._stack.current
        if now.to == "-" or (now.to == "info" and name not in KEPT_DESTINATIONS):
            self._stack.update(to="-")
        elif name in ("footnote", "annotation"):
            if now.to in ("footnote", "annotation"):
                return
            label = f"{'c' if name == 'annotation' else ''}{len(self.draft.notes) + 1}"
            self._runs.append(TextRun(f"[^{label}]", literal=True))
            self._notes.append((self._runs, label))
            self._runs = []
            self._stack.update(to=name)
        else:
            self._stack.update(to=name if name in KEPT_DESTINATIONS else "-")

    def _add_unicode(self, value: int) -> None:
        code = value % 65_536
        self._skip = self._stack.current.skipped
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            if not self._high:
                return
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00
        self._high = 0
        self._add_text(chr(code))

    def reset_format(self, word: ControlWord) -> None:
        if word.name == "plain":
            self._stack.update(bold=False, italic=False, struck=False, hidden=False, rise=0, font=-1)
        elif not self._stack.current.to:  # in a note or a list's number it is not that of the paragraph around it
            self._paragraph = RtfParagraph(marker=self._paragraph.marker)

    def set_paragraph(self, word: ControlWord) -> None:
        """A word about the paragraph, or in a table of styles or fonts."""
        value = word.value or 0
        if word.name == "s":
            self._style = value
        if word.name in ("yr", "mo", "dy"):
            self._date(word.name, value)
        elif self._stack.current.to:
            return
        elif word.name == "s":
            self._paragraph.style = value
        elif word.name == "outlinelevel":
            self._paragraph.outline = value + 1 if value < 9 else 0
        elif word.name == "ilvl":
            self._paragraph.level = max(0, min(value, 8))
        elif word.name == "intbl":
            self._paragraph.in_table = True

    def _date(self, name: str, value: int) -> None:
        if self._stack.current.to == "creatim":
            self._created[name] = value
            year, *rest = (self._created.get(each, 0) for each in ("yr", "mo", "dy"))
            self.facts["published"] = f"{year:04d}" + "".join(f"-{part:02d}" for part in rest)

    def set_encoding(self, word: ControlWord) -> None:
        """A word about how bytes become characters."""
        value = word.value or 0
        if word.name == "ansicpg":
            self._default = find_codec(value)
        elif word.name == "uc":
            self._stack.update(skipped=max(0, min(value, 8)))
        elif word.name == "f":
            self._stack.update(font=value)
        elif word.name == "deff":
            self._standard = value
        elif (
            word.name in ("fmodern", "fprq") and (word.name == "fmodern" or value == 1) and len(self._fixed) < MAX_FONTS
        ):
            self._fixed.add(self._stack.current.font)
        elif word.name == "fcharset" and value in CHARSET_CODECS and len(self._fonts) < MAX_FONTS:
            self._fonts[self._stack.current.font] = CHARSET_CODECS[value]

    def set_rise(self, word: ControlWord) -> None:
        """Characters stand above or below the line, or on it again."""
        self._stack.update(rise={"super": 1, "sub": -1}.get(word.name, 0) if word.is_on else 0)

    def begin_field_result(self, _word: ControlWord) -> None:
        """The result of a field begins: it leads where the field says."""
        self._stack.update(to=self._stack.current.to if self._stack.current.to == "-" else "", address=self._link)
        self._link = ""

    def handle_end(self, word: ControlWord) -> None:
        """A paragraph, a cell or a row ends."""
        if self._stack.current.to in ("footnote", "annotation"):
            self._runs.append(TextRun(" "))
        elif self._stack.current.to:
            return
        elif word.name in ("nestcell", "nestrow"):  # a table in a cell becomes its words
            self._runs.append(TextRun(" "))
        elif word.name == "cell":
            self._cells.append(render_inline(self._code_detector.filter_code(self._runs)))
            self._runs, self._paragraph.marker = [], ""
        elif word.name == "row":
            self._end_row()
        elif self._paragraph.in_table:
            self._runs.append(TextRun(" "))
        else:
            self._end_table()
            self._end_paragraph()

    def add_cell_edge(self, word: ControlWord) -> None:
        """Where the cells of a row end, and whether they go on from the one before or above."""
        if self._stack.current.to:  # of a table in a cell
            return
        if word.name == "trowd":
            self._row = []
            self._merged = ""
        elif word.name != "cellx":
            self._merged = "beside" if word.name == "clmrg" else "above"
        elif len(self._row) < MAX_TABLE_COLUMNS:
            self._row.append((word.value or 0, self._merged))
            self._merged = ""

    def _end_row(self) -> None:
        cells, self._cells = self._cells, []
        if self._row and not any(cells[len(self._row) :]):
            del cells[len(self._row) :]
        if any(cells):
            known = [*self._row[: len(cells)], *((0, "") for _ in cells[len(self._row) :])]
            self._rows.append([(text, *edge) for text, edge in zip(cells, known, strict=True)])

    def _end_table(self) -> None:
        self._end_row()
        rows, self._rows = self._rows, []
        if rows:
            self._end_code()
        self.draft.add_table(align_cell_ends(rows))

    def _end_paragraph(self) -> None:
        quote_styles = frozenset({"quote", "intense quote", "block text", "quotations"})
        runs, self._runs = self._code_detector.filter_code(self._runs), []
        about, self._paragraph = self._paragraph, replace(self._paragraph, marker="")
        style = self._styles.get(about.style, "").strip("; ").lower()
        level = about.outline or _parse_heading_level(style)
        listed = is_code_line(runs) and not (level or style == "title" or about.marker)
        if listed or (style == "preformatted text" and runs):
            self._code.append("".join(run.text for run in runs).rstrip())
            return
        text = render_inline(runs)
        if not text:
            self._code += [""] * bool(self._code)
            return
        self._end_code()
        if style == "title":
            self._shift = 1
            self.draft.add_heading(1, render_plain(runs))
        elif level:
            self.draft.add_heading(level + self._shift, render_plain(runs))
        elif style in quote_styles:
            self.draft.add_quote(text)
        elif about.marker:
            number = NUMBER_MARKER.match(about.marker)
            bare = BULLET_MARKER.match(about.marker) or number
            marker = f"{number[1]}." if number else "-"
            self.draft.add_item(about.level, text if bare else f"{about.marker} {text}", marker)
        else:
            self.draft.add_block(text)

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code:
            self.draft.add_block(format_code_block(code, ""))


def _parse_heading_level(style: str) -> int:
    found = HEADING_STYLE.match(style.lower())
    return int(found[1]) if found else 0


WORD_HANDLERS = {
    **dict.fromkeys(("pard", "plain"), RtfWriter.reset_format),
    **dict.fromkeys(("s", "outlinelevel", "ilvl", "intbl", "yr", "mo", "dy"), RtfWriter.set_paragraph),
    **dict.fromkeys(("ansicpg", "uc", "f", "fcharset", "deff", "fmodern", "fprq"), RtfWriter.set_encoding),
    **dict.fromkeys(("par", "sect", "page", "cell", "nestcell", "row", "nestrow"), RtfWriter.handle_end),
    **dict.fromkeys(("super", "sub", "nosupersub"), RtfWriter.set_rise),
    **dict.fromkeys(("trowd", "cellx", "clmrg", "clvmrg"), RtfWriter.add_cell_edge),
    "fldrslt": RtfWriter.begin_field_result,
}
reader = DocumentReader("rtf", ("application/rtf", "text/rtf"), read_rtf, suffixes=(".rtf",), rank=40)
