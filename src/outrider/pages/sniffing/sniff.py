"""What a body is, whatever its server calls it: the essentials of mimesniff.spec.whatwg.org."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from outrider.pages.sniffing.charset import wide
from outrider.pages.sniffing.container import BARE_WORKBOOKS, OPENXML, WORKBOOK_2003, compound, zipped

COMPOUND = "application/x-ole-storage"
EXCEL = "application/vnd.ms-excel"
HEAD = 1_445  # bytes of a resource header (section 5.2)
BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # section 3: no text holds these
UNKNOWN = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown"})
BINARY_FAMILIES = ("audio/", "video/", "image/", "font/")
BINARY_TYPES = frozenset(
    {"application/pdf", "application/zip", "application/x-zip-compressed", "application/gzip", "application/x-gzip"}
)
XML_TYPES = frozenset({"text/xml", "application/xml"})
# Atomic groups: a comment that was passed is not looked at again, however many there are.
PROLOG = rb"\s*+(?>(?:<\?[^>]*+>|<!--.*?-->)\s*+)*+"
TYPED = rb"\s*+(?>(?:<\?[^>]*+>|<!--.*?-->|<!doctype[^>\[]*+>)\s*+)*+"
FLAGS = re.IGNORECASE | re.DOTALL
PAGE_START = re.compile(PROLOG + rb"<(?:!doctype\s+html|html)[\s>]", FLAGS)
HTML_START = re.compile(
    PROLOG + rb"<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)[\s/>]", FLAGS
)
FEED_START = re.compile(TYPED + rb"<(?:rss|feed|rdf:rdf)[\s>]", FLAGS)
ODF_START = re.compile(TYPED + rb"<office:document[\s>]", FLAGS)
JSON_START = re.compile(rb'\s*(?:\{\s*["}]|\[\s*(?:["\[{\]]|-?\d|(?:true|false|null)\b))')
JSON_FEED = b"//jsonfeed.org/version/"
ROOT_START = re.compile(
    TYPED + rb"<(?:\w{1,20}:)?(opml|urlset|sitemapindex|tt|fictionbook|workbook(?=[^>]{0,600}office:spreadsheet))[\s>]",
    FLAGS,
)
ROOTS = {
    b"opml": "text/x-opml", b"urlset": "application/sitemap+xml", b"sitemapindex": "application/sitemap+xml",
    b"tt": "application/ttml+xml", b"fictionbook": "application/x-fictionbook+xml", b"workbook": WORKBOOK_2003,
}  # fmt: skip
XML_START = re.compile(TYPED + rb"<[\w:.-]{1,80}[^<>]{0,900}\sxmlns(?::\w{1,40})?\s{0,9}=", FLAGS)
SSA_START = re.compile(rb"\s*\[Script Info\]", re.IGNORECASE)
SBV_START = re.compile(rb"\s*\d{1,2}:\d\d:\d\d\.\d{3},\d{1,2}:\d\d:\d\d\.\d{3}\r?\n")
SRT_START = re.compile(rb"\s*+\d{1,6}\r?\n\d{1,3}:\d\d:\d\d,\d{1,3} -->")
VTT_START = re.compile(rb"WEBVTT[ \t\r\n]")
# Two fields that every message has on its way, at the start of their lines; or a mailbox's mark before them.
MAIL_START = re.compile(
    rb"(?=[!-9;-~]{1,60}:)(?=.*?^(?:From|Received|Date|Return-Path):)(?=.*?^(?:Message-ID|MIME-Version|Received):)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
MBOX_START = re.compile(rb"From [^\n]{1,300}\d{4}[^\n]{0,20}\r?\n[!-9;-~]{1,60}:")
CALENDAR_START = re.compile(rb"\s*BEGIN:VCALENDAR\s", re.IGNORECASE)
CARD_START = re.compile(rb"\s*BEGIN:VCARD\s", re.IGNORECASE)
SVG_START = re.compile(TYPED + rb"<svg[\s>]", FLAGS)


@dataclass(frozen=True)
class Magic:
    """The first bytes of a type; `sure` when no text can begin so."""

    mime: str
    start: bytes
    at: int = 0
    sure: bool = True

    def fits(self, head: bytes) -> bool:
        return head.startswith(self.start, self.at) and (self.sure or BINARY.search(head) is not None)


MAGICS = (
    Magic("application/pdf", b"%PDF-"),
    Magic("application/rtf", b"{\\rtf"),
    Magic("image/png", b"\x89PNG\r\n\x1a\n"),
    Magic("image/jpeg", b"\xff\xd8\xff"),
    Magic("image/gif", b"GIF87a"),
    Magic("image/gif", b"GIF89a"),
    Magic("image/webp", b"WEBP", 8),
    Magic("image/bmp", b"BM", sure=False),
    Magic("image/x-icon", b"\x00\x00\x01\x00"),
    Magic("image/tiff", b"II*\x00"),
    Magic("image/tiff", b"MM\x00*"),
    Magic("image/avif", b"ftypavif", 4),
    Magic("image/avif", b"ftypavis", 4),
    Magic("image/heic", b"ftyphei", 4),
    Magic("image/heic", b"ftyphevc", 4),
    Magic("image/heif", b"ftypmif1", 4),
    Magic("image/heif", b"ftypmsf1", 4),
    Magic("image/jp2", b"\x00\x00\x00\x0cjP  "),
    Magic("image/jxl", b"\x00\x00\x00\x0cJXL "),
    Magic("application/gzip", b"\x1f\x8b\x08"),
    Magic("application/zip", b"PK\x03\x04"),
    Magic("application/zip", b"PK\x05\x06"),
    Magic("application/x-bzip2", b"BZh", sure=False),
    Magic("application/x-xz", b"\xfd7zXZ\x00"),
    Magic("application/zstd", b"\x28\xb5\x2f\xfd"),
    Magic("application/x-7z-compressed", b"7z\xbc\xaf\x27\x1c"),
    Magic("application/x-rar-compressed", b"Rar!\x1a\x07"),
    Magic("application/x-tar", b"ustar", 257, sure=False),
    Magic("application/wasm", b"\x00asm"),
    Magic("application/x-executable", b"\x7fELF"),
    Magic("application/x-executable", b"MZ", sure=False),
    Magic("application/x-executable", b"\xcf\xfa\xed\xfe"),
    Magic("application/java-vm", b"\xca\xfe\xba\xbe"),
    Magic("application/x-sqlite3", b"SQLite format 3\x00"),
    Magic("application/x-mobipocket-ebook", b"BOOKMOBI", 60),
    Magic("application/vnd.djvu", b"AT&TFORM"),
    Magic("application/postscript", b"%!PS-Adobe-"),
    Magic("application/vnd.ms-htmlhelp", b"ITSF", sure=False),
    Magic("application/x-bittorrent", b"d8:announce"),
    Magic("application/vnd.apache.parquet", b"PAR1", sure=False),
    Magic("application/x-hdf5", b"\x89HDF\r\n\x1a\n"),
    Magic("application/x-numpy", b"\x93NUMPY"),
    Magic("image/vnd.adobe.photoshop", b"8BPS\x00"),
    Magic("audio/mpeg", b"\xff\xfb", sure=False),
    Magic("audio/mpeg", b"\xff\xf3", sure=False),
    Magic("audio/midi", b"MThd\x00"),
    Magic(COMPOUND, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    *(Magic(EXCEL, start) for start in BARE_WORKBOOKS),
    Magic("font/woff", b"wOFF"),
    Magic("font/woff2", b"wOF2"),
    Magic("font/otf", b"OTTO"),
    Magic("font/ttf", b"\x00\x01\x00\x00\x00"),
    Magic("audio/mpeg", b"ID3", sure=False),
    Magic("audio/wave", b"WAVE", 8, sure=False),
    Magic("audio/flac", b"fLaC", sure=False),
    Magic("application/ogg", b"OggS\x00"),
    Magic("video/webm", b"\x1a\x45\xdf\xa3"),
    Magic("video/avi", b"AVI ", 8, sure=False),
    Magic("video/mp4", b"ftyp", 4, sure=False),
)
SUFFIXES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/jsonl",
    ".xml": "application/xml",
    ".html": "text/html",
    ".htm": "text/html",
    ".svg": "image/svg+xml",
    ".pdf": "application/pdf",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".rtf": "application/rtf",
    ".eml": "message/rfc822",
    ".mht": "message/rfc822",
    ".mhtml": "message/rfc822",
    ".mbox": "application/mbox",
    ".ipynb": "application/x-ipynb+json",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
    ".ass": "text/x-ssa",
    ".ssa": "text/x-ssa",
    ".sbv": "text/x-sbv",
    ".opml": "text/x-opml",
    ".xls": "text/csv",  # what programs export as text for spreadsheets
    ".tab": "text/tab-separated-values",
    ".log": "text/plain",
}
ZIPPED = {
    ".docx": f"{OPENXML}wordprocessingml.document",
    ".xlsx": f"{OPENXML}spreadsheetml.sheet",
    ".pptx": f"{OPENXML}presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".epub": "application/epub+zip",
}
PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".do", ".cfm"})
ALPHA_SUFFIX = re.compile(r"\.[a-z]{1,8}")
TAG = re.compile(rb"<[a-zA-Z!/]")
PLAIN_SUFFIXES = frozenset({".md", ".markdown", ".csv", ".tsv", ".jsonl", ".ndjson"})


def sniff(declared: str, body: bytes, url: str = "") -> str:
    """The MIME type that a body should be read as.

    Args:
        declared: The server's word in lower case; empty if it gave none.
        body: The body, or its beginning.
        url: Where it came from; its suffix decides between kinds of text only.
    """
    head = body[:HEAD]
    magic = magic_type(head)
    if magic == "application/zip":
        return zipped(body, suffix_of(url)) or (declared if _zipped(declared) else ZIPPED.get(suffix_of(url), magic))
    if magic == COMPOUND:
        return compound(body, declared, suffix_of(url)) or (declared if _office(declared) else magic)
    if magic:
        return magic
    if unmarked := wide(head):
        return _text_type(declared, head.decode(unmarked, "replace").encode(), url)
    if BINARY.search(head) and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return declared if _opaque(declared) else "application/octet-stream"
    return _text_type(declared, head, url)


def magic_type(head: bytes) -> str:
    """The type whose magic number a body begins with; empty if none does."""
    if b"%PDF-" in head[:1024] and not head.lstrip().startswith(b"<"):
        return "application/pdf"
    return next((magic.mime for magic in MAGICS if magic.fits(head)), "")


def is_svg(head: bytes) -> bool:
    """Whether a text begins as an SVG image does."""
    return SVG_START.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def suffix_of(url: str) -> str:
    """The lower-case suffix of an address's path, with its dot."""
    return PurePosixPath(urlsplit(url).path).suffix.lower()


