"""Read Word documents from before 2007 (MS-DOC), back to Word 6: headings, lists, tables, links and notes."""

import struct
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.office97.compound_file import (
    COMPOUND_MAGIC,
    CompoundFile,
    CompoundFileError,
    read_properties,
)
from outrider.pages.readers.office97.word95_file import Word95File
from outrider.pages.readers.office97.word_file import CharacterProperties, ParagraphProperties, WordFile
from outrider.pages.readers.ooxml.runs import ComplexField, parse_hyperlink_field
from outrider.pages.readers.ooxml.styles import format_list_number
from outrider.pages.readers.parsing.draft import (
    DocumentDraft,
    TextRun,
    format_item,
    format_script_digits,
    render_inline,
    render_plain,
)
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.word import align_cell_ends

CELL_MARK, NOTE_MARK, COMMENT_MARK, FIELD_BEGIN, FIELD_SEPARATOR, FIELD_END = "\x07\x02\x05\x13\x14\x15"
PARAGRAPH_ENDS = frozenset("\r\x07\x0c")
CHAR_REPLACEMENTS = {
    "\x0b": "\n", "\t": " ", "\x1e": "\u2011", "\x1f": "", "\xa0": " ", "\x01": "", "\x03": "", "\x04": "",
    "\x08": "", "\x0e": "\n",
}  # fmt: skip


