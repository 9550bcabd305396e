"""Which reader reads what, and what to say where none does."""

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
TYPE_FAMILIES = (  # pattern; then what a person calls it and what to do instead: the first that fits
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
    """All readers that were found, in the order in which they are asked."""
    entry_point_group = "outrider.readers"
    return sorted(discover_instances(folder, DocumentReader, group=entry_point_group), key=lambda reader: reader.rank)


def find_reader(mime: str, url: str = "", size: int = 0, *, images: bool = False) -> DocumentReader:
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
    min_text_bytes = 32  # bytes from which a text that has a binary document's suffix is read as text
    if mime.startswith("image/") and not images:
        raise build_unreadable_error(mime, url, size)
    suffix = get_suffix(url)
    if mime == "text/plain" and suffix:
        for reader in load_readers():
            if suffix in reader.suffixes and not (_is_binary(reader, suffix) and size >= min_text_bytes):
                return reader
    for reader in load_readers():
        if reader.can_read(mime):
            return reader
    if is_textual(mime):
        return next(reader for reader in load_readers() if reader.can_read("text/plain"))
    raise build_unreadable_error(mime, url, size)


def read_nested(source: ReaderInput) -> Document:
    """A file that another one holds, by the reader of its own type; in the place where that is called."""
    return find_reader(source.content_type, source.url, len(source.body), images=True).read(source)


def _is_binary(reader: DocumentReader, suffix: str) -> bool:
    """Whether files of that suffix are never text; OpenDocument knows some that are (`.fodt`)."""
    return reader.needs_whole_body and not suffix.startswith(".fod")


def is_whole_body_needed(mime: str) -> bool:
    """Whether a body of that type says nothing if its end is missing."""
    return any(reader.needs_whole_body for reader in load_readers() if reader.can_read(mime))


def has_fragments(mime: str) -> bool:
    """Whether an address may name a place in documents of that type."""
    return any(reader.has_fragments for reader in load_readers() if reader.can_read(mime))


def build_unreadable_error(mime: str, url: str, size: int) -> Refused:
    """The error for a type that nothing reads."""
    name, hint = _find_family(mime)
    return Refused(
        f"{url or 'this'} is {name} ({mime or 'unknown type'}, {format_size(size)}), which cannot be read as text",
        code="image" if mime.startswith("image/") else "unreadable_type",
        hint=hint,
        details={"content_type": mime, "size": size},
    )


def describe_type(mime: str, url: str = "", size: int = 0) -> tuple[str, str]:
    """What a type is in words, and what to do with it; the second is empty for what there is a reader for."""
    try:
        reader = find_reader(mime, url, size)
    except Refused as refused:
        name, _ = _find_family(mime)
        return f"{name} ({mime or 'unknown type'}, {format_size(size)})", refused.hint
    kind = "a web page" if reader.name == "html" else f"a document of the kind {reader.name}"
    return f"{kind} ({mime}, {format_size(size)})", ""


def _find_family(mime: str) -> tuple[str, str]:
    return next(family for pattern, family in TYPE_FAMILIES if fnmatchcase(mime, pattern))
