"""Records of a PowerPoint file from before 2007 (MS-PPT): which slides there are, in order, and what stands on each."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.office97.compound_file import CompoundFile, CompoundFileError

RT_DOCUMENT, RT_SLIDE, RT_NOTES = 0x03E8, 0x03EE, 0x03F0
RT_SLIDE_ATOM, RT_NOTES_ATOM, RT_SLIDE_PERSIST_ATOM, RT_SLIDE_SHOW_INFO, RT_SLIDE_LIST, RT_DRAWING = (
    0x03EF,
    0x03F1,
    0x03F3,
    0x03F9,
    0x0FF0,
    0x040C,
)
RT_TEXT_HEADER, RT_TEXT_CHARS, RT_TEXT_BYTES, RT_TEXT_STYLES, RT_OUTLINE_TEXT_REF = (
    0x0F9F,
    0x0FA0,
    0x0FA8,
    0x0FA1,
    0x0F9E,
)
RT_USER_EDIT, RT_PERSIST_DIRECTORY = 0x0FF5, 0x1772
RT_SHAPE_GROUP, RT_SHAPE, RT_CHILD_ANCHOR, RT_TEXT_BOX = 0xF003, 0xF004, 0xF00F, 0xF00D
SLIDES_LIST, NOTES_LIST = 0, 2  # instances of lists (sections 2.4.14)
# Sizes of what a paragraph's exception holds, by the bit of its mask; those of tab stops vary (section 2.9.20).
BULLET_FLAGS_MASK, TAB_STOPS_MASK, WRAP_FLAGS_MASK = 0x0000000F, 0x00100000, 0x000E0000
FIELD_SIZES = {
    0x80: 2, 0x10: 2, 0x40: 2, 0x20: 4, 0x800: 2, 0x1000: 2, 0x2000: 2, 0x4000: 2, 0x100: 2, 0x400: 2, 0x8000: 2,
}  # fmt: skip
TRAILING_FIELD_SIZES = {0x10000: 2, 0x200000: 2}


@dataclass(frozen=True, slots=True)
class PowerPointRecord:
    """A record: its kind, and where its content stands."""

    kind: int
    instance: int
    is_container: bool
    start: int
    end: int


@dataclass
class SlideText:
    """Characters of one kind: 0 and 6 are titles, 1, 7 and 8 bodies.

    `paragraph_styles` are those of its paragraphs: how deep each is set in, and whether it has a bullet, None if its master tells.
    """

    kind: int = 4
    characters: str = ""
    paragraph_styles: list[tuple[int, bool | None]] = field(default_factory=list)


@dataclass
class SlideShape:
    """Text with its place, or the cells of a table with theirs: left, top, right and bottom."""

    text: SlideText
    cells: list[tuple[str, tuple[int, int, int, int]]] = field(default_factory=list)


@dataclass
class Slide:
    """What stands on one slide, in the order of the file."""

    shapes: list[SlideShape]
    hidden: bool = False
    notes: str = ""


class Presentation:
    """A presentation.

    Raises:
        BrokenCompound, struct.error, ValueError: at once or when slides are read.
    """

    def __init__(self, files: CompoundFile) -> None:
        max_records = 300_000
        encrypted_token = 0xF3D1C4DF  # token in "Current User" (section 2.3.2)
        self._data = files.read("PowerPoint Document")
        user = files.read("Current User")
        token, edit = struct.unpack_from("<LL", user, 12)
        self.encrypted = token == encrypted_token
        self._records_left = max_records
        self._offsets = {} if self.encrypted else self._load_offsets(edit)

    def iter_slides(self) -> Iterator[Slide]:
        """The slides in the order in which they are shown."""
        hidden_flag = 0x0004  # flag of a slide in a show (section 2.6.6)
        listed, notes = self._list_slides(SLIDES_LIST), self._collect_notes()
        for place, identity, texts in listed:
            record = self._find_object(place)
            if record is None or record.kind != RT_SLIDE:
                continue
            parts = list(self._iter_records(record.start, record.end))
            shown = next((each for each in parts if each.kind == RT_SLIDE_SHOW_INFO), None)
            hidden = shown is not None and bool(struct.unpack_from("<H", self._data, shown.start + 10)[0] & hidden_flag)
            shapes = [shape for each in parts if each.kind == RT_DRAWING for shape in self._iter_shapes(each, texts)]
            if not shapes:  # what only stands in the outline
                shapes = [SlideShape(text) for text in texts]
            yield Slide(shapes, hidden, notes.get(identity, ""))

    def count_slides(self) -> int:
        """How many slides there are."""
        return len(self._list_slides(SLIDES_LIST))

    def _load_offsets(self, edit: int) -> dict[int, int]:
        """Where each object stands; of several edits the last one tells (section 2.1.2)."""
        max_edits = 1_000
        found: dict[int, int] = {}
        self._document = 0
        for _ in range(max_edits):
            record = self._read_record(edit)
            if record is None or record.kind != RT_USER_EDIT:
                raise CompoundFileError("its last edit is missing")
            before, directory, document = struct.unpack_from("<LLL", self._data, record.start + 8)
            self._document = self._document or document
            for identity, place in self._iter_persist_directory(directory):
                found.setdefault(identity, place)
            if not before or before >= edit:
                break
            edit = before
        return found

    def _iter_persist_directory(self, at: int) -> Iterator[tuple[int, int]]:
        record = self._read_record(at)
        if record is None or record.kind != RT_PERSIST_DIRECTORY:
            return
        at = record.start
        while at + 4 <= record.end:
            head = struct.unpack_from("<L", self._data, at)[0]
            first, count = head & 0xFFFFF, min(head >> 20, (record.end - at) // 4 - 1)
            for number, place in enumerate(struct.unpack_from(f"<{count}L", self._data, at + 4)):
                yield first + number, place
            at += 4 + 4 * count

    def _list_slides(self, instance: int) -> list[tuple[int, int, list[SlideText]]]:
        """Of each slide the number of its object, its identity, and the texts that the outline holds."""
        document = self._find_object(self._document)
        if document is None or document.kind != RT_DOCUMENT:
            raise CompoundFileError("its document is missing")
        found: list[tuple[int, int, list[SlideText]]] = []
        for part in self._iter_records(document.start, document.end):
            if part.kind != RT_SLIDE_LIST or part.instance != instance:
                continue
            pending: list[PowerPointRecord] = []
            for each in [*self._iter_records(part.start, part.end), None]:
                if each is not None and each.kind != RT_SLIDE_PERSIST_ATOM:
                    pending.append(each)
                    continue
                if found:
                    found[-1][2].extend(self._read_texts(pending))
                pending = []
                if each is not None:
                    number, identity = struct.unpack_from("<L8xL", self._data, each.start)
                    found.append((number, identity, []))
        return found

    def _collect_notes(self) -> dict[int, str]:
        """The speaker's notes by the identity of their slide."""
        notes_kind = 2  # kind of a text
        found: dict[int, str] = {}
        for number, _, _ in self._list_slides(NOTES_LIST):
            record = self._find_object(number)
            if record is None or record.kind != RT_NOTES:
                continue
            parts = list(self._iter_records(record.start, record.end))
            slide = next(
                (struct.unpack_from("<L", self._data, e.start)[0] for e in parts if e.kind == RT_NOTES_ATOM), 0
            )
            shapes = [shape for each in parts if each.kind == RT_DRAWING for shape in self._iter_shapes(each, [])]
            found[slide] = "\r".join(shape.text.characters for shape in shapes if shape.text.kind == notes_kind)
        return found

    def _iter_shapes(self, record: PowerPointRecord, outline: list[SlideText]) -> Iterator[SlideShape]:
        """The texts of a drawing; those of a group whose shapes make a grid as the cells of a table."""
        for part in self._iter_records(record.start, record.end):
            for group in self._iter_records(part.start, part.end) if part.is_container else ():
                if group.kind == RT_SHAPE_GROUP:
                    yield from self._iter_group_shapes(group, outline, 0)

    def _iter_group_shapes(self, group: PowerPointRecord, outline: list[SlideText], depth: int) -> Iterator[SlideShape]:
        max_depth = 8  # groups in groups
        cells: list[tuple[SlideText, tuple[int, int, int, int]]] = []
        for each in self._iter_records(group.start, group.end):
            if each.kind == RT_SHAPE_GROUP and depth < max_depth:
                yield from self._iter_group_shapes(each, outline, depth + 1)
            elif each.kind == RT_SHAPE:
                text, box = self._read_shape(each, outline)
                if box is not None and depth:
                    cells.append((text or SlideText(), box))
                elif text and text.characters.strip():
                    yield SlideShape(text)
        if is_grid([box for text, box in cells if text.characters.strip()]):
            yield SlideShape(SlideText(), [(text.characters, box) for text, box in cells if text.characters.strip()])
        else:
            yield from (SlideShape(text) for text, _ in cells if text.characters.strip())

    def _read_shape(
        self, shape: PowerPointRecord, outline: list[SlideText]
    ) -> tuple[SlideText | None, tuple[int, int, int, int] | None]:
        text, box = None, None
        for part in self._iter_records(shape.start, shape.end):
            if part.kind == RT_CHILD_ANCHOR and part.end - part.start >= 16:
                box = struct.unpack_from("<4l", self._data, part.start)
            elif part.kind == RT_TEXT_BOX:
                inside = list(self._iter_records(part.start, part.end))
                text = next(iter(self._read_texts(inside)), None)
                for each in inside:
                    if each.kind == RT_OUTLINE_TEXT_REF:
                        at = struct.unpack_from("<L", self._data, each.start)[0]
                        text = outline[at] if at < len(outline) else text
        return text, box

    def _read_texts(self, records: list[PowerPointRecord]) -> list[SlideText]:
        """The texts that these records tell: a head, characters, and how they look."""
        found: list[SlideText] = []
        for each in records:
            body = self._data[each.start : each.end]
            if each.kind == RT_TEXT_HEADER:
                found.append(SlideText(struct.unpack_from("<L", body)[0]))
            elif each.kind in (RT_TEXT_CHARS, RT_TEXT_BYTES):
                found = found or [SlideText()]
                found[-1].characters = body.decode("utf-16-le" if each.kind == RT_TEXT_CHARS else "latin-1", "replace")
            elif each.kind == RT_TEXT_STYLES and found:
                found[-1].paragraph_styles = _parse_paragraph_styles(body, found[-1].characters)
        return found

    def _find_object(self, identity: int) -> PowerPointRecord | None:
        return self._read_record(self._offsets[identity]) if identity in self._offsets else None

    def _read_record(self, at: int) -> PowerPointRecord | None:
        container_version = 0xF  # version of a record that holds records (section 2.3.1)
        if at + 8 > len(self._data):
            return None
        head, kind, size = struct.unpack_from("<HHL", self._data, at)
        return PowerPointRecord(
            kind, head >> 4, head & 0xF == container_version, at + 8, min(at + 8 + size, len(self._data))
        )

    def _iter_records(self, at: int, end: int) -> Iterator[PowerPointRecord]:
        while at + 8 <= end and (record := self._read_record(at)):
            self._records_left -= 1
            if self._records_left < 0:
                raise CompoundFileError("it holds too many parts")
            yield PowerPointRecord(
                record.kind, record.instance, record.is_container, record.start, min(record.end, end)
            )
            at = record.end


