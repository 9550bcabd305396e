"""Choose the reader for a document type, or explain its absence."""

from fnmatch import fnmatchcase
from functools import lru_cache

from outrider.core.discovery import discover_instances
from outrider.core.errors import Refused
from outrider.pages import readers as folder
from outrider.pages.document import Document
from outrider.pages.mime.sniff import get_suffix, is_textual
from outrider.pages.reader import DocumentReader, ReaderInput, format_size

ARCHIVE_ADVICE = ("an archive", "unpack it and read its files one by one, or look for them as pages")
DATA_ADVICE = ("a file of data", "read it with code, or look for a CSV or JSON version of it")
PROGRAM_ADVICE = ("a program", "look for its source or its documentation")
OFFICE_ADVICE = ("an Office document", "look for an HTML or PDF version of it")
TYPE_FAMILIES = (  # pattern, then a name for people and what to do instead; the first match counts
    ("image/*", ("an image", "save it as an image instead of reading it")),
    ("audio/*", ("audio", "look for a transcript of it")),
    ("video/*", ("a video", "look for a transcript or a description of it")),
    ("application/ogg", ("audio or video", "look for a transcript of it")),
    ("font/*", ("a font", "choose another address")),
    ("application/msword", OFFICE_ADVICE),
    ("application/*officedocument*", OFFICE_ADVICE),
    ("application/*opendocument*", OFFICE_ADVICE),
    ("application/vnd.ms-[!h]*", OFFICE_ADVICE),
    ("application/x-ole-storage", OFFICE_ADVICE),
    ("application/x-mobipocket-ebook", ("a Kindle e-book", "look for an EPUB or PDF version of it")),
    ("application/vnd.djvu", ("a DjVu scan", "look for a PDF version of it")),
    ("application/postscript", ("a PostScript file", "look for a PDF of it, or make one with `ps2pdf`")),
    ("application/vnd.ms-htmlhelp", ("a Windows help file", "look for an HTML or PDF version of it")),
    ("application/x-bittorrent", ("a torrent", "look for the file itself")),
    ("application/vnd.apache.parquet", DATA_ADVICE),
    ("application/x-hdf5", DATA_ADVICE),
    ("application/x-numpy", DATA_ADVICE),
    ("application/x-sqlite3", ("a SQLite database", "read it with code, or look for a CSV or JSON version of it")),
    ("application/*zip*", ARCHIVE_ADVICE),
    ("application/*tar*", ARCHIVE_ADVICE),
    ("application/*compressed*", ARCHIVE_ADVICE),
    ("application/x-xz", ARCHIVE_ADVICE),
    ("application/zstd", ARCHIVE_ADVICE),
    ("application/wasm", PROGRAM_ADVICE),
    ("application/x-executable", PROGRAM_ADVICE),
    ("application/java*", PROGRAM_ADVICE),
    ("*", ("binary data", "look for an HTML, PDF or text version of it")),
)


@lru_cache(maxsize=1)
def load_readers() -> list[DocumentReader]:
    """Return all readers in the order in which they are asked."""
    entry_point_group = "outrider.readers"
    return sorted(discover_instances(folder, DocumentReader, group=entry_point_group), key=lambda reader: reader.rank)


def find_reader(mime: str, url: str = "", size: int = 0, *, images: bool = False) -> DocumentReader:
    """Return the reader for a type.

    Args:
        mime: The sniffed MIME type.
        url: The address; its suffix decides between kinds of text.
        size: Bytes, for the error.
        images: Whether images are read too, for their metadata.

    Raises:
        Refused: code `unreadable_type`, or `image` for images; with its type and size, and what to do instead.
    """
    min_text_bytes = 32  # a shorter text with the suffix of a binary format is a broken file of that format
    if mime.startswith("image/") and not images:
        raise build_unreadable_error(mime, url, size)
    suffix = get_suffix(url)
    if mime == "text/plain" and suffix:
        for reader in load_readers():
            # Formats that need their whole body are binary, except for flat OpenDocument such as `.fodt`.
            is_binary = reader.needs_whole_body and not suffix.startswith(".fod")
            if suffix in reader.suffixes and not (is_binary and size >= min_text_bytes):
                return reader
    for reader in load_readers():
        if reader.can_read(mime):
            return reader
    if is_textual(mime):
        return next(reader for reader in load_readers() if reader.can_read("text/plain"))
    raise build_unreadable_error(mime, url, size)


def read_nested(source: ReaderInput) -> Document:
    """Read a file inside another with the reader for its type.

    It is read in the same thread or process.
    """
    return find_reader(source.content_type, source.url, len(source.body), images=True).read(source)


def is_whole_body_needed(mime: str) -> bool:
    """Return whether a body of that type cannot be read if its end is missing."""
    return any(reader.needs_whole_body for reader in load_readers() if reader.can_read(mime))


def has_fragments(mime: str) -> bool:
    """Return whether an address may name a part of documents of that type."""
    return any(reader.has_fragments for reader in load_readers() if reader.can_read(mime))


def build_unreadable_error(mime: str, url: str, size: int) -> Refused:
    """Return the error for a type without a reader."""
    name, hint = _find_family(mime)
    return Refused(
        f"{url or 'this'} is {name} ({mime or 'unknown type'}, {format_size(size)}), which cannot be read as text",
        code="image" if mime.startswith("image/") else "unreadable_type",
        hint=hint,
        details={"content_type": mime, "size": size},
    )


def describe_type(mime: str, url: str = "", size: int = 0) -> tuple[str, str]:
    """Return a type in words, and what to do with it; the latter is empty for types with a reader."""
    try:
        reader = find_reader(mime, url, size)
    except Refused as refused:
        name, _ = _find_family(mime)
        return f"{name} ({mime or 'unknown type'}, {format_size(size)})", refused.hint
    kind = "a web page" if reader.name == "html" else f"a document of type {reader.name}"
    return f"{kind} ({mime}, {format_size(size)})", ""


def _find_family(mime: str) -> tuple[str, str]:
    return next(family for pattern, family in TYPE_FAMILIES if fnmatchcase(mime, pattern))