def _zipped(declared: str) -> bool:
    return "officedocument" in declared or "opendocument" in declared or declared.endswith(("epub+zip", "java-archive"))


def _office(declared: str) -> bool:
    """Whether a type is one of an office program's binary files; servers give it to tables and pages as well."""
    return declared == "application/msword" or declared.startswith("application/vnd.ms-") or _zipped(declared)


def _never_text(declared: str) -> bool:
    """Whether a type is one whose files never are text, so that a text of that type is called wrongly."""
    if declared.endswith(("+xml", "-flat-xml")):
        return False
    return _office(declared) or declared.startswith(BINARY_FAMILIES) or declared in BINARY_TYPES


def _opaque(declared: str) -> bool:
    """Whether a type may well hold binary data."""
    return declared not in UNKNOWN and not is_textual(declared)


def is_textual(mime: str) -> bool:
    """Whether a type is text by its name."""
    return mime.startswith("text/") or mime.endswith(
        ("+xml", "+json", "/xml", "/json", "/javascript", "/x-ndjson", "/jsonl")
    )


def _text_type(declared: str, head: bytes, url: str) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf")
    if found := _marked_up(declared, start):
        return found
    if JSON_FEED in start and (declared in UNKNOWN or declared.endswith("json")) and JSON_START.match(start):
        return "application/feed+json"
    if declared in UNKNOWN or (start and _never_text(declared)):
        return _unnamed(start, url)
    if declared == "text/html" and not start.lstrip().startswith(b"<"):  # what many servers call anything
        found = _unnamed(start, url)
        return found if found != "text/plain" or _is_named_text(start, url) else declared
    if (declared == "text/plain" and suffix_of(url) in PLAIN_SUFFIXES) or (
        declared == "application/json" and suffix_of(url) == ".ipynb"
    ):
        return SUFFIXES[suffix_of(url)]
    return declared


