"""Texts for looking at: in parts that make no page heavier than it should be, whatever they are made of."""

from dataclasses import dataclass

from markupsafe import escape

from outrider.core.errors import InvalidInput, OutriderError
from outrider.dashboard.files import Served, picture_type
from outrider.pages.local import read_body
from outrider.pages.sniffing.sniff import HEAD, sniff
from outrider.workspace.encoding import decode

READ = 2_000_000  # bytes that are opened for looking; the rest is for those who save the file
WEIGHT = 90_000  # bytes of HTML that a part may become: a page stays below 200 KB
EXTRACTED = 20_000_000  # bytes of a document that is read for its text
MARKUP = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml", "application/xml", "text/xml"})


@dataclass(frozen=True)
class Part:
    """Characters `start` to `stop` of a text of `total`; `before` and `after` are the starts of the parts beside it."""

    text: str
    start: int
    stop: int
    total: int

    @property
    def after(self) -> int | None:
        """Where the next part begins."""
        return self.stop if self.stop < self.total else None


def part_of(text: str, start: int = 0, weight: int = WEIGHT) -> Part:
    """As much of the text from `start` on as makes at most so many bytes of HTML; at its end a whole line if it can."""
    start = min(max(start, 0), len(text))
    rest = text[start : start + weight]
    low, high = 0, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if weight_of(rest[:middle]) <= weight else (low, middle - 1)
    line = rest.rfind("\n", low // 2, low) + 1
    stop = start + (line if line and start + low < len(text) else low)
    return Part(text[start:stop], start, stop, len(text))


def weight_of(text: str) -> int:
    """How many bytes a text is as HTML."""
    return len(str(escape(text)).encode("utf-8", "replace"))


@dataclass(frozen=True)
class Look:
    """What can be seen of a file.

    Attributes:
        type: What its bytes are.
        picture: Whether it can be shown as one.
        part: Of its text; None where there is none to show.
        is_markup: Whether the text is the source of something that has a text of its own.
        cut: Whether only its beginning was opened.
        trouble: Why no text could be had though it was asked for.
    """

    type: str
    picture: bool = False
    part: Part | None = None
    is_markup: bool = False
    cut: bool = False
    trouble: str = ""


async def look(file: Served, start: int, *, extracted: bool) -> Look:
    """A file as a person may look at it; `extracted` asks for the text that a reader finds in it."""
    head = await file.read(0, HEAD)
    kind = sniff(file.mime_type if file.mime_type.startswith("text/") else "", head, file.name)
    if picture_type(head):
        return Look(kind, picture=True)
    if extracted:
        return await _extracted(file, kind, start)
    try:
        text, _ = decode(await file.read(0, READ))
    except InvalidInput:
        return Look(kind)
    return Look(kind, part=part_of(text, start), is_markup=kind in MARKUP, cut=file.size > READ)


async def _extracted(file: Served, kind: str, start: int) -> Look:
    if file.size > EXTRACTED:
        return Look(kind, trouble="It is too large to be read here; save it.")
    try:
        document, _ = await read_body(await file.read(0, file.size), name=file.name)
    except OutriderError as error:
        return Look(kind, trouble=f"{error.message}. {error.hint}".strip())
    return Look(kind, part=part_of(document.markdown, start), is_markup=kind in MARKUP)


def start_of(text: str) -> int:
    """Where a part shall begin, as an address says it; 0 for what is no number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
