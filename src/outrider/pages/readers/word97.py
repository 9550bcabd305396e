"""Word documents from before 2007 (MS-DOC): headings, lists, tables, links, notes, without any extra.

Files of Word 6 and 95, which are rare, are left to the extra.
"""

import struct
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers import legacy
from outrider.pages.readers.office97.compound_file import (
    COMPOUND_MAGIC,
    CompoundFile,
    CompoundFileError,
    read_properties,
)
from outrider.pages.readers.office97.word_file import WORD_97, CharacterProperties, ParagraphProperties, WordFile
from outrider.pages.readers.ooxml.runs import ComplexField, parse_hyperlink_field
from outrider.pages.readers.ooxml.styles import format_list_number
from outrider.pages.readers.parsing.draft import (
    DocumentDraft,
    TextRun,
    format_script_digits,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.word import align_cell_ends, format_item

CELL_MARK, NOTE_MARK, COMMENT_MARK, FIELD_BEGIN, FIELD_SEPARATOR, FIELD_END = "\x07\x02\x05\x13\x14\x15"
PARAGRAPH_ENDS = frozenset("\r\x07\x0c")
CHAR_REPLACEMENTS = {
    "\x0b": "\n", "\t": " ", "\x1e": "\u2011", "\x1f": "", "\xa0": " ", "\x01": "", "\x03": "", "\x04": "",
    "\x08": "", "\x0e": "\n",
}  # fmt: skip


def read_word97(source: ReaderInput) -> Document:
    """The text with headings, lists, tables, links and notes. Hidden and deleted text is left out.

    Raises:
        NotConfigured: code `missing_extra`, for a file of Word 6 or 95 without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    properties_stream = "\x05SummaryInformation"
    kind_name = "Word 97 document"
    if not source.body.startswith(COMPOUND_MAGIC):
        raise build_broken_error(source, kind_name, "it does not begin as such a file does")
    try:
        files = CompoundFile(source.body)
        word = WordFile(files)
        if word.encrypted:
            raise build_encrypted_error(source, kind_name)
        if word.version < WORD_97:
            return legacy.read_legacy(source)
        return Word97Writer(DocumentDraft(source, "word"), word).build_document(
            read_properties(files.read(properties_stream))
        )
    except (CompoundFileError, ValueError, IndexError, struct.error) as error:
        raise build_broken_error(
            source, kind_name, str(error) if isinstance(error, CompoundFileError) else "it is damaged"
        ) from None


@dataclass
class Word97Writer:
    """Takes characters in order, writes blocks."""

    draft: DocumentDraft
    word: WordFile
    title: str = ""
    _runs: list[TextRun] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[tuple[str, int, str]]] = field(default_factory=list)
    _open_fields: list[ComplexField] = field(default_factory=list)
    _counts: dict[tuple[int, int], int] = field(default_factory=dict)
    _labels: dict[str, int] = field(default_factory=dict)
    _hiding: bool = False

    def __post_init__(self) -> None:
        self._letters, self._paragraphs = self.word.read_character_runs(), self.word.read_paragraph_runs()
        self._lists, self._endnotes = self.word.read_lists(), self.word.find_endnotes()

    def build_document(self, known: dict[str, str]) -> Document:
        """What was written."""
        text, foot, comments, ends = self.word.get_text_ranges()
        for place, offset, letter in self.word.iter_stretches(text, self._letters):
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            if letter in PARAGRAPH_ENDS:
                self._end_paragraph(letter, self._paragraphs.get_at(offset) or ParagraphProperties())
            else:
                self._add_char(letter, self._letters.get_at(offset) or CharacterProperties(), place)
        self._end_paragraph("\r", ParagraphProperties())
        self._end_table()
        for part, sign, prefix in ((foot, NOTE_MARK, ""), (ends, NOTE_MARK, "e"), (comments, COMMENT_MARK, "c")):
            self._write_notes(part, sign, prefix)
        return self.draft.build_document(known | {"title": known.get("title") or self.title})

    def _write_notes(self, part: range, sign: str, prefix: str) -> None:
        """The notes of one kind, each behind its sign."""
        notes: list[list[TextRun]] = []
        self._open_fields = []
        for _, offset, letter in self.word.iter_stretches(part, self._letters):
            if letter == sign:
                notes.append([])
                self._runs = notes[-1]
            elif notes:
                self._add_char(
                    " " if letter in PARAGRAPH_ENDS else letter,
                    self._letters.get_at(offset) or CharacterProperties(),
                    -1,
                )
        for number, runs in enumerate(notes, 1):
            said = " ".join(render_inline(runs).split())
            self.draft.add_note(f"{prefix}{number}", f"Comment: {said}" if prefix == "c" and said else said)

    def _add_char(self, letter: str, style: CharacterProperties, place: int) -> None:
        max_instruction_chars = 3_000  # characters of a field's instruction
        if letter in (FIELD_BEGIN, FIELD_SEPARATOR, FIELD_END):
            self._handle_field_char(letter)
        elif not all(each.has_result for each in self._open_fields):
            self._open_fields[-1].instruction = (self._open_fields[-1].instruction + letter)[:max_instruction_chars]
        elif style.deleted or any(each.instruction.strip().startswith("TOC") for each in self._open_fields):
            return
        elif style.hidden:
            self.draft.hidden_count += not self._hiding
        elif letter in (NOTE_MARK, COMMENT_MARK) and place >= 0:
            self._runs.append(TextRun(f"[^{self._next_note_label(letter, place)}]", literal=True))
        elif text := format_script_digits(CHAR_REPLACEMENTS.get(letter, letter), style.rise):
            address = next((each.address for each in reversed(self._open_fields) if each.address), "")
            self._runs.append(TextRun(text, style.bold, style.italic, style.struck, address))
        self._hiding = style.hidden

    def _next_note_label(self, letter: str, place: int) -> str:
        prefix = "c" if letter == COMMENT_MARK else "e" if place in self._endnotes else ""
        self._labels[prefix] = self._labels.get(prefix, 0) + 1
        return f"{prefix}{self._labels[prefix]}"

    def _handle_field_char(self, letter: str) -> None:
        max_fields = 20  # fields in fields
        if letter == FIELD_BEGIN and len(self._open_fields) < max_fields:
            self._open_fields.append(ComplexField())
        elif letter == FIELD_SEPARATOR and self._open_fields:
            address = parse_hyperlink_field(self._open_fields[-1].instruction)
            self._open_fields[-1].has_result = True
            self._open_fields[-1].address = self.draft.resolve_link(address) if address else ""
        elif letter == FIELD_END and self._open_fields:
            self._open_fields.pop()

    def _end_paragraph(self, letter: str, about: ParagraphProperties) -> None:
        """A paragraph, a cell or a row ends."""
        runs, self._runs = self._runs, []
        if letter == CELL_MARK and about.row_end:
            self._end_row(about.cells)
        elif letter == CELL_MARK or about.in_table:
            self._cell.append(render_inline(runs))
            if letter == CELL_MARK:
                self._cells.append(" ".join(text for text in self._cell if text))
                self._cell = []
        else:
            self._end_table()
            self._write_paragraph(runs, about)

    def _write_paragraph(self, runs: list[TextRun], about: ParagraphProperties) -> None:
        heading_levels = 9  # of the styles the first nine are headings, in every file (section 2.9.271)
        level = (
            about.style
            if 1 <= about.style <= heading_levels
            else about.outline + 1
            if about.outline < heading_levels
            else 0
        )
        text = render_inline(runs)
        if level and text:
            self.title = self.title or render_plain(runs)
            self.draft.add_heading(level, render_plain(runs))
        elif text and (found := self._lists.get(about.list)) and found[1]:
            self.draft.add_item(about.level, *format_item(text, self._next_marker(about, *found)))
        else:
            self.draft.add_block(text)

    def _next_marker(self, about: ParagraphProperties, identity: int, levels: list[tuple[str, str]]) -> str:
        """What stands before the next item of a list."""
        way, _ = levels[min(about.level, len(levels) - 1)]
        if way == "bullet":
            return "-"
        place = identity, about.level
        for deeper in [each for each in self._counts if each[0] == identity and each[1] > about.level]:
            del self._counts[deeper]
        self._counts[place] = self._counts.get(place, 0) + 1
        return f"{format_list_number(self._counts[place], way)}."

    def _end_table(self) -> None:
        if self._cell or self._cells:
            self._cells += self._cell
            self._end_row(())
        rows, self._rows, self._cell = self._rows, [], []
        self.draft.add_table(align_cell_ends(rows))

    def _end_row(self, known: tuple[tuple[int, str], ...]) -> None:
        cells, self._cells = self._cells, []
        ends = [*known[: len(cells)], *((0, "") for _ in cells[len(known) :])]
        self._rows.append([(text, *end) for text, end in zip(cells, ends, strict=True)])


reader = DocumentReader(
    "word97", ("application/msword",), read_word97, suffixes=(".doc", ".dot"), needs_whole_body=True, rank=40
)
