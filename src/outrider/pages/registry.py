"""Which reader reads what, and what to say where none does."""

from fnmatch import fnmatchcase
from functools import lru_cache

from outrider.core.discovery import find
from outrider.core.errors import Refused
from outrider.pages import readers as folder
from outrider.pages.document import Document
from outrider.pages.reader import Reader, Source, size_of
from outrider.pages.sniffing.sniff import is_textual, suffix_of

GROUP = "outrider.readers"
ARCHIVE = ("an archive", "unpack it and read its files one by one, or look for them as pages")
DATA = ("a file of data", "read it with code, or look for a CSV or JSON version of it")
PROGRAM = ("a program", "look for its source or its documentation")
OFFICE = ("an Office document", "look for an HTML or PDF version of it")
TEXT = 32  # bytes from which a text that has a binary document's suffix is read as text
FAMILIES = (  # pattern; then what a person calls it and what to do instead: the first that fits
    ("image/*", ("an image", "save it as an image instead of reading it")),
    ("audio/*", ("audio", "look for a transcript of it")),
    ("video/*", ("a video", "look for a transcript or a description of it")),
    ("application/ogg", ("audio or video", "look for a transcript of it")),
    ("font/*", ("a font", "choose another address")),
    ("application/msword", OFFICE),
    ("application/*officedocument*", OFFICE),
    ("application/*opendocument*", OFFICE),
    ("application/vnd.ms-[!h]*", OFFICE),
    ("application/x-ole-storage", OFFICE),
    ("application/x-mobipocket-ebook", ("a Kindle e-book", "look for an EPUB or PDF version of it")),
    ("application/vnd.djvu", ("a DjVu scan", "look for a PDF version of it")),
    ("application/postscript", ("a PostScript file", "look for a PDF of it, or make one with `ps2pdf`")),
    ("application/vnd.ms-htmlhelp", ("a Windows help file", "look for an HTML or PDF version of it")),
    ("application/x-bittorrent", ("a torrent", "look for the file itself")),
    ("application/vnd.apache.parquet", DATA),
    ("application/x-hdf5", DATA),
    ("application/x-numpy", DATA),
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
            if suffix in reader.suffixes and not (_is_binary(reader, suffix) and size >= TEXT):
                return reader
    for reader in readers():
        if reader.reads(mime):
            return reader
    if is_textual(mime):
        return next(reader for reader in readers() if reader.reads("text/plain"))
    raise unreadable(mime, url, size)


def read_within(source: Source) -> Document:
    """A file that another one holds, by the reader of its own type; in the place where that is called."""
    return reader_for(source.content_type, source.url, len(source.body), images=True).read(source)


def _is_binary(reader: Reader, suffix: str) -> bool:
    """Whether files of that suffix are never text; OpenDocument knows some that are (`.fodt`)."""
    return reader.whole and not suffix.startswith(".fod")


def needs_whole(mime: str) -> bool:
    """Whether a body of that type says nothing if its end is missing."""
    return any(reader.whole for reader in readers() if reader.reads(mime))


def has_places(mime: str) -> bool:
    """Whether an address may name a place in documents of that type."""
    return any(reader.places for reader in readers() if reader.reads(mime))


def unreadable(mime: str, url: str, size: int) -> Refused:
    """The error for a type that nothing reads."""
    name, hint = _family(mime)
    return Refused(
        f"{url or 'this'} is {name} ({mime or 'unknown type'}, {size_of(size)}), which cannot be read as text",
        code="image" if mime.startswith("image/") else "unreadable_type",
        hint=hint,
        details={"content_type": mime, "size": size},
    )


def told(mime: str, url: str = "", size: int = 0) -> tuple[str, str]:
    """What a type is in words, and what to do with it; the second is empty for what there is a reader for."""
    try:
        reader = reader_for(mime, url, size)
    except Refused as refused:
        name, _ = _family(mime)
        return f"{name} ({mime or 'unknown type'}, {size_of(size)})", refused.hint
    kind = "a web page" if reader.name == "html" else f"a document of the kind {reader.name}"
    return f"{kind} ({mime}, {size_of(size)})", ""


def _family(mime: str) -> tuple[str, str]:
    return next(family for pattern, family in FAMILIES if fnmatchcase(mime, pattern))
