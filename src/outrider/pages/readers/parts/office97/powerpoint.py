"""Records of a PowerPoint file from before 2007 (MS-PPT): which slides there are, in order, and what stands on each."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from outrider.pages.readers.parts.office97.compound import BrokenCompound, Compound

DOCUMENT, SLIDE, NOTES = 0x03E8, 0x03EE, 0x03F0
SLIDE_ATOM, NOTES_ATOM, PERSIST, SHOWN, LIST, DRAWING = 0x03EF, 0x03F1, 0x03F3, 0x03F9, 0x0FF0, 0x040C
HEADER, CHARS, BYTES, STYLES, OUTLINE = 0x0F9F, 0x0FA0, 0x0FA8, 0x0FA1, 0x0F9E
EDIT, PLACES = 0x0FF5, 0x1772
GROUP, SHAPE, ANCHOR, TEXT_BOX = 0xF003, 0xF004, 0xF00F, 0xF00D
CONTAINER = 0xF  # version of a record that holds records (section 2.3.1)
ENCRYPTED = 0xF3D1C4DF  # token in "Current User" (section 2.3.2)
HIDDEN = 0x0004  # flag of a slide in a show (section 2.6.6)
RECORDS = 300_000
EDITS = 1_000
BULLET = 0x1  # bit of a paragraph's mask, and of its flags
NOTES_TEXT = 2  # kind of a text
DEEPEST = 8  # groups in groups
SLIDES_LIST, NOTES_LIST = 0, 2  # instances of lists (sections 2.4.14)
# Sizes of what a paragraph's exception holds, by the bit of its mask; those of tab stops vary (section 2.9.20).
FLAGS, TABS, WRAPS = 0x0000000F, 0x00100000, 0x000E0000
FIXED = {
    0x80: 2, 0x10: 2, 0x40: 2, 0x20: 4, 0x800: 2, 0x1000: 2, 0x2000: 2, 0x4000: 2, 0x100: 2, 0x400: 2, 0x8000: 2,
}  # fmt: skip
BEHIND = {0x10000: 2, 0x200000: 2}


@dataclass(frozen=True, slots=True)
class Record:
    """A record: its kind, and where its content stands."""

    kind: int
    instance: int
    holds: bool
    start: int
    end: int


@dataclass
class Text:
    """Characters of one kind: 0 and 6 are titles, 1, 7 and 8 bodies.

    `looks` are those of its paragraphs: how deep each is set in, and whether it has a bullet, None if its master tells.
    """

    kind: int = 4
    characters: str = ""
    looks: list[tuple[int, bool | None]] = field(default_factory=list)


@dataclass
class Shape:
    """Text with its place, or the cells of a table with theirs: left, top, right and bottom."""

    text: Text
    cells: list[tuple[str, tuple[int, int, int, int]]] = field(default_factory=list)


@dataclass
class Slide:
    """What stands on one slide, in the order of the file."""

    shapes: list[Shape]
    hidden: bool = False
    notes: str = ""


class Show:
    """A presentation.

    Raises:
        BrokenCompound, struct.error, ValueError: at once or when slides are read.
    """

    def __init__(self, files: Compound) -> None:
        self._data = files.read("PowerPoint Document")
        user = files.read("Current User")
        token, edit = struct.unpack_from("<LL", user, 12)
        self.encrypted = token == ENCRYPTED
        self._left = RECORDS
        self._places = {} if self.encrypted else self._persisted(edit)

    def slides(self) -> Iterator[Slide]:
        """The slides in the order in which they are shown."""
        listed, notes = self._listed(SLIDES_LIST), self._notes()
        for place, identity, texts in listed:
            record = self._at(place)
            if record is None or record.kind != SLIDE:
                continue
            parts = list(self._records(record.start, record.end))
            shown = next((each for each in parts if each.kind == SHOWN), None)
            hidden = shown is not None and bool(struct.unpack_from("<H", self._data, shown.start + 10)[0] & HIDDEN)
            shapes = [shape for each in parts if each.kind == DRAWING for shape in self._drawn(each, texts)]
            if not shapes:  # what only stands in the outline
                shapes = [Shape(text) for text in texts]
            yield Slide(shapes, hidden, notes.get(identity, ""))

    def count(self) -> int:
        """How many slides there are."""
        return len(self._listed(SLIDES_LIST))

    def _persisted(self, edit: int) -> dict[int, int]:
        """Where each object stands; of several edits the last one tells (section 2.1.2)."""
        found: dict[int, int] = {}
        self._document = 0
        for _ in range(EDITS):
            record = self._record(edit)
            if record is None or record.kind != EDIT:
                raise BrokenCompound("its last edit is missing")
            before, directory, document = struct.unpack_from("<LLL", self._data, record.start + 8)
            self._document = self._document or document
            for identity, place in self._directory(directory):
                found.setdefault(identity, place)
            if not before or before >= edit:
                break
            edit = before
        return found

    def _directory(self, at: int) -> Iterator[tuple[int, int]]:
        record = self._record(at)
        if record is None or record.kind != PLACES:
            return
        at = record.start
        while at + 4 <= record.end:
            head = struct.unpack_from("<L", self._data, at)[0]
            first, count = head & 0xFFFFF, min(head >> 20, (record.end - at) // 4 - 1)
            for number, place in enumerate(struct.unpack_from(f"<{count}L", self._data, at + 4)):
                yield first + number, place
            at += 4 + 4 * count

    def _listed(self, instance: int) -> list[tuple[int, int, list[Text]]]:
        """Of each slide the number of its object, its identity, and the texts that the outline holds."""
        document = self._at(self._document)
        if document is None or document.kind != DOCUMENT:
            raise BrokenCompound("its document is missing")
        found: list[tuple[int, int, list[Text]]] = []
        for part in self._records(document.start, document.end):
            if part.kind != LIST or part.instance != instance:
                continue
            pending: list[Record] = []
            for each in [*self._records(part.start, part.end), None]:
                if each is not None and each.kind != PERSIST:
                    pending.append(each)
                    continue
                if found:
                    found[-1][2].extend(self._texts(pending))
                pending = []
                if each is not None:
                    number, identity = struct.unpack_from("<L8xL", self._data, each.start)
                    found.append((number, identity, []))
        return found

    def _notes(self) -> dict[int, str]:
        """The speaker's notes by the identity of their slide."""
        found: dict[int, str] = {}
        for number, _, _ in self._listed(NOTES_LIST):
            record = self._at(number)
            if record is None or record.kind != NOTES:
                continue
            parts = list(self._records(record.start, record.end))
            slide = next((struct.unpack_from("<L", self._data, e.start)[0] for e in parts if e.kind == NOTES_ATOM), 0)
            shapes = [shape for each in parts if each.kind == DRAWING for shape in self._drawn(each, [])]
            found[slide] = "\r".join(shape.text.characters for shape in shapes if shape.text.kind == NOTES_TEXT)
        return found

    def _drawn(self, record: Record, outline: list[Text]) -> Iterator[Shape]:
        """The texts of a drawing; those of a group whose shapes make a grid as the cells of a table."""
        for part in self._records(record.start, record.end):
            for group in self._records(part.start, part.end) if part.holds else ():
                if group.kind == GROUP:
                    yield from self._grouped(group, outline, 0)

    def _grouped(self, group: Record, outline: list[Text], depth: int) -> Iterator[Shape]:
        cells: list[tuple[Text, tuple[int, int, int, int]]] = []
        for each in self._records(group.start, group.end):
            if each.kind == GROUP and depth < DEEPEST:
                yield from self._grouped(each, outline, depth + 1)
            elif each.kind == SHAPE:
                text, box = self._shape(each, outline)
                if box is not None and depth:
                    cells.append((text or Text(), box))
                elif text and text.characters.strip():
                    yield Shape(text)
        if is_grid([box for text, box in cells if text.characters.strip()]):
            yield Shape(Text(), [(text.characters, box) for text, box in cells if text.characters.strip()])
        else:
            yield from (Shape(text) for text, _ in cells if text.characters.strip())

    def _shape(self, shape: Record, outline: list[Text]) -> tuple[Text | None, tuple[int, int, int, int] | None]:
        text, box = None, None
        for part in self._records(shape.start, shape.end):
            if part.kind == ANCHOR and part.end - part.start >= 16:
                box = struct.unpack_from("<4l", self._data, part.start)
            elif part.kind == TEXT_BOX:
                inside = list(self._records(part.start, part.end))
                text = next(iter(self._texts(inside)), None)
                for each in inside:
                    if each.kind == OUTLINE:
                        at = struct.unpack_from("<L", self._data, each.start)[0]
                        text = outline[at] if at < len(outline) else text
        return text, box

    def _texts(self, records: list[Record]) -> list[Text]:
        """The texts that these records tell: a head, characters, and how they look."""
        found: list[Text] = []
        for each in records:
            body = self._data[each.start : each.end]
            if each.kind == HEADER:
                found.append(Text(struct.unpack_from("<L", body)[0]))
            elif each.kind in (CHARS, BYTES):
                found = found or [Text()]
                found[-1].characters = body.decode("utf-16-le" if each.kind == CHARS else "latin-1", "replace")
            elif each.kind == STYLES and found:
                found[-1].looks = _looks(body, found[-1].characters)
        return found

    def _at(self, identity: int) -> Record | None:
        return self._record(self._places[identity]) if identity in self._places else None

    def _record(self, at: int) -> Record | None:
        if at + 8 > len(self._data):
            return None
        head, kind, size = struct.unpack_from("<HHL", self._data, at)
        return Record(kind, head >> 4, head & 0xF == CONTAINER, at + 8, min(at + 8 + size, len(self._data)))

    def _records(self, at: int, end: int) -> Iterator[Record]:
        while at + 8 <= end and (record := self._record(at)):
            self._left -= 1
            if self._left < 0:
                raise BrokenCompound("it holds too many parts")
            yield Record(record.kind, record.instance, record.holds, record.start, min(record.end, end))
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


def _looks(body: bytes, characters: str) -> list[tuple[int, bool | None]]:
    """How deep each paragraph is set in and whether it has a bullet, as far as it is told (sections 2.9.45, 2.9.20)."""
    looks: list[tuple[int, bool | None]] = []
    at = place = 0
    ends = [index for index, letter in enumerate(characters + "\r") if letter == "\r"]
    while at + 12 <= len(body) and place <= len(characters):
        count, level, mask, flags = struct.unpack_from("<LHLH", body, at)
        look = min(level, 8), bool(flags & BULLET) if mask & BULLET else None
        looks += [look for end in ends if place <= end < place + count]
        at, place = at + 10 + _size(body, at + 10, mask), place + count
        if not count:
            break
    return looks


def _size(body: bytes, at: int, mask: int) -> int:
    """The bytes that a paragraph's exception takes behind its mask."""
    size = 2 * bool(mask & FLAGS) + sum(each for bit, each in FIXED.items() if mask & bit)
    if mask & TABS:
        size += 2 + 4 * (struct.unpack_from("<H", body, at + size)[0] if at + size + 2 <= len(body) else 0)
    return size + 2 * bool(mask & WRAPS) + sum(each for bit, each in BEHIND.items() if mask & bit)
