"""Preview texts in parts of bounded size."""

from dataclasses import dataclass

from markupsafe import escape

from outrider.core.errors import InvalidInput, OutriderError
from outrider.dashboard.files import ServedFile, detect_picture_type
from outrider.pages.local_file import read_body
from outrider.pages.mime.sniff import SNIFF_BYTES, detect_mime_type
from outrider.workspace.encoding import decode_text

MAX_PART_HTML_BYTES = 90_000  # bytes of HTML, so that a page stays below 200 KB
MARKUP_TYPES = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml", "application/xml", "text/xml"})


@dataclass(frozen=True)
class TextPart:
    """Characters `start` to `stop` of `total`; `before` and `after` start the adjacent parts."""

    text: str
    start: int
    stop: int
    total: int

    @property
    def after(self) -> int | None:
        """The start of the next part."""
        return self.stop if self.stop < self.total else None


def cut_part(text: str, start: int = 0, max_html_bytes: int = MAX_PART_HTML_BYTES) -> TextPart:
    """Return the text from `start` that fits a limit of HTML bytes.

    It ends at a line if possible.
    """
    start = min(max(start, 0), len(text))
    rest = text[start : start + max_html_bytes]
    low, high = 0, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure_html_bytes(rest[:middle]) <= max_html_bytes else (low, middle - 1)
    line = rest.rfind("\n", low // 2, low) + 1
    stop = start + (line if line and start + low < len(text) else low)
    return TextPart(text[start:stop], start, stop, len(text))


def measure_html_bytes(text: str) -> int:
    """Return the size of a text as HTML."""
    return len(str(escape(text)).encode("utf-8", "replace"))


@dataclass(frozen=True)
class FilePreview:
    """The visible part of a file.

    Attributes:
        type: The type detected from its bytes.
        picture: Whether it can be shown as a picture.
        part: The shown part of its text; None without text to show.
        is_markup: Whether the text is markup, from which a reader could extract the text proper.
        cut: Whether only its beginning was read.
        trouble: Why the requested text could not be extracted.
    """

    type: str
    picture: bool = False
    part: TextPart | None = None
    is_markup: bool = False
    cut: bool = False
    trouble: str = ""


async def preview_file(file: ServedFile, start: int, *, extracted: bool) -> FilePreview:
    """Preview a file; `extracted` shows the text that a reader extracts from it."""
    max_preview_bytes = 2_000_000  # bytes to show; for the rest, people download the file
    head = await file.read(0, SNIFF_BYTES)
    kind = detect_mime_type(file.mime_type if file.mime_type.startswith("text/") else "", head, file.name)
    if detect_picture_type(head):
        return FilePreview(kind, picture=True)
    if extracted:
        max_document_bytes = 20_000_000  # bytes of a document to extract the text from
        if file.size > max_document_bytes:
            return FilePreview(kind, trouble="It is too large to show here; save it.")
        try:
            document, _ = await read_body(await file.read(0, file.size), name=file.name)
        except OutriderError as error:
            return FilePreview(kind, trouble=f"{error.message}. {error.hint}".strip())
        return FilePreview(kind, part=cut_part(document.markdown, start), is_markup=kind in MARKUP_TYPES)
    try:
        text, _ = decode_text(await file.read(0, max_preview_bytes))
    except InvalidInput:
        return FilePreview(kind)
    return FilePreview(
        kind, part=cut_part(text, start), is_markup=kind in MARKUP_TYPES, cut=file.size > max_preview_bytes
    )


def parse_start(text: str) -> int:
    """Parse the start of a part from a URL.

    An invalid number means 0.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
