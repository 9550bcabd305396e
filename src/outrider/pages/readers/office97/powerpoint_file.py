"""Read the slides of a PowerPoint 97 file (MS-PPT) in order."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import IntEnum

from outrider.pages.readers.office97.compound_file import CompoundFile, CompoundFileError

SLIDES_LIST, NOTES_LIST = 0, 2  # instances of lists (section 2.4.14)


class RecordType(IntEnum):
    """Types of records (section 2.13.24)."""

    DOCUMENT = 0x03E8
    SLIDE = 0x03EE
    NOTES = 0x03F0
    NOTES_ATOM = 0x03F1
    SLIDE_PERSIST_ATOM = 0x03F3
    SLIDE_SHOW_INFO = 0x03F9
    DRAWING = 0x040C
    OUTLINE_TEXT_REF = 0x0F9E
    TEXT_HEADER = 0x0F9F
    TEXT_CHARS = 0x0FA0
    TEXT_STYLES = 0x0FA1
    TEXT_BYTES = 0x0FA8
    SLIDE_LIST = 0x0FF0
    USER_EDIT = 0x0FF5
    PERSIST_DIRECTORY = 0x1772
    SHAPE_GROUP = 0xF003
    SHAPE = 0xF004
    TEXT_BOX = 0xF00D
    CHILD_ANCHOR = 0xF00F


@dataclass(frozen=True, slots=True)
class PowerPointRecord:
    """A record: its type, and the offsets of its content."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


@dataclass
class SlideText:
    """Characters of one kind: 0 and 6 are titles, 1, 7 and 8 bodies.

    `paragraph_styles` are indentation level and bullet of each paragraph; the bullet is None if the master decides.
    """

    kind: int = 4
    characters: str = ""
    paragraph_styles: list[tuple[int, bool | None]] = field(default_factory=list)


@dataclass
class SlideShape:
    """A text, or a table's cells with their four edges.

    The edges are left, top, right and bottom.
    """

    text: SlideText
    cells: list[tuple[str, tuple[int, int, int, int]]] = field(default_factory=list)


@dataclass
class Slide:
    """The shapes of one slide in file order."""

    shapes: list[SlideShape]
    hidden: bool = False
    notes: str = ""


