"""Word documents from before 2007 (MS-DOC): headings, lists, tables, links, notes, without any extra.

Files of Word 6 and 95, which are rare, are left to the extra.
"""

import struct
from dataclasses import dataclass, field

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers import legacy
from outrider.pages.readers.parts.office97.compound import MAGIC, BrokenCompound, Compound, facts
from outrider.pages.readers.parts.office97.word import WORD_97, Letters, Paragraph, WordFile
from outrider.pages.readers.parts.openxml.runs import Field, pointed
from outrider.pages.readers.parts.openxml.styles import count
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.writing import Draft, Run, inline, raised, unmarked
from outrider.pages.readers.word import by_ends, written

KIND = "Word 97 document"
HEADINGS = 9  # of the styles the first nine are headings, in every file (section 2.9.271)
CELL, NOTE, COMMENT, BEGIN, SHOWN, END = "\x07\x02\x05\x13\x14\x15"
ENDS = frozenset("\r\x07\x0c")
SIGNS = {
    "\x0b": "\n", "\t": " ", "\x1e": "\u2011", "\x1f": "", "\xa0": " ", "\x01": "", "\x03": "", "\x04": "",
    "\x08": "", "\x0e": "\n",
}  # fmt: skip
INSTRUCTION = 3_000  # characters of a field's instruction
DEEPEST = 20  # fields in fields
PROPERTIES = "\x05SummaryInformation"


