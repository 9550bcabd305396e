"""Rich Text Format, by a parser of our own: those for Python give text without headings, tables and notes."""

import re
from dataclasses import dataclass, field, replace

from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.runs import pointed
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.rtf_groups import CHARSETS, Bytes, Edge, Stack, State, Token, Word, codec, tokens
from outrider.pages.readers.parts.typewriter import Typewriter, is_fixed, is_listed
from outrider.pages.readers.parts.writing import Draft, Run, inline, raised, unmarked
from outrider.pages.readers.text import fenced
from outrider.pages.readers.word import WIDEST, by_ends

TOKENS = 8  # for each tag that may be looked at in a page
KEPT = frozenset({"fonttbl", "stylesheet", "info", "title", "author", "subject", "creatim", "fldinst", "footnote",
                  "listtext", "pntext", "annotation"})  # fmt: skip
NOWHERE = frozenset(
    "colortbl pict object nonshppict header headerl headerr headerf footer footerl footerr footerf sp listtable "  # noqa: SIM905
    "listoverridetable rsidtbl generator xe tc themedata colorschememapping datastore latentstyles filetbl revtbl "
    "atnid atnauthor atndate atnref bkmkstart bkmkend operator company category keywords comment doccomm hlinkbase "
    "template pntxta pntxtb ftnsep ftnsepc aftnsep aftnsepc xmlnstbl mmathPr wgrffmtfilter".split()
)
THROUGH = frozenset({"shpinst", "shptxt", "fldrslt", "rtf", "field", "shp", "result"})
LETTERS = {"tab": " ", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
           "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "line": "\n", "lbr": "\n"}  # fmt: skip
TOGGLES = {"b": "bold", "i": "italic", "strike": "struck", "striked": "struck", "v": "hidden"}
HEADING = re.compile(r"heading ([1-9])")
BULLETS = re.compile(r"^(?:\W{0,3}|o)$")  # Word's point of the second level is a small letter
NUMBER = re.compile(r"^(\d{1,9})[.)]$")
QUOTES = frozenset({"quote", "intense quote", "block text", "quotations"})
FONTS = 5_000
STYLES = 5_000


def read(source: Source) -> Document:
    """The paragraphs with headings, lists, tables and notes. Hidden text, headers and pictures are left out.

    Raises:
        Unavailable: code `broken_file`, if it does not begin as such a file does.
    """
    start = source.body[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if not start.startswith(b"{\\rtf"):
        raise broken(source, "RTF document", "it does not begin as one")
    writer, most = Writer(Draft(source, "rtf")), source.tags * TOKENS
    for number, token in enumerate(tokens(source.body[source.body.index(b"{\\rtf") :], most + 1)):
        if writer.draft.full or number >= most:
            writer.draft.cut = True
            break
        writer.take(token)
    return writer.document()


@dataclass
class Paragraph:
    """What is known of the paragraph at hand."""

    style: int = -1
    outline: int = 0
    in_table: bool = False
    level: int = 0
    marker: str = ""


@dataclass
class Writer:
    """Takes tokens, writes blocks."""

    draft: Draft
    facts: dict[str, str] = field(default_factory=dict)
    _stack: Stack = field(default_factory=Stack)
    _runs: list[Run] = field(default_factory=list)
    _paragraph: Paragraph = field(default_factory=Paragraph)
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
    _typewriter: Typewriter = field(default_factory=Typewriter)
    _default: str = "cp1252"
    _skip: int = 0
    _starred: bool = False
    _style: int = 0
    _notes: list[tuple[list[Run], str]] = field(default_factory=list)
    _link: str = ""
    _high: int = 0
    _created: dict[str, int] = field(default_factory=dict)

    def take(self, token: Token) -> None:
        """One token."""
        if isinstance(token, Bytes):
            self._data(token.data)
            return
        self._flush()
        if isinstance(token, Edge):
            self._skip = 0
            self._edge(self._stack.edge(opening=token.opening))
        elif token.name == "*":
            self._starred = True
        else:
            self._word(token)
            self._starred = False

    def document(self) -> Document:
        """What was written."""
        self._flush()
        self._end_paragraph()
        self._end_table()
        self._end_code()
        return self.draft.document(self.facts)

    def _data(self, data: bytes) -> None:
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        self._bytes += data[skipped:]

    def _flush(self) -> None:
        """Decodes the bytes that came since the last control word."""
        if self._bytes:
            name = self._fonts.get(self._stack.now.font, self._default)
            text = self._bytes.decode(name, "replace")
            self._bytes.clear()
            self._text(text)

    def _text(self, text: str) -> None:
        now = self._stack.now
        if now.to == "-":
            return
        if now.to == "stylesheet":
            self._styles[self._style] = (self._styles.get(self._style, "") + text)[:200]
        elif now.to == "fonttbl":
            if len(self._names) < FONTS:
                self._names[now.font] = (self._names.get(now.font, "") + text)[:200]
        elif now.to and now.to not in ("footnote", "annotation"):
            self._held.append(text[:5_000])
        elif now.hidden:
            self.draft.hidden += bool(text.strip())
        else:
            self._runs.append(
                Run(raised(text, now.rise), now.bold, now.italic, now.struck, now.address, code=self._is_code(now.font))
            )

    def _is_code(self, font: int) -> bool:
        """Whether letters of a font have one width where those of the document do not."""
        return font >= 0 and self._is_fixed(font) and not self._is_fixed(self._standard)

    def _is_fixed(self, font: int) -> bool:
        return font in self._fixed or is_fixed(self._names.get(font, ""))

    def _edge(self, ended: State | None) -> None:
        """What a group has gathered is used at its end."""
        if ended is None or ended.to == self._stack.now.to:
            return
        held = "".join(self._held).strip()
        if ended.to in ("footnote", "annotation"):
            self._end_note(ended.to)
        elif ended.to == "fldinst":
            address = pointed(held)
            self._link = self.draft.address(address) if address else ""
        elif ended.to in ("listtext", "pntext"):
            self._paragraph.marker = held or "-"
        elif ended.to in ("title", "author", "subject"):
            self.facts["description" if ended.to == "subject" else ended.to] = held
        if ended.to not in ("-", ""):
            self._held.clear()

    def _end_note(self, kind: str) -> None:
        note, (self._runs, label) = self._runs, self._notes.pop()
        text = inline(note)
        self.draft.note(label, f"Comment: {text}" if kind == "annotation" and text else text)

    def _word(self, word: Word) -> None:
        name = word.name
        if name in KEPT or name in NOWHERE or (self._starred and name not in THROUGH):
            self._destination(name)
        elif name == "u" and word.value is not None:
            self._unicode(word.value)
        elif name == "sign":
            self._text(chr(word.value or 0))
        elif name in LETTERS:
            self._text(LETTERS[name])
        elif name == "deleted" and word.on and self._stack.now.to == "":
            self._stack.change(to="-")
        elif name in TOGGLES:
            self._stack.change(**{TOGGLES[name]: word.on})
        elif name in WORDS:
            WORDS[name](self, word)

    def _destination(self, name: str) -> None:
        now = self._stack.now
        if now.to == "-" or (now.to == "info" and name not in KEPT):
            self._stack.change(to="-")
        elif name in ("footnote", "annotation"):
            if now.to in ("footnote", "annotation"):
                return
            label = f"{'c' if name == 'annotation' else ''}{len(self.draft.notes) + 1}"
            self._runs.append(Run(f"[^{label}]", literal=True))
            self._notes.append((self._runs, label))
            self._runs = []
            self._stack.change(to=name)
        else:
            self._stack.change(to=name if name in KEPT else "-")

    def _unicode(self, value: int) -> None:
        code = value % 65_536
        self._skip = self._stack.now.skipped
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            if not self._high:
                return
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00
        self._high = 0
        self._text(chr(code))

    def reset(self, word: Word) -> None:
        if word.name == "plain":
            self._stack.change(bold=False, italic=False, struck=False, hidden=False, rise=0, font=-1)
        elif not self._stack.now.to:  # in a note or a list's number it is not that of the paragraph around it
            self._paragraph = Paragraph(marker=self._paragraph.marker)

    def shape(self, word: Word) -> None:
        """A word about the paragraph, or in a table of styles or fonts."""
        value = word.value or 0
        if word.name == "s":
            self._style = value
        if word.name in ("yr", "mo", "dy"):
            self._date(word.name, value)
        elif self._stack.now.to:
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
        if self._stack.now.to == "creatim":
            self._created[name] = value
            year, *rest = (self._created.get(each, 0) for each in ("yr", "mo", "dy"))
            self.facts["published"] = f"{year:04d}" + "".join(f"-{part:02d}" for part in rest)

    def letters(self, word: Word) -> None:
        """A word about how bytes become characters."""
        value = word.value or 0
        if word.name == "ansicpg":
            self._default = codec(value)
        elif word.name == "uc":
            self._stack.change(skipped=max(0, min(value, 8)))
        elif word.name == "f":
            self._stack.change(font=value)
        elif word.name == "deff":
            self._standard = value
        elif word.name in ("fmodern", "fprq") and (word.name == "fmodern" or value == 1) and len(self._fixed) < FONTS:
            self._fixed.add(self._stack.now.font)
        elif word.name == "fcharset" and value in CHARSETS and len(self._fonts) < FONTS:
            self._fonts[self._stack.now.font] = CHARSETS[value]

    def risen(self, word: Word) -> None:
        """Characters stand above or below the line, or on it again."""
        self._stack.change(rise={"super": 1, "sub": -1}.get(word.name, 0) if word.on else 0)

    def linked(self, _word: Word) -> None:
        """The result of a field begins: it leads where the field says."""
        self._stack.change(to=self._stack.now.to if self._stack.now.to == "-" else "", address=self._link)
        self._link = ""

    def ends(self, word: Word) -> None:
        """A paragraph, a cell or a row ends."""
        if self._stack.now.to in ("footnote", "annotation"):
            self._runs.append(Run(" "))
        elif self._stack.now.to:
            return
        elif word.name in ("nestcell", "nestrow"):  # a table in a cell becomes its words
            self._runs.append(Run(" "))
        elif word.name == "cell":
            self._cells.append(inline(self._typewriter.coded(self._runs)))
            self._runs, self._paragraph.marker = [], ""
        elif word.name == "row":
            self._end_row()
        elif self._paragraph.in_table:
            self._runs.append(Run(" "))
        else:
            self._end_table()
            self._end_paragraph()

    def edges(self, word: Word) -> None:
        """Where the cells of a row end, and whether they go on from the one before or above."""
        if self._stack.now.to:  # of a table in a cell
            return
        if word.name == "trowd":
            self._row = []
            self._merged = ""
        elif word.name != "cellx":
            self._merged = "beside" if word.name == "clmrg" else "above"
        elif len(self._row) < WIDEST:
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
        self.draft.rows(by_ends(rows))

    def _end_paragraph(self) -> None:
        runs, self._runs = self._typewriter.coded(self._runs), []
        about, self._paragraph = self._paragraph, replace(self._paragraph, marker="")
        style = self._styles.get(about.style, "").strip("; ").lower()
        level = about.outline or _level(style)
        listed = is_listed(runs) and not (level or style == "title" or about.marker)
        if listed or (style == "preformatted text" and runs):
            self._code.append("".join(run.text for run in runs).rstrip())
            return
        text = inline(runs)
        if not text:
            self._code += [""] * bool(self._code)
            return
        self._end_code()
        if style == "title":
            self._shift = 1
            self.draft.heading(1, unmarked(runs))
        elif level:
            self.draft.heading(level + self._shift, unmarked(runs))
        elif style in QUOTES:
            self.draft.quote(text)
        elif about.marker:
            number = NUMBER.match(about.marker)
            bare = BULLETS.match(about.marker) or number
            marker = f"{number[1]}." if number else "-"
            self.draft.item(about.level, text if bare else f"{about.marker} {text}", marker)
        else:
            self.draft.add(text)

    def _end_code(self) -> None:
        code, self._code = "\n".join(self._code).strip("\n"), []
        if code:
            self.draft.add(fenced(code, ""))


def _level(style: str) -> int:
    found = HEADING.match(style.lower())
    return int(found[1]) if found else 0


WORDS = {
    **dict.fromkeys(("pard", "plain"), Writer.reset),
    **dict.fromkeys(("s", "outlinelevel", "ilvl", "intbl", "yr", "mo", "dy"), Writer.shape),
    **dict.fromkeys(("ansicpg", "uc", "f", "fcharset", "deff", "fmodern", "fprq"), Writer.letters),
    **dict.fromkeys(("par", "sect", "page", "cell", "nestcell", "row", "nestrow"), Writer.ends),
    **dict.fromkeys(("super", "sub", "nosupersub"), Writer.risen),
    **dict.fromkeys(("trowd", "cellx", "clmrg", "clvmrg"), Writer.edges),
    "fldrslt": Writer.linked,
}
reader = Reader("rtf", ("application/rtf", "text/rtf"), read, suffixes=(".rtf",), rank=40)
