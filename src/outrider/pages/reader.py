"""What turns a body into a document."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from outrider.pages.document import Document
from outrider.pages.mime.charset import decode_body

READ_TIME_SHARE = 0.7  # of the time that a document has, in which a paged one is read as far as it goes


@dataclass(frozen=True)
class ReaderInput:
    """A body on its way to a reader.

    Attributes:
        body: The bytes.
        url: Where they came from; what relative links start from.
        content_type: The type, already sniffed.
        charset: What the transport declared.
        main: Whether to leave out what surrounds the main content.
        max_chars: How many characters may be looked at.
        max_tags: How many tags of markup may be looked at.
        max_pages: How many pages of a paged document may be looked at.
        first_page: The number of the page from which on a PDF is read.
        file: The name of the file that is wanted of an archive; empty for a list of them.
        time_limit_s: Time after which a paged document is given as far as it was read, or infinity.
        read_nested: Reads a file that this one holds; without it such files are only listed.
        links: How the Markdown of a web page writes them: `inline`, as `references` at its end, or `none`.
        images: Whether the Markdown of a web page shows pictures that have words of their own.
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
        """The body decoded, at most `chars` characters."""
        markup = not self.content_type.startswith(("text/plain", "application/json"))
        return decode_body(self.body[: self.max_chars * 4], self.charset, markup=markup)[0][: self.max_chars]

    @property
    def is_cut(self) -> bool:
        """Whether the body is longer than `text`."""
        return len(self.body) > self.max_chars and (
            len(self.body) > self.max_chars * 4 or len(self.text) == self.max_chars
        )


@dataclass(frozen=True)
class DocumentReader:
    """One way to read.

    Args:
        name: Its name, which becomes the documents' kind, but for web pages.
        types: MIME types it reads; `*` stands for anything.
        read: Makes the document. Raises OutriderError only.
        suffixes: Ends of a path that it reads where the type says no more than text.
        isolated: Whether to run it in a process of its own, because it may crash or cannot be stopped;
            `read` must be a function at the top of a module then.
        needs_whole_body: Whether a body whose end is missing cannot be read at all.
        has_fragments: Whether an address may name a place in its documents: a page, a file (`place.py`).
        rank: Which of several goes first, lower ones earlier.
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
        """Whether the type is one of ours."""
        return any(fnmatchcase(mime, pattern) for pattern in self.types)


def format_size(size: int) -> str:
    """A number of bytes in words."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