def read_word97(source: ReaderInput) -> Document:
    """Return the text with headings, lists, tables, links and notes.

    Hidden and deleted text is left out.

    Raises:
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    kind_name = "Word 97 document"
    word_97_magic, word_95_magic = 0xA5EC, 0xA5DC  # section 2.5.1
    encrypted_flag, table_1_flag = 0x0100, 0x0200
    if not source.body.startswith(COMPOUND_MAGIC):
        raise build_broken_error(source, kind_name, "it does not start like a file of this format")
    try:
        files = CompoundFile(source.body)
        main = files.read("WordDocument")
        magic, flags = struct.unpack_from("<H8xH", main.ljust(12, b"\0"))
        if magic not in (word_97_magic, word_95_magic):
            raise build_broken_error(source, kind_name, "its main stream is missing")
        if flags & encrypted_flag:
            raise build_encrypted_error(source, kind_name)
        tables = files.read("1Table" if flags & table_1_flag else "0Table")
        word = WordFile(main, tables) if magic == word_97_magic else Word95File(main)
        facts = read_properties(files.read("\x05SummaryInformation"))
        return Word97Writer(DocumentDraft(source, "word"), word).build_document(facts)
    except CompoundFileError as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise build_broken_error(source, kind_name, "it is damaged") from None


@dataclass
class Word97Writer:
    """Turn characters into blocks of a draft."""

    draft: DocumentDraft
    word: WordFile
    title: str = ""
    _runs: list[TextRun] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[tuple[str, int, str]]] = field(default_factory=list)
    _open_fields: list[ComplexField] = field(default_factory=list)
    _item_counts: dict[tuple[int, int], int] = field(default_factory=dict)  # by list and level
    _note_counts: dict[str, int] = field(default_factory=dict)  # by the prefix of labels
    _was_hidden: bool = False  # whether the last text was hidden

    def __post_init__(self) -> None:
        self._characters, self._paragraphs = self.word.read_character_runs(), self.word.read_paragraph_runs()
        self._lists, self._endnotes = self.word.read_lists(), self.word.find_endnotes()

    def build_document(self, facts: dict[str, str]) -> Document:
        """Write the text and its notes, and return the document."""
        text, footnotes, comments, endnotes = self.word.get_text_ranges()
        for position, offset, stretch in self.word.iter_stretches(text, self._characters):
            if self.draft.is_full:
                self.draft.is_cut = True
                break
            if stretch in PARAGRAPH_ENDS:
                self._end_paragraph(stretch, self._paragraphs.get_at(offset) or ParagraphProperties())
            else:
                self._add_text(stretch, self._characters.get_at(offset) or CharacterProperties(), position)
        self._end_paragraph("\r", ParagraphProperties())
        self._end_table()
        self._write_notes(footnotes, NOTE_MARK, "")
        self._write_notes(endnotes, NOTE_MARK, "e")
        self._write_notes(comments, COMMENT_MARK, "c")
        return self.draft.build_document(facts | {"title": facts.get("title") or self.title})

    def _write_notes(self, part: range, mark: str, prefix: str) -> None:
        """Write the notes of one kind; each begins with its mark."""
        notes: list[list[TextRun]] = []
        self._open_fields = []
        for _, offset, stretch in self.word.iter_stretches(part, self._characters):
            if stretch == mark:
                notes.append([])
                self._runs = notes[-1]
            elif notes:
                text = " " if stretch in PARAGRAPH_ENDS else stretch
                self._add_text(text, self._characters.get_at(offset) or CharacterProperties(), -1)
        for number, runs in enumerate(notes, 1):
            text = " ".join(render_inline(runs).split())
            self.draft.add_note(f"{prefix}{number}", f"Comment: {text}" if prefix == "c" and text else text)

    def _add_text(self, text: str, style: CharacterProperties, position: int) -> None:
        """Add characters of one style; `position` is negative in notes, which have no notes themselves."""
        max_instruction_chars = 3_000
        fields = self._open_fields
        if text in (FIELD_BEGIN, FIELD_SEPARATOR, FIELD_END):
            self._handle_field_char(text)
        elif not all(open_field.has_result for open_field in fields):
            fields[-1].instruction = (fields[-1].instruction + text)[:max_instruction_chars]
        elif style.deleted or any(open_field.instruction.strip().startswith("TOC") for open_field in fields):
            return
        elif style.hidden:
            self.draft.hidden_count += not self._was_hidden
        elif text in (NOTE_MARK, COMMENT_MARK) and position >= 0:
            prefix = "c" if text == COMMENT_MARK else "e" if position in self._endnotes else ""
            self._note_counts[prefix] = self._note_counts.get(prefix, 0) + 1
            self._runs.append(TextRun(f"[^{prefix}{self._note_counts[prefix]}]", literal=True))
        elif text := format_script_digits(CHAR_REPLACEMENTS.get(text, text), style.rise):
            address = next((open_field.address for open_field in reversed(fields) if open_field.address), "")
            self._runs.append(TextRun(text, style.bold, style.italic, style.struck, address))
        self._was_hidden = style.hidden

    def _handle_field_char(self, char: str) -> None:
        max_depth = 20
        if char == FIELD_BEGIN and len(self._open_fields) < max_depth:
            self._open_fields.append(ComplexField())
        elif char == FIELD_SEPARATOR and self._open_fields:
            address = parse_hyperlink_field(self._open_fields[-1].instruction)
            self._open_fields[-1].has_result = True
            self._open_fields[-1].address = self.draft.resolve_link(address) if address else ""
        elif char == FIELD_END and self._open_fields:
            self._open_fields.pop()

    def _end_paragraph(self, mark: str, paragraph: ParagraphProperties) -> None:
        """End a paragraph, a cell or a row."""
        runs, self._runs = self._runs, []
        if mark == CELL_MARK and paragraph.row_end:
            self._end_row(paragraph.cells)
        elif mark == CELL_MARK or paragraph.in_table:
            self._cell.append(render_inline(runs))
            if mark == CELL_MARK:
                self._cells.append(" ".join(filter(None, self._cell)))
                self._cell = []
        else:
            self._end_table()
            heading_levels = 9  # styles 1 to 9 are headings in every file (section 2.9.271)
            level = 0
            if 1 <= paragraph.style <= heading_levels:
                level = paragraph.style
            elif paragraph.outline < heading_levels:
                level = paragraph.outline + 1
            text = render_inline(runs)
            list_id, list_levels = self._lists.get(paragraph.list, (0, []))
            if level and text:
                self.title = self.title or render_plain(runs)
                self.draft.add_heading(level, render_plain(runs))
            elif text and list_levels:
                number_format, _ = list_levels[min(paragraph.level, len(list_levels) - 1)]
                marker = self._next_marker(list_id, paragraph.level, number_format)
                self.draft.add_item(paragraph.level, *format_item(text, marker))
            else:
                self.draft.add_block(text)

    def _next_marker(self, list_id: int, level: int, number_format: str) -> str:
        """Count the next item of a list and return its marker."""
        if number_format == "bullet":
            return "-"
        counts = self._item_counts
        for deeper in [key for key in counts if key[0] == list_id and key[1] > level]:
            del counts[deeper]
        counts[list_id, level] = counts.get((list_id, level), 0) + 1
        return f"{format_list_number(counts[list_id, level], number_format)}."

    def _end_table(self) -> None:
        if self._cell or self._cells:
            self._cells += self._cell
            self._end_row(())
        rows, self._rows, self._cell = self._rows, [], []
        self.draft.add_table(align_cell_ends(rows))

    def _end_row(self, edges: tuple[tuple[int, str], ...]) -> None:
        cells, self._cells = self._cells, []
        ends = [*edges[: len(cells)], *((0, "") for _ in cells[len(edges) :])]
        self._rows.append([(text, *end) for text, end in zip(cells, ends, strict=True)])


reader = DocumentReader(
    "word97", ("application/msword",), read_word97, suffixes=(".doc", ".dot"), needs_whole_body=True, rank=40
)
