"""Readers, which turn bodies into documents."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from outrider.pages.document import Document
from outrider.pages.mime.charset import decode_body

NUL_RUN = re.compile("\0{2,}")
READ_TIME_SHARE = 0.7  # of a document's time, after which the pages read so far are returned


@dataclass(frozen=True)
class ReaderInput:
    """The input of a reader.

    Attributes:
        body: The bytes.
        url: Their address, the base of relative links.
        content_type: The MIME type, already sniffed.
        charset: As the transport declared it.
        main: Whether to leave out what surrounds the main content.
        max_chars: Characters to read at most.
        max_tags: Tags of markup to read at most.
        max_pages: Pages of a paged document to read at most.
        first_page: The number of the page at which to start a PDF.
        file: The name of the file to read from an archive; empty for a list of its files.
        time_limit_s: Seconds after which a paged document is returned with the pages read so far.
        read_nested: Reads a file inside this one; without it such files are only listed.
        links: How to write links in the Markdown of a web page: `inline`, as `references` at its end, or `none`.
        images: Whether the Markdown of a web page shows images that have a text of their own.
    """

    body: bytes
    url: str = ""
    content_type: str = ""
    charset: str | None = None
    main: bool = True
    max_chars: int = 5_000_000
    max_tags: int = 100_000
    max_pages: int = 500
    first_page: int = 1
    file: str = ""
    time_limit_s: float = math.inf
    read_nested: "Callable[[ReaderInput], Document] | None" = None
    links: Literal["inline", "references", "none"] = "inline"
    images: bool = False

    @cached_property
    def text(self) -> str:
        """The body decoded, at most `max_chars` characters."""
        markup = not self.content_type.startswith(("text/plain", "application/json"))
        text = ""
        if len(self.body) > self.max_chars and self.body[: self.max_chars].isascii():  # one letter per byte
            text = decode_body(self.body[: self.max_chars], self.charset, markup=markup)[0]
        if len(text) < self.max_chars:
            text = decode_body(self.body[: self.max_chars * 4], self.charset, markup=markup)[0][: self.max_chars]
        # Each would become a replacement character of three bytes before it is dropped.
        return NUL_RUN.sub("\0", text) if "\0\0" in text else text

    @property
    def is_cut(self) -> bool:
        """Whether the body is longer than `text`."""
        return len(self.body) > self.max_chars and (
            len(self.body) > self.max_chars * 4 or len(self.text) == self.max_chars
        )


@dataclass(frozen=True)
class DocumentReader:
    """A reader for some document types.

    Args:
        name: Its name, which becomes the kind of its documents, except for web pages.
        types: The MIME types that it reads; `*` is a wildcard.
        read: Builds the document. Raises OutriderError only.
        suffixes: Path suffixes that it reads if the type is only known to be text.
        isolated: Whether to run it in its own process, because it may crash or cannot be stopped; then `read` must be
            a module-level function.
        needs_whole_body: Whether a body cannot be read at all if its end is missing.
        has_fragments: Whether an address may name a part of its documents, a page or a file (`fragment.py`).
        rank: Readers with lower ranks are asked first.
    """

    name: str
    types: tuple[str, ...]
    read: Callable[[ReaderInput], Document]
    suffixes: tuple[str, ...] = ()
    isolated: bool = False
    needs_whole_body: bool = False
    has_fragments: bool = False
    rank: int = 50

    def can_read(self, mime: str) -> bool:
        """Return whether the MIME type is one of its types."""
        return any(fnmatchcase(mime, pattern) for pattern in self.types)


def format_size(size: int) -> str:
    """Format a number of bytes, for instance `1.5 MB`."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
