"""Which reader reads what, and what to say where none does."""

from fnmatch import fnmatchcase
from functools import lru_cache

from outrider.core.discovery import find
from outrider.core.errors import Refused
from outrider.pages import readers as folder
from outrider.pages.reader import Reader
from outrider.pages.sniff import is_textual, suffix_of

GROUP = "outrider.readers"
ARCHIVE = ("an archive", "look for the files in it one by one, as pages")
PROGRAM = ("a program", "look for its source or its documentation")
OFFICE = ("an Office document", "look for an HTML or PDF version of it")
FAMILIES = (  # pattern; then what a person calls it and what to do instead: the first that fits
    ("image/*", ("an image", "save it as an image instead of reading it")),
    ("audio/*", ("audio", "look for a transcript of it")),
    ("video/*", ("a video", "look for a transcript or a description of it")),
    ("application/ogg", ("audio or video", "look for a transcript of it")),
    ("font/*", ("a font", "choose another address")),
    ("application/msword", OFFICE),
    ("application/*officedocument*", OFFICE),
    ("application/*opendocument*", OFFICE),
    ("application/vnd.ms-*", OFFICE),
    ("application/x-ole-storage", OFFICE),
    ("application/*zip*", ARCHIVE),
    ("application/*tar*", ARCHIVE),
    ("application/*compressed*", ARCHIVE),
    ("application/x-xz", ARCHIVE),
    ("application/zstd", ARCHIVE),
    ("application/wasm", PROGRAM),
    ("application/x-executable", PROGRAM),
    ("application/java*", PROGRAM),
    ("*", ("binary data", "look for an HTML, PDF or text version of it")),
)


@lru_cache(maxsize=1)
def readers() -> list[Reader]:
    """All readers that were found, in the order in which they are asked."""
    return sorted(find(folder, Reader, group=GROUP), key=lambda reader: reader.rank)


def reader_for(mime: str, url: str = "", size: int = 0, *, images: bool = False) -> Reader:
    """The reader for a type.

    Args:
        mime: The type, sniffed.
        url: Where it came from; its suffix decides between kinds of text.
        size: Its bytes, for the error.
        images: Whether pictures are read too, for what is noted in them.

    Raises:
        Refused: code `unreadable_type`, for pictures `image`; says what it is, how large, and what
            to do instead.
    """
    if mime.startswith("image/") and not images:
        raise unreadable(mime, url, size)
    suffix = suffix_of(url)
    if mime == "text/plain" and suffix:
        for reader in readers():
            if suffix in reader.suffixes:
                return reader
    for reader in readers():
        if reader.reads(mime):
            return reader
    if is_textual(mime):
        return next(reader for reader in readers() if reader.reads("text/plain"))
    raise unreadable(mime, url, size)


def needs_whole(mime: str) -> bool:
    """Whether a body of that type says nothing if its end is missing."""
    return any(reader.whole for reader in readers() if reader.reads(mime))


def unreadable(mime: str, url: str, size: int) -> Refused:
    """The error for a type that nothing reads."""
    name, hint = next(family for pattern, family in FAMILIES if fnmatchcase(mime, pattern))
    return Refused(
        f"{url or 'this'} is {name} ({mime or 'unknown type'}, {_size(size)}), which cannot be read as text",
        code="image" if mime.startswith("image/") else "unreadable_type",
        hint=hint,
        details={"content_type": mime, "size": size},
    )


def _size(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