def _is_named_text(start: bytes, url: str) -> bool:
    """Whether the name of what is called a page says that it is none, and no tag in it says otherwise."""
    suffix = suffix_of(url)
    return ALPHA_SUFFIX.fullmatch(suffix) is not None and suffix not in PAGE_SUFFIXES and TAG.search(start) is None


def _marked_up(declared: str, start: bytes) -> str:
    """What a markup is by its root, where the declared type is less exact or wrong; else empty."""
    loose = declared in XML_TYPES
    if declared in UNKNOWN and SVG_START.match(start):
        return "image/svg+xml"
    if ODF_START.match(start) and (loose or declared in UNKNOWN):
        return "application/vnd.oasis.opendocument.text-flat-xml"
    if FEED_START.match(start) and (loose or declared == "text/html"):
        return "application/rss+xml"
    named = loose or declared in UNKNOWN or declared in ("text/plain", "text/html") or _never_text(declared)
    if named and (root := ROOT_START.match(start)):
        return ROOTS[root[1].lower()]
    if PAGE_START.match(start) and (loose or declared.endswith("json")):
        return "text/html"
    return ""


def _unnamed(start: bytes, url: str) -> str:
    if FEED_START.match(start):
        return "application/rss+xml"
    if HTML_START.match(start) and not (suffix_of(url) == ".xml" and not PAGE_START.match(start)):
        return "text/html"
    bare = start.lstrip()
    if bare.startswith(b"<?xml") or XML_START.match(start) or (suffix_of(url) == ".xml" and bare[:1] == b"<"):
        return "application/xml"
    if start.lstrip()[:1] == b"{" and b'"cell_type"' in start:
        return SUFFIXES[".ipynb"]
    if JSON_START.match(start):
        return SUFFIXES.get(suffix_of(url), "application/json")
    return _known_start(start) or SUFFIXES.get(suffix_of(url) if suffix_of(url) != ".pdf" else "", "text/plain")


def _known_start(start: bytes) -> str:
    """A kind of text that shows itself in its first lines."""
    starts = (
        (SSA_START, "text/x-ssa"),
        (SBV_START, "text/x-sbv"),
        (VTT_START, "text/vtt"),
        (SRT_START, "application/x-subrip"),
        (CALENDAR_START, "text/calendar"),
        (CARD_START, "text/vcard"),
        (MBOX_START, "application/mbox"),
        (MAIL_START, "message/rfc822"),
    )
    return next((mime for pattern, mime in starts if pattern.match(start)), "")