def is_grid(boxes: list[tuple[int, int, int, int]]) -> bool:
    """Whether boxes are the cells of a table: side by side and one below the other without overlap or gaps."""
    lefts, tops = {box[0] for box in boxes}, {box[1] for box in boxes}
    if len(lefts) < 2 or len(tops) < 2 or len(boxes) < 4:
        return False
    rights = {box[2] for box in boxes}
    wide = max(rights) - min(lefts)
    near = max(1, wide // 100)
    columns = all(min(abs(right - left) for left in lefts) <= near or right == max(rights) for right in rights)
    return columns and len(boxes) <= len(lefts) * len(tops) and 2 * len(boxes) > len(lefts) * len(tops)


def _parse_paragraph_styles(body: bytes, characters: str) -> list[tuple[int, bool | None]]:
    """How deep each paragraph is set in and whether it has a bullet, as far as it is told (sections 2.9.45, 2.9.20)."""
    bullet_bit = 0x1  # bit of a paragraph's mask, and of its flags
    looks: list[tuple[int, bool | None]] = []
    at = place = 0
    ends = [index for index, letter in enumerate(characters + "\r") if letter == "\r"]
    while at + 12 <= len(body) and place <= len(characters):
        count, level, mask, flags = struct.unpack_from("<LHLH", body, at)
        look = min(level, 8), bool(flags & bullet_bit) if mask & bullet_bit else None
        looks += [look for end in ends if place <= end < place + count]
        at, place = at + 10 + _count_exception_bytes(body, at + 10, mask), place + count
        if not count:
            break
    return looks


def _count_exception_bytes(body: bytes, at: int, mask: int) -> int:
    """The bytes that a paragraph's exception takes behind its mask."""
    size = 2 * bool(mask & BULLET_FLAGS_MASK) + sum(each for bit, each in FIELD_SIZES.items() if mask & bit)
    if mask & TAB_STOPS_MASK:
        size += 2 + 4 * (struct.unpack_from("<H", body, at + size)[0] if at + size + 2 <= len(body) else 0)
    return (
        size + 2 * bool(mask & WRAP_FLAGS_MASK) + sum(each for bit, each in TRAILING_FIELD_SIZES.items() if mask & bit)
    )