def read(source: Source) -> Document:
    """The text with headings, lists, tables, links and notes. Hidden and deleted text is left out.

    Raises:
        NotConfigured: code `missing_extra`, for a file of Word 6 or 95 without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    if not source.body.startswith(MAGIC):
        raise broken(source, KIND, "it does not begin as such a file does")
    try:
        files = Compound(source.body)
        word = WordFile(files)
        if word.encrypted:
            raise encrypted(source, KIND)
        if word.version < WORD_97:
            return legacy.read(source)
        return Writer(Draft(source, "word"), word).document(facts(files.read(PROPERTIES)))
    except (BrokenCompound, ValueError, IndexError, struct.error) as error:
        raise broken(source, KIND, str(error) if isinstance(error, BrokenCompound) else "it is damaged") from None


@dataclass
class Writer:
    """Takes characters in order, writes blocks."""

    draft: Draft
    word: WordFile
    title: str = ""
    _runs: list[Run] = field(default_factory=list)
    _cell: list[str] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)
    _rows: list[list[tuple[str, int, str]]] = field(default_factory=list)
    _fields: list[Field] = field(default_factory=list)
    _counts: dict[tuple[int, int], int] = field(default_factory=dict)
    _labels: dict[str, int] = field(default_factory=dict)
    _hiding: bool = False

    def __post_init__(self) -> None:
        self._letters, self._paragraphs = self.word.letters(), self.word.paragraphs()
        self._lists, self._endnotes = self.word.lists(), self.word.endnotes()

    def document(self, known: dict[str, str]) -> Document:
        """What was written."""
        text, foot, comments, ends = self.word.parts()
        for place, offset, letter in self.word.stretches(text, self._letters):
            if self.draft.full:
                self.draft.cut = True
                break
            if letter in ENDS:
                self._end(letter, self._paragraphs.at(offset) or Paragraph())
            else:
                self._take(letter, self._letters.at(offset) or Letters(), place)
        self._end("\r", Paragraph())
        self._end_table()
        for part, sign, prefix in ((foot, NOTE, ""), (ends, NOTE, "e"), (comments, COMMENT, "c")):
            self._note(part, sign, prefix)
        return self.draft.document(known | {"title": known.get("title") or self.title})

    def _note(self, part: range, sign: str, prefix: str) -> None:
        """The notes of one kind, each behind its sign."""
        notes: list[list[Run]] = []
        self._fields = []
        for _, offset, letter in self.word.stretches(part, self._letters):
            if letter == sign:
                notes.append([])
                self._runs = notes[-1]
            elif notes:
                self._take(" " if letter in ENDS else letter, self._letters.at(offset) or Letters(), -1)
        for number, runs in enumerate(notes, 1):
            said = " ".join(inline(runs).split())
            self.draft.note(f"{prefix}{number}", f"Comment: {said}" if prefix == "c" and said else said)

    def _take(self, letter: str, style: Letters, place: int) -> None:
        if letter in (BEGIN, SHOWN, END):
            self._field(letter)
        elif not all(each.shown for each in self._fields):
            self._fields[-1].code = (self._fields[-1].code + letter)[:INSTRUCTION]
        elif style.deleted or any(each.code.strip().startswith("TOC") for each in self._fields):
            return
        elif style.hidden:
            self.draft.hidden += not self._hiding
        elif letter in (NOTE, COMMENT) and place >= 0:
            self._runs.append(Run(f"[^{self._label(letter, place)}]", literal=True))
        elif text := raised(SIGNS.get(letter, letter), style.rise):
            address = next((each.address for each in reversed(self._fields) if each.address), "")
            self._runs.append(Run(text, style.bold, style.italic, style.struck, address))
        self._hiding = style.hidden

    def _label(self, letter: str, place: int) -> str:
        prefix = "c" if letter == COMMENT else "e" if place in self._endnotes else ""
        self._labels[prefix] = self._labels.get(prefix, 0) + 1
        return f"{prefix}{self._labels[prefix]}"

    def _field(self, letter: str) -> None:
        if letter == BEGIN and len(self._fields) < DEEPEST:
            self._fields.append(Field())
        elif letter == SHOWN and self._fields:
            address = pointed(self._fields[-1].code)
            self._fields[-1].shown = True
            self._fields[-1].address = self.draft.address(address) if address else ""
        elif letter == END and self._fields:
            self._fields.pop()

    def _end(self, letter: str, about: Paragraph) -> None:
        """A paragraph, a cell or a row ends."""
        runs, self._runs = self._runs, []
        if letter == CELL and about.row_end:
            self._row(about.cells)
        elif letter == CELL or about.in_table:
            self._cell.append(inline(runs))
            if letter == CELL:
                self._cells.append(" ".join(text for text in self._cell if text))
                self._cell = []
        else:
            self._end_table()
            self._paragraph(runs, about)

    def _paragraph(self, runs: list[Run], about: Paragraph) -> None:
        level = about.style if 1 <= about.style <= HEADINGS else about.outline + 1 if about.outline < HEADINGS else 0
        text = inline(runs)
        if level and text:
            self.title = self.title or unmarked(runs)
            self.draft.heading(level, unmarked(runs))
        elif text and (found := self._lists.get(about.list)) and found[1]:
            self.draft.item(about.level, *written(text, self._marker(about, *found)))
        else:
            self.draft.add(text)

    def _marker(self, about: Paragraph, identity: int, levels: list[tuple[str, str]]) -> str:
        """What stands before the next item of a list."""
        way, _ = levels[min(about.level, len(levels) - 1)]
        if way == "bullet":
            return "-"
        place = identity, about.level
        for deeper in [each for each in self._counts if each[0] == identity and each[1] > about.level]:
            del self._counts[deeper]
        self._counts[place] = self._counts.get(place, 0) + 1
        return f"{count(self._counts[place], way)}."

    def _end_table(self) -> None:
        if self._cell or self._cells:
            self._cells += self._cell
            self._row(())
        rows, self._rows, self._cell = self._rows, [], []
        self.draft.rows(by_ends(rows))

    def _row(self, known: tuple[tuple[int, str], ...]) -> None:
        cells, self._cells = self._cells, []
        ends = [*known[: len(cells)], *((0, "") for _ in cells[len(known) :])]
        self._rows.append([(text, *end) for text, end in zip(cells, ends, strict=True)])


reader = Reader("word97", ("application/msword",), read, suffixes=(".doc", ".dot"), whole=True, rank=40)