class Presentation:
    """The slides of a presentation.

    Raises:
        CompoundFileError, struct.error, ValueError: if it is damaged, at once or when slides are read.
    """

    def __init__(self, files: CompoundFile) -> None:
        max_records = 300_000
        encrypted_token = 0xF3D1C4DF  # section 2.3.2
        self._data = files.read("PowerPoint Document")
        user = files.read("Current User")
        token, edit = struct.unpack_from("<LL", user, 12)
        self.encrypted = token == encrypted_token
        self._records_left = max_records
        self._offsets = {} if self.encrypted else self._load_offsets(edit)

    def iter_slides(self) -> Iterator[Slide]:
        """Yield the slides in the order in which they are shown."""
        hidden_flag = 0x0004  # section 2.6.6
        notes = self._collect_notes()
        for number, slide_id, outline in self._list_slides(SLIDES_LIST):
            record = self._find_object(number)
            if record is None or record.kind != RecordType.SLIDE:
                continue
            parts = list(self._iter_records(record.start, record.end))
            info = next((part for part in parts if part.kind == RecordType.SLIDE_SHOW_INFO), None)
            hidden = info is not None and bool(struct.unpack_from("<H", self._data, info.start + 10)[0] & hidden_flag)
            # A slide without a drawing may have texts in the outline.
            shapes = self._list_shapes(parts, outline) or [SlideShape(text) for text in outline]
            yield Slide(shapes, hidden, notes.get(slide_id, ""))

    def count_slides(self) -> int:
        """Return the number of slides."""
        return len(self._list_slides(SLIDES_LIST))

    def _load_offsets(self, edit: int) -> dict[int, int]:
        """Return the offset of each object; later edits override earlier ones (section 2.1.2)."""
        max_edits = 1_000
        offsets: dict[int, int] = {}
        self._document = 0
        for _ in range(max_edits):
            record = self._read_record(edit)
            if record is None or record.kind != RecordType.USER_EDIT:
                raise CompoundFileError("its last edit is missing")
            previous, directory, document = struct.unpack_from("<LLL", self._data, record.start + 8)
            self._document = self._document or document
            table = self._read_record(directory)
            is_directory = table and table.kind == RecordType.PERSIST_DIRECTORY
            at, end = (table.start, table.end) if table and is_directory else (0, 0)
            while at + 4 <= end:
                header = struct.unpack_from("<L", self._data, at)[0]
                first, count = header & 0xFFFFF, min(header >> 20, (end - at) // 4 - 1)
                for number, offset in enumerate(struct.unpack_from(f"<{count}L", self._data, at + 4), first):
                    offsets.setdefault(number, offset)
                at += 4 + 4 * count
            if not previous or previous >= edit:
                break
            edit = previous
        return offsets

    def _list_slides(self, instance: int) -> list[tuple[int, int, list[SlideText]]]:
        """Return each slide's object number, its id, and its texts in the outline."""
        document = self._find_object(self._document)
        if document is None or document.kind != RecordType.DOCUMENT:
            raise CompoundFileError("its document is missing")
        slides: list[tuple[int, int, list[SlideText]]] = []
        for part in self._iter_records(document.start, document.end):
            if part.kind != RecordType.SLIDE_LIST or part.instance != instance:
                continue
            texts: list[PowerPointRecord] = []  # records after the last slide's
            for record in [*self._iter_records(part.start, part.end), None]:
                if record is not None and record.kind != RecordType.SLIDE_PERSIST_ATOM:
                    texts.append(record)
                    continue
                if slides:
                    slides[-1][2].extend(self._read_texts(texts))
                texts = []
                if record is not None:
                    number, slide_id = struct.unpack_from("<L8xL", self._data, record.start)
                    slides.append((number, slide_id, []))
        return slides

    def _collect_notes(self) -> dict[int, str]:
        """Return the speaker notes by slide id."""
        notes_kind = 2
        notes: dict[int, str] = {}
        for number, _, _ in self._list_slides(NOTES_LIST):
            record = self._find_object(number)
            if record is None or record.kind != RecordType.NOTES:
                continue
            parts = list(self._iter_records(record.start, record.end))
            atom = next((part for part in parts if part.kind == RecordType.NOTES_ATOM), None)
            slide_id = struct.unpack_from("<L", self._data, atom.start)[0] if atom else 0
            texts = (shape.text for shape in self._list_shapes(parts, []))
            notes[slide_id] = "\r".join(text.characters for text in texts if text.kind == notes_kind)
        return notes

    def _list_shapes(self, parts: list[PowerPointRecord], outline: list[SlideText]) -> list[SlideShape]:
        """Return the texts of drawings; a group whose shapes form a grid is a table."""
        shapes: list[SlideShape] = []
        for drawing in (part for part in parts if part.kind == RecordType.DRAWING):
            for part in self._iter_records(drawing.start, drawing.end):
                for group in self._iter_records(part.start, part.end) if part.is_container else ():
                    if group.kind == RecordType.SHAPE_GROUP:
                        shapes.extend(self._iter_group_shapes(group, outline, 0))
        return shapes

    def _iter_group_shapes(self, group: PowerPointRecord, outline: list[SlideText], depth: int) -> Iterator[SlideShape]:
        max_depth = 8
        cells: list[tuple[SlideText, tuple[int, int, int, int]]] = []
        for record in self._iter_records(group.start, group.end):
            if record.kind == RecordType.SHAPE_GROUP and depth < max_depth:
                yield from self._iter_group_shapes(record, outline, depth + 1)
            elif record.kind == RecordType.SHAPE:
                text, box = self._read_shape(record, outline)
                if not text or not text.characters.strip():
                    continue
                if box is not None and depth:
                    cells.append((text, box))
                else:
                    yield SlideShape(text)
        if is_grid([box for _, box in cells]):
            yield SlideShape(SlideText(), [(text.characters, box) for text, box in cells])
        else:
            yield from (SlideShape(text) for text, _ in cells)

    def _read_shape(
        self, shape: PowerPointRecord, outline: list[SlideText]
    ) -> tuple[SlideText | None, tuple[int, int, int, int] | None]:
        text, box = None, None
        for part in self._iter_records(shape.start, shape.end):
            if part.kind == RecordType.CHILD_ANCHOR and part.end - part.start >= 16:
                box = struct.unpack_from("<4l", self._data, part.start)
            elif part.kind == RecordType.TEXT_BOX:
                records = list(self._iter_records(part.start, part.end))
                text = next(iter(self._read_texts(records)), None)
                for record in records:
                    if record.kind == RecordType.OUTLINE_TEXT_REF:
                        number = struct.unpack_from("<L", self._data, record.start)[0]
                        text = outline[number] if number < len(outline) else text
        return text, box

    def _read_texts(self, records: list[PowerPointRecord]) -> list[SlideText]:
        """Return the texts in records; each has a header, characters and styles."""
        texts: list[SlideText] = []
        for record in records:
            body = self._data[record.start : record.end]
            if record.kind == RecordType.TEXT_HEADER:
                texts.append(SlideText(struct.unpack_from("<L", body)[0]))
            elif record.kind in (RecordType.TEXT_CHARS, RecordType.TEXT_BYTES):
                texts = texts or [SlideText()]
                codec = "utf-16-le" if record.kind == RecordType.TEXT_CHARS else "latin-1"
                texts[-1].characters = body.decode(codec, "replace")
            elif record.kind == RecordType.TEXT_STYLES and texts:
                texts[-1].paragraph_styles = _parse_paragraph_styles(body, texts[-1].characters)
        return texts

    def _find_object(self, number: int) -> PowerPointRecord | None:
        return self._read_record(self._offsets[number]) if number in self._offsets else None

    def _read_record(self, at: int) -> PowerPointRecord | None:
        if at + 8 > len(self._data):
            return None
        head, kind, size = struct.unpack_from("<HHL", self._data, at)
        is_container = head & 0xF == 0xF  # section 2.3.1
        return PowerPointRecord(kind, head >> 4, is_container, at + 8, min(at + 8 + size, len(self._data)))

    def _iter_records(self, at: int, end: int) -> Iterator[PowerPointRecord]:
        while at + 8 <= end and (record := self._read_record(at)):
            self._records_left -= 1
            if self._records_left < 0:
                raise CompoundFileError("it holds too many parts")
            yield replace(record, end=min(record.end, end))
            at = record.end


def is_grid(boxes: list[tuple[int, int, int, int]]) -> bool:
    """Return whether boxes form a table: in rows and columns without overlap or gaps."""
    lefts, tops = {box[0] for box in boxes}, {box[1] for box in boxes}
    if len(lefts) < 2 or len(tops) < 2 or len(boxes) < 4:
        return False
    rights = {box[2] for box in boxes}
    width = max(rights) - min(lefts)
    tolerance = max(1, width // 100)
    has_no_gaps = all(min(abs(right - left) for left in lefts) <= tolerance or right == max(rights) for right in rights)
    return has_no_gaps and len(boxes) <= len(lefts) * len(tops) and 2 * len(boxes) > len(lefts) * len(tops)


def _parse_paragraph_styles(body: bytes, characters: str) -> list[tuple[int, bool | None]]:
    """Return the stored indentation level and bullet of each paragraph (sections 2.9.45, 2.9.20)."""
    bullet_bit = 0x1  # of the mask, and of the flags
    styles: list[tuple[int, bool | None]] = []
    at = position = 0
    ends = [index for index, char in enumerate(characters + "\r") if char == "\r"]
    while at + 12 <= len(body) and position <= len(characters):
        count, level, mask, flags = struct.unpack_from("<LHLH", body, at)
        style = min(level, 8), bool(flags & bullet_bit) if mask & bullet_bit else None
        styles += [style for end in ends if position <= end < position + count]
        at, position = at + 10 + _count_exception_bytes(body, at + 10, mask), position + count
        if not count:
            break
    return styles


def _count_exception_bytes(body: bytes, at: int, mask: int) -> int:
    """Return the bytes of a paragraph's fields after its mask (TextPFException, section 2.9.20)."""
    bullet_flags, tab_stops, wrap_flags, bullet_color = 0x0000000F, 0x00100000, 0x000E0000, 0x20
    two_byte_fields = (0x10, 0x20, 0x40, 0x80, 0x100, 0x400, 0x800, 0x1000, 0x2000, 0x4000, 0x8000)
    size = 2 * bool(mask & bullet_flags) + 2 * sum(bool(mask & bit) for bit in two_byte_fields)
    size += 2 * bool(mask & bullet_color)  # four bytes in all
    if mask & tab_stops:
        size += 2 + 4 * (struct.unpack_from("<H", body, at + size)[0] if at + size + 2 <= len(body) else 0)
    return size + 2 * bool(mask & wrap_flags) + 2 * bool(mask & 0x10000) + 2 * bool(mask & 0x200000)
