"""Read Rich Text Format with headings, tables and notes.

Other Python parsers drop them.
"""

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

KEPT_DESTINATIONS = frozenset(
    "fonttbl stylesheet info title author subject creatim fldinst footnote listtext pntext annotation".split()  # noqa: SIM905
)
SKIPPED_DESTINATIONS = frozenset(
    "colortbl pict object nonshppict header headerl headerr headerf footer footerl footerr footerf sp listtable "  # noqa: SIM905
    "listoverridetable rsidtbl generator xe tc themedata colorschememapping datastore latentstyles filetbl revtbl "
    "atnid atnauthor atndate atnref bkmkstart bkmkend operator company category keywords comment doccomm hlinkbase "
    "nonesttables template pntxta pntxtb ftnsep ftnsepc aftnsep aftnsepc xmlnstbl mmathPr wgrffmtfilter".split()
)
TRANSPARENT_DESTINATIONS = frozenset({"shpinst", "shptxt", "fldrslt", "rtf", "field", "shp", "result"})
SPECIAL_CHARS = {"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
           "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "line": "\n", "lbr": "\n"}  # fmt: skip
TOGGLE_WORDS = {"b": "bold", "i": "italic", "strike": "struck", "striked": "struck", "v": "hidden"}
HEADING_STYLE = re.compile(r"heading ([1-9])")
BULLET_MARKER = re.compile(r"^(?:\W{0,3}|o)$")  # Word's second-level bullet is the letter o
NUMBER_MARKER = re.compile(r"^(\d{1,9})[.)]$")
MAX_FONTS = 5_000


def read_rtf(source: ReaderInput) -> Document:
    """Return the paragraphs with headings, lists, tables and notes.

    Hidden text, headers and images are left out.

    Raises:
        Unavailable: code `broken_file`, if it does not start like RTF.
    """
    max_tokens = 8 * source.max_tags  # eight RTF tokens cost about as much as one HTML tag
    start = source.body[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if not start.startswith(b"{\\rtf"):
        raise build_broken_error(source, "RTF document", "it does not start like a file of this format")
    writer = RtfWriter(DocumentDraft(source, "rtf"))
    for number, token in enumerate(iter_tokens(source.body[source.body.index(b"{\\rtf") :], max_tokens + 1)):
        if writer.draft.is_full or number >= max_tokens:
            writer.draft.is_cut = True
            break
        writer.handle_token(token)
    return writer.build_document()


@dataclass
class RtfParagraph:
    """Properties of the current paragraph."""

    style: int = -1
    outline: int = 0
    in_table: bool = False
    level: int = 0
    marker: str = ""


@dataclass
class RtfWriter:
    """Turn RTF tokens into blocks of a draft."""

    draft: DocumentDraft
    facts: dict[str, str] = field(default_factory=dict)
    _stack: GroupStack = field(default_factory=GroupStack)
    _runs: list[TextRun] = field(default_factory=list)
    _paragraph: RtfParagraph = field(default_factory=RtfParagraph)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[tuple[str, int, str]]] = field(default_factory=list)
    _cell_edges: list[tuple[int, str]] = field(default_factory=list)  # of the current row: right edge, merged with
    _merged: str = ""  # the cell that the next one is merged with: `beside`, `above` or none
    _title_levels: int = 0  # 1 once a title took heading level 1
    _held: list[str] = field(default_factory=list)  # text of a destination, used when its group ends
    _bytes: bytearray = field(default_factory=bytearray)
    _font_codecs: dict[int, str] = field(default_factory=dict)
    _font_names: dict[int, str] = field(default_factory=dict)
    _monospaced_fonts: set[int] = field(default_factory=set)  # as the font table declares them
    _default_font: int = 0
    _default_codec: str = "cp1252"
    _style_names: dict[int, str] = field(default_factory=dict)
    _style: int = 0  # the style that the style sheet is naming
    _code: list[str] = field(default_factory=list)
    _code_detector: CodeDetector = field(default_factory=CodeDetector)
    _skip_bytes: int = 0  # fallback bytes still to be skipped after a Unicode character
    _is_group_start: bool = False
    _starred: bool = False  # whether the last control word was `\\*`, which counts at the start of a group only
    _notes: list[tuple[list[TextRun], str]] = field(default_factory=list)  # open ones: outer runs, label
    _link: str = ""
    _high_surrogate: int = 0
    _created: dict[str, int] = field(default_factory=dict)

    def handle_token(self, token: RtfToken) -> None:
        if isinstance(token, RtfBytes):
            skipped = min(self._skip_bytes, len(token.data))
            self._skip_bytes -= skipped
            if self._stack.current.to != "-":
                self._bytes += token.data[skipped:]
            return
        self._flush_bytes()
        was_group_start, self._is_group_start = self._is_group_start, isinstance(token, GroupEdge) and token.opening
        if isinstance(token, GroupEdge):
            self._skip_bytes = 0
            self._end_group(self._stack.cross_edge(opening=token.opening))
        elif token.name == "*":
            self._starred = was_group_start
        else:
            self._handle_word(token)
            self._starred = False

    def build_document(self) -> Document:
        """Write pending content and return the document."""
        self._flush_bytes()
        self._end_paragraph()
        self._end_table()
        self._end_code()
        return self.draft.build_document(self.facts)

    def _flush_bytes(self) -> None:
        """Decode the bytes since the last control word."""
        if self._bytes:
            codec = self._font_codecs.get(self._stack.current.font, self._default_codec)
            text = self._bytes.decode(codec, "replace")
            self._bytes.clear()
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        state = self._stack.current
        if state.to == "-":
            return
        if state.to == "stylesheet":
            self._style_names[self._style] = (self._style_names.get(self._style, "") + text)[:200]
        elif state.to == "fonttbl":
            if len(self._font_names) < MAX_FONTS:
                self._font_names[state.font] = (self._font_names.get(state.font, "") + text)[:200]
        elif state.to and state.to not in ("footnote", "annotation"):
            self._held.append(text[:5_000])
        elif state.hidden:
            self.draft.hidden_count += bool(text.strip())
        else:
            text = format_script_digits(text, state.rise)
            is_code = (
                state.font >= 0 and self._is_monospaced(state.font) and not self._is_monospaced(self._default_font)
            )
            run = TextRun(text, state.bold, state.italic, state.struck, state.address, code=is_code)
            max_joined_chars = 200  # a file may have a run for each character
            if self._runs and self._runs[-1].style == run.style and len(self._runs[-1].text) < max_joined_chars:
                run = replace(run, text=self._runs.pop().text + text)
            self._runs.append(run)

    def _is_monospaced(self, font: int) -> bool:
        return font in self._monospaced_fonts or is_monospaced_font(self._font_names.get(font, ""))

    def _end_group(self, ended: GroupState | None) -> None:
        """Use the collected content of a destination's group."""
        if ended is None or ended.to == self._stack.current.to:
            return
        group_text = "".join(self._held).strip()
        if ended.to in ("footnote", "annotation"):
            text = render_inline(self._runs)
            self._runs, label = self._notes.pop()
            self.draft.add_note(label, f"Comment: {text}" if ended.to == "annotation" and text else text)
        elif ended.to == "fldinst":
            address = parse_hyperlink_field(group_text)
            self._link = self.draft.resolve_link(address) if address else ""
        elif ended.to in ("listtext", "pntext"):
            self._paragraph.marker = group_text or "-"
        elif ended.to in ("title", "author", "subject"):
            self.facts["description" if ended.to == "subject" else ended.to] = group_text
        if ended.to not in ("-", ""):
            self._held.clear()

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
        state = self._stack.current
        if state.to == "-" or (state.to == "info" and name not in KEPT_DESTINATIONS):
            self._stack.update(to="-")
        elif name in ("footnote", "annotation"):
            if state.to in ("footnote", "annotation"):
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
        self._skip_bytes = self._stack.current.skipped
        if 0xD800 <= code < 0xDC00:
            self._high_surrogate = code
            return
        if 0xDC00 <= code < 0xE000:
            if not self._high_surrogate:
                return
            code = 0x10000 + ((self._high_surrogate - 0xD800) << 10) + code - 0xDC00
        self._high_surrogate = 0
        self._add_text(chr(code))

    def reset_format(self, word: ControlWord) -> None:
        if word.name == "plain":
            self._stack.update(bold=False, italic=False, struck=False, hidden=False, rise=0, font=-1)
        elif not self._stack.current.to:  # `pard` in a note or a list number does not concern the outer paragraph
            self._paragraph = RtfParagraph(marker=self._paragraph.marker)

    def set_paragraph(self, word: ControlWord) -> None:
        """Apply a word about the paragraph, or name the style sheet's current entry."""
        value = word.value or 0
        if word.name == "s":
            self._style = value
        if self._stack.current.to:
            return
        if word.name == "s":
            self._paragraph.style = value
        elif word.name == "outlinelevel":
            self._paragraph.outline = value + 1 if value < 9 else 0
        elif word.name == "ilvl":
            self._paragraph.level = max(0, min(value, 8))
        elif word.name == "intbl":
            self._paragraph.in_table = True

    def set_date(self, word: ControlWord) -> None:
        """Apply a part of the creation time."""
        if self._stack.current.to == "creatim":
            self._created[word.name] = word.value or 0
            year, month, day = (self._created.get(part, 0) for part in ("yr", "mo", "dy"))
            self.facts["published"] = f"{year:04d}-{month:02d}-{day:02d}"

    def set_encoding(self, word: ControlWord) -> None:
        """Apply a word about fonts and code pages."""
        value = word.value or 0
        if word.name == "ansicpg":
            self._default_codec = find_codec(value)
        elif word.name == "uc":
            self._stack.update(skipped=max(0, min(value, 8)))
        elif word.name == "f":
            self._stack.update(font=value)
        elif word.name == "deff":
            self._default_font = value
        elif word.name == "fmodern" or (word.name == "fprq" and value == 1):
            if len(self._monospaced_fonts) < MAX_FONTS:
                self._monospaced_fonts.add(self._stack.current.font)
        elif word.name == "fcharset" and value in CHARSET_CODECS and len(self._font_codecs) < MAX_FONTS:
            self._font_codecs[self._stack.current.font] = CHARSET_CODECS[value]

    def set_rise(self, word: ControlWord) -> None:
        """Switch superscript or subscript on or off."""
        self._stack.update(rise={"super": 1, "sub": -1}.get(word.name, 0) if word.is_on else 0)

    def begin_field_result(self, _word: ControlWord) -> None:
        """Link the result of a field to the URL that the field names."""
        self._stack.update(to=self._stack.current.to if self._stack.current.to == "-" else "", address=self._link)
        self._link = ""

    def handle_end(self, word: ControlWord) -> None:
        """End a paragraph, a cell or a row."""
        if self._stack.current.to in ("footnote", "annotation"):
            self._runs.append(TextRun(" "))
        elif self._stack.current.to:
            return
        elif word.name in ("nestcell", "nestrow"):  # only the words of a table in a cell are kept
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
        """Record where a cell of the row ends, and whether it is merged with another."""
        if self._stack.current.to:  # of a table in a cell
            return
        if word.name == "trowd":
            self._cell_edges = []
            self._merged = ""
        elif word.name != "cellx":
            self._merged = "beside" if word.name == "clmrg" else "above"
        elif len(self._cell_edges) < MAX_TABLE_COLUMNS:
            self._cell_edges.append((word.value or 0, self._merged))
            self._merged = ""

    def _end_row(self) -> None:
        cells, self._cells = self._cells, []
        count = len(self._cell_edges)
        if count and not any(cells[count:]):
            del cells[count:]
        if any(cells):
            edges = [*self._cell_edges[: len(cells)], *((0, "") for _ in cells[count:])]
            self._rows.append([(text, *edge) for text, edge in zip(cells, edges, strict=True)])

    def _end_table(self) -> None:
        self._end_row()
        rows, self._rows = self._rows, []
        if rows:
            self._end_code()
            self.draft.add_table(align_cell_ends(rows))

    def _end_paragraph(self) -> None:
        quote_styles = frozenset({"quote", "intense quote", "block text", "quotations"})
        runs, self._runs = self._code_detector.filter_code(self._runs), []
        paragraph = self._paragraph
        if paragraph.marker:
            self._paragraph = replace(paragraph, marker="")
        style = self._style_names.get(paragraph.style, "").strip("; ").lower()
        heading_style = HEADING_STYLE.match(style)
        level = paragraph.outline or (int(heading_style[1]) if heading_style else 0)
        is_code = is_code_line(runs) and not (level or style == "title" or paragraph.marker)
        if is_code or (style == "preformatted text" and runs):
            self._code.append("".join(run.text for run in runs).rstrip())
            return
        text = render_inline(runs)
        if not text:
            self._code += [""] * bool(self._code)
            return
        self._end_code()
        if style == "title":
            self._title_levels = 1
            self.draft.add_heading(1, render_plain(runs))
        elif level:
            self.draft.add_heading(level + self._title_levels, render_plain(runs))
        elif style in quote_styles:
            self.draft.add_quote(text)
        elif paragraph.marker:
            number = NUMBER_MARKER.match(paragraph.marker)
            is_markdown = BULLET_MARKER.match(paragraph.marker) or number
            marker = f"{number[1]}." if number else "-"
            self.draft.add_item(paragraph.level, text if is_markdown else f"{paragraph.marker} {text}", marker)
        else:
            self.draft.add_block(text)

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code:
            self.draft.add_block(format_code_block(code, ""))


WORD_HANDLERS = {
    **dict.fromkeys(("pard", "plain"), RtfWriter.reset_format),
    **dict.fromkeys(("s", "outlinelevel", "ilvl", "intbl"), RtfWriter.set_paragraph),
    **dict.fromkeys(("yr", "mo", "dy"), RtfWriter.set_date),
    **dict.fromkeys(("ansicpg", "uc", "f", "fcharset", "deff", "fmodern", "fprq"), RtfWriter.set_encoding),
    **dict.fromkeys(("par", "sect", "page", "cell", "nestcell", "row", "nestrow"), RtfWriter.handle_end),
    **dict.fromkeys(("super", "sub", "nosupersub"), RtfWriter.set_rise),
    **dict.fromkeys(("trowd", "cellx", "clmrg", "clvmrg"), RtfWriter.add_cell_edge),
    "fldrslt": RtfWriter.begin_field_result,
}
reader = DocumentReader("rtf", ("application/rtf", "text/rtf"), read_rtf, suffixes=(".rtf",), rank=40)
