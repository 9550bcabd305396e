"""Detect a body's type from its bytes, not from its declaration.

See mimesniff.spec.whatwg.org.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from outrider.pages.mime.charset import detect_wide_charset
from outrider.pages.mime.container import (
    BARE_WORKBOOK_STARTS,
    OPENXML_PREFIX,
    WORKBOOK_2003_TYPE,
    detect_compound_type,
    detect_zip_type,
)

COMPOUND_TYPE = "application/x-ole-storage"
EXCEL_TYPE = "application/vnd.ms-excel"
SNIFF_BYTES = 1_445  # of a resource header (section 5.2)
BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # not in any text (section 3)
UNKNOWN_TYPES = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/unknown", "unknown/unknown"}
)
BINARY_TYPES = frozenset(
    {"application/pdf", "application/zip", "application/x-zip-compressed", "application/gzip", "application/x-gzip"}
)
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
# Kilobits per second by index: of MPEG-1 layers III and II, and of MPEG-2.
MP3_BITRATES = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
)
MP2_BITRATES = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
# Atomic groups never read a comment twice, however many there are.
XML_PROLOG = rb"\s*+(?>(?:<\?[^>]*+>|<!--.*?-->)\s*+)*+"
XML_PROLOG_WITH_DOCTYPE = rb"\s*+(?>(?:<\?[^>]*+>|<!--.*?-->|<!doctype[^>\[]*+>)\s*+)*+"
PATTERN_FLAGS = re.IGNORECASE | re.DOTALL
PAGE_START = re.compile(XML_PROLOG + rb"<(?:!doctype\s+html|html)[\s>]", PATTERN_FLAGS)
HTML_START = re.compile(
    XML_PROLOG + rb"<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p)[\s/>]",
    PATTERN_FLAGS,
)
HTML_TAG = re.compile(
    rb"<(?:!doctype\s+html|/?(?:html|head|body|title|meta|link|script|div|span|table|main|article|h[1-6]|ul|ol|p|a|br))[\s/>]",
    re.IGNORECASE,
)
FEED_START = re.compile(XML_PROLOG_WITH_DOCTYPE + rb"<(?:rss|feed|rdf:rdf)[\s>]", PATTERN_FLAGS)
ODF_START = re.compile(XML_PROLOG_WITH_DOCTYPE + rb"<office:document[\s>]", PATTERN_FLAGS)
JSON_START = re.compile(rb'\s*(?:\{\s*["}]|\[\s*(?:["\[{\]]|-?\d|(?:true|false|null)\b))')
ROOT_START = re.compile(
    XML_PROLOG_WITH_DOCTYPE
    + rb"<(?:\w{1,20}:)?(opml|urlset|sitemapindex|tt|fictionbook|workbook(?=[^>]{0,600}office:spreadsheet))[\s>]",
    PATTERN_FLAGS,
)
XML_ROOT_TYPES = {
    b"opml": "text/x-opml", b"urlset": "application/sitemap+xml", b"sitemapindex": "application/sitemap+xml",
    b"tt": "application/ttml+xml", b"fictionbook": "application/x-fictionbook+xml", b"workbook": WORKBOOK_2003_TYPE,
}  # fmt: skip
XML_START = re.compile(
    XML_PROLOG_WITH_DOCTYPE + rb"<[\w:.-]{1,80}[^<>]{0,900}\sxmlns(?::\w{1,40})?\s{0,9}=", PATTERN_FLAGS
)
TEXT_STARTS = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL | re.MULTILINE), mime)
    for pattern, mime in (
        (rb"\s*\[Script Info\]", "text/x-ssa"),
        (rb"\s*\d{1,2}:\d\d:\d\d\.\d{3},\d{1,2}:\d\d:\d\d\.\d{3}\r?\n", "text/x-sbv"),
        (rb"(?-i:WEBVTT)[ \t\r\n]", "text/vtt"),
        (rb"\s*+\d{1,6}\r?\n\d{1,3}:\d\d:\d\d,\d{1,3} -->", "application/x-subrip"),
        (rb"\s*BEGIN:VCALENDAR\s", "text/calendar"),
        (rb"\s*BEGIN:VCARD\s", "text/vcard"),
        (rb"(?-i:From) [^\n]{1,300}\d{4}[^\n]{0,20}\r?\n[!-9;-~]{1,60}:", "application/mbox"),
        # A message has two header fields of transport.
        (
            (
                rb"(?=[!-9;-~]{1,60}:)(?=.*?^(?:From|Received|Date|Return-Path):)"
                rb"(?=.*?^(?:Message-ID|MIME-Version|Received):)"
            ),
            "message/rfc822",
        ),
    )
)
SVG_START = re.compile(XML_PROLOG_WITH_DOCTYPE + rb"<svg[\s>]", PATTERN_FLAGS)


@dataclass(frozen=True)
class MagicNumber:
    """The first bytes of a type, `is_distinctive` if no text can begin with them."""

    mime: str
    start: bytes
    offset: int = 0
    is_distinctive: bool = True


MAGIC_NUMBERS = (
    MagicNumber("application/pdf", b"%PDF-"),
    MagicNumber("application/rtf", b"{\\rtf"),
    MagicNumber("image/png", b"\x89PNG\r\n\x1a\n"),
    MagicNumber("image/jpeg", b"\xff\xd8\xff"),
    MagicNumber("image/gif", b"GIF87a"),
    MagicNumber("image/gif", b"GIF89a"),
    MagicNumber("image/webp", b"WEBP", 8),
    MagicNumber("image/bmp", b"BM", is_distinctive=False),
    MagicNumber("image/x-icon", b"\x00\x00\x01\x00"),
    MagicNumber("image/tiff", b"II*\x00"),
    MagicNumber("image/tiff", b"MM\x00*"),
    MagicNumber("image/avif", b"ftypavif", 4),
    MagicNumber("image/avif", b"ftypavis", 4),
    MagicNumber("image/heic", b"ftyphei", 4),
    MagicNumber("image/heic", b"ftyphevc", 4),
    MagicNumber("image/heif", b"ftypmif1", 4),
    MagicNumber("image/heif", b"ftypmsf1", 4),
    MagicNumber("image/jp2", b"\x00\x00\x00\x0cjP  "),
    MagicNumber("image/jxl", b"\x00\x00\x00\x0cJXL "),
    MagicNumber("application/gzip", b"\x1f\x8b\x08"),
    MagicNumber("application/zip", b"PK\x03\x04"),
    MagicNumber("application/zip", b"PK\x05\x06"),
    MagicNumber("application/x-bzip2", b"BZh", is_distinctive=False),
    MagicNumber("application/x-xz", b"\xfd7zXZ\x00"),
    MagicNumber("application/zstd", b"\x28\xb5\x2f\xfd"),
    MagicNumber("application/x-7z-compressed", b"7z\xbc\xaf\x27\x1c"),
    MagicNumber("application/x-rar-compressed", b"Rar!\x1a\x07"),
    MagicNumber("application/x-tar", b"ustar", 257, is_distinctive=False),
    MagicNumber("application/wasm", b"\x00asm"),
    MagicNumber("application/x-executable", b"\x7fELF"),
    MagicNumber("application/x-executable", b"MZ", is_distinctive=False),
    MagicNumber("application/x-executable", b"\xcf\xfa\xed\xfe"),
    MagicNumber("application/java-vm", b"\xca\xfe\xba\xbe"),
    MagicNumber("application/x-sqlite3", b"SQLite format 3\x00"),
    MagicNumber("application/x-mobipocket-ebook", b"BOOKMOBI", 60),
    MagicNumber("application/vnd.djvu", b"AT&TFORM"),
    MagicNumber("application/postscript", b"%!PS-Adobe-"),
    MagicNumber("application/vnd.ms-htmlhelp", b"ITSF", is_distinctive=False),
    MagicNumber("application/x-bittorrent", b"d8:announce"),
    MagicNumber("application/vnd.apache.parquet", b"PAR1", is_distinctive=False),
    MagicNumber("application/x-hdf5", b"\x89HDF\r\n\x1a\n"),
    MagicNumber("application/x-numpy", b"\x93NUMPY"),
    MagicNumber("image/vnd.adobe.photoshop", b"8BPS\x00"),
    MagicNumber("audio/midi", b"MThd\x00"),
    MagicNumber("audio/basic", b".snd\x00"),
    MagicNumber("audio/aiff", b"AIFF", 8, is_distinctive=False),
    MagicNumber("audio/aiff", b"AIFC", 8, is_distinctive=False),
    MagicNumber("audio/aac", b"\xff\xf1", is_distinctive=False),
    MagicNumber("audio/aac", b"\xff\xf9", is_distinctive=False),
    MagicNumber("audio/amr", b"#!AMR", is_distinctive=False),
    MagicNumber("video/mp2p", b"\x00\x00\x01\xba"),
    MagicNumber("video/mpeg", b"\x00\x00\x01\xb3"),
    MagicNumber("video/x-flv", b"FLV\x01"),
    MagicNumber("video/x-ms-asf", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"),
    MagicNumber("video/quicktime", b"moov", 4, is_distinctive=False),
    MagicNumber("video/quicktime", b"mdat", 4, is_distinctive=False),
    MagicNumber("video/quicktime", b"wide", 4, is_distinctive=False),
    MagicNumber(COMPOUND_TYPE, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    *(MagicNumber(EXCEL_TYPE, start) for start in BARE_WORKBOOK_STARTS),
    MagicNumber("font/woff", b"wOFF"),
    MagicNumber("font/woff2", b"wOF2"),
    MagicNumber("font/otf", b"OTTO"),
    MagicNumber("font/ttf", b"\x00\x01\x00\x00\x00"),
    MagicNumber("audio/mpeg", b"ID3", is_distinctive=False),
    MagicNumber("audio/wave", b"WAVE", 8, is_distinctive=False),
    MagicNumber("audio/flac", b"fLaC", is_distinctive=False),
    MagicNumber("application/ogg", b"OggS\x00"),
    MagicNumber("video/webm", b"\x1a\x45\xdf\xa3"),
    MagicNumber("video/avi", b"AVI ", 8, is_distinctive=False),
    MagicNumber("video/mp4", b"ftyp", 4, is_distinctive=False),
)
TEXT_SUFFIX_TYPES = {
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
    ".xls": "text/csv",  # if it is text, it was exported for spreadsheets
    ".tab": "text/tab-separated-values",
    ".log": "text/plain",
}
ZIP_SUFFIX_TYPES = {
    ".docx": f"{OPENXML_PREFIX}wordprocessingml.document",
    ".xlsx": f"{OPENXML_PREFIX}spreadsheetml.sheet",
    ".pptx": f"{OPENXML_PREFIX}presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".epub": "application/epub+zip",
}
PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cgi", ".do", ".cfm"})
ALPHA_SUFFIX = re.compile(r"\.[a-z]{1,8}")
TAG_START = re.compile(rb"<[a-zA-Z!/]")
PLAIN_SUFFIXES = frozenset({".md", ".markdown", ".csv", ".tsv", ".jsonl", ".ndjson"})


def detect_mime_type(declared: str, body: bytes, url: str = "") -> str:
    """Return the MIME type to read a body as.

    Args:
        declared: The type that the server declared, in lower case, or "".
        body: The body, or its beginning.
        url: Its address, whose suffix decides between kinds of text only.
    """
    head = body[:SNIFF_BYTES]
    magic = match_magic_number(head)
    if magic == "application/zip":
        suffix = get_suffix(url)
        fallback = declared if _is_zip_document_type(declared) else ZIP_SUFFIX_TYPES.get(suffix, magic)
        return detect_zip_type(body, suffix) or fallback
    if magic == COMPOUND_TYPE:
        fallback = declared if _is_office_type(declared) else magic
        return detect_compound_type(body, declared, get_suffix(url)) or fallback
    if magic:
        return magic
    if charset := detect_wide_charset(head):
        return _detect_text_type(declared, head.decode(charset, "replace").encode(), url)
    if BINARY_BYTE.search(head) and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        # Browsers drop or replace control characters. A page has a tag, or hardly any of them: other files have
        # one in nine bytes.
        is_markup = HTML_TAG.search(head.replace(b"\0", b"")) or len(BINARY_BYTE.findall(head)) * 20 < len(head)
        is_page = declared in HTML_TYPES and bool(is_markup)
        may_be_binary = declared not in UNKNOWN_TYPES and not is_textual(declared)
        return declared if is_page or may_be_binary else "application/octet-stream"
    return _detect_text_type(declared, head, url)


def match_magic_number(head: bytes) -> str:
    """Return the type whose magic number a body begins with, or ""."""
    packet_bytes = 188  # of an MPEG transport stream (ISO 13818-1)
    if b"%PDF-" in head[:1024] and not head.lstrip().startswith(b"<"):
        return "application/pdf"
    is_binary = BINARY_BYTE.search(head) is not None
    for magic in MAGIC_NUMBERS:
        if head.startswith(magic.start, magic.offset) and (magic.is_distinctive or is_binary):
            return magic.mime
    # Some audio and video has no header and begins with frames or packets of known length.
    if is_binary and len(head) > 2 * packet_bytes and head[: 2 * packet_bytes + 1 : packet_bytes] == b"GGG":
        return "video/mp2t"
    first = _measure_mp3_frame(head, 0)
    return "audio/mpeg" if first and _measure_mp3_frame(head, first) else ""


def _measure_mp3_frame(head: bytes, at: int) -> int:
    """Return the length of the MP3 frame there, or 0 (mimesniff.spec.whatwg.org, section 6.2.4)."""
    if len(head) < at + 4 or head[at] != 0xFF or head[at + 1] & 0xE6 not in (0xE2, 0xE4):
        return 0
    version, bitrate_index, rate_index = head[at + 1] >> 3 & 3, head[at + 2] >> 4, head[at + 2] >> 2 & 3
    if bitrate_index in (0, 15) or rate_index == 3 or version == 1:
        return 0
    is_first_version, is_layer_2 = version == 3, head[at + 1] & 0x06 == 0x04
    rates = MP3_BITRATES[1 if is_layer_2 else 0] if is_first_version else MP2_BITRATES
    sample_rate = (44_100, 48_000, 32_000)[rate_index] // {3: 1, 2: 2, 0: 4}[version]
    scale = 144 if is_first_version or is_layer_2 else 72
    return rates[bitrate_index] * 1_000 * scale // sample_rate + (head[at + 2] >> 1 & 1)


def is_svg(head: bytes) -> bool:
    """Return whether a text begins like an SVG image."""
    return SVG_START.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def get_suffix(url: str) -> str:
    """Return the lower-case suffix of an address's path, with its dot."""
    return PurePosixPath(urlsplit(url).path).suffix.lower()


def _is_zip_document_type(declared: str) -> bool:
    return "officedocument" in declared or "opendocument" in declared or declared.endswith(("epub+zip", "java-archive"))


def _is_office_type(declared: str) -> bool:
    """Return whether a type is an old office format.

    Servers also declare these for tables and pages.
    """
    return (
        declared == "application/msword"
        or declared.startswith("application/vnd.ms-")
        or _is_zip_document_type(declared)
    )


def _is_binary_type(declared: str) -> bool:
    """Return whether files of a type are never text."""
    binary_prefixes = ("audio/", "video/", "image/", "font/")
    if declared.endswith(("+xml", "-flat-xml")):
        return False
    return _is_office_type(declared) or declared.startswith(binary_prefixes) or declared in BINARY_TYPES


def is_textual(mime: str) -> bool:
    """Return whether a type is text by its name."""
    return mime.startswith("text/") or mime.endswith(
        ("+xml", "+json", "/xml", "/json", "/javascript", "/x-ndjson", "/jsonl")
    )


def _detect_text_type(declared: str, head: bytes, url: str) -> str:
    start = head.removeprefix(b"\xef\xbb\xbf")
    if markup_type := _detect_markup_type(declared, start):
        return markup_type
    may_be_json = declared in UNKNOWN_TYPES or declared.endswith("json")
    if may_be_json and b"//jsonfeed.org/version/" in start and JSON_START.match(start):
        return "application/feed+json"
    if declared in UNKNOWN_TYPES or (start and _is_binary_type(declared)):
        detected = _detect_undeclared_type(start, url)
        is_media = declared.startswith(("audio/", "video/")) and not start.startswith(b"#EXTM3U")
        return declared if is_media and detected == "text/plain" else detected
    if declared == "text/html" and not start.lstrip().startswith(b"<"):  # the default of many servers
        detected = _detect_undeclared_type(start, url)
        suffix = get_suffix(url)
        # The name may say that it is not a page, and no tag says otherwise.
        is_named_text = ALPHA_SUFFIX.fullmatch(suffix) and suffix not in PAGE_SUFFIXES and not TAG_START.search(start)
        return detected if detected != "text/plain" or is_named_text else declared
    if declared not in ("text/plain", "application/json"):
        return declared
    suffix = get_suffix(url)
    has_better_suffix = suffix in PLAIN_SUFFIXES if declared == "text/plain" else suffix == ".ipynb"
    return TEXT_SUFFIX_TYPES[suffix] if has_better_suffix else declared


def _detect_markup_type(declared: str, start: bytes) -> str:
    """Return the markup's type by its root, if that is better.

    The declared type may be wrong or less exact; else "".
    """
    is_xml, is_unknown = declared in ("text/xml", "application/xml"), declared in UNKNOWN_TYPES
    if is_unknown and SVG_START.match(start):
        return "image/svg+xml"
    if ODF_START.match(start) and (is_xml or is_unknown):
        return "application/vnd.oasis.opendocument.text-flat-xml"
    if FEED_START.match(start) and (is_xml or declared == "text/html"):
        return "application/rss+xml"
    is_inexact = is_xml or is_unknown or declared in ("text/plain", "text/html") or _is_binary_type(declared)
    if is_inexact and (root := ROOT_START.match(start)):
        return XML_ROOT_TYPES[root[1].lower()]
    if PAGE_START.match(start) and (is_xml or declared.endswith("json")):
        return "text/html"
    return ""


def _detect_undeclared_type(start: bytes, url: str) -> str:
    suffix, stripped = get_suffix(url), start.lstrip()
    if FEED_START.match(start):
        return "application/rss+xml"
    if HTML_START.match(start) and (suffix != ".xml" or PAGE_START.match(start)):
        return "text/html"
    if stripped.startswith(b"<?xml") or XML_START.match(start) or (suffix == ".xml" and stripped[:1] == b"<"):
        return "application/xml"
    if stripped[:1] == b"{" and b'"cell_type"' in start:
        return TEXT_SUFFIX_TYPES[".ipynb"]
    if JSON_START.match(start):
        return TEXT_SUFFIX_TYPES.get(suffix, "application/json")
    text_type = "text/plain" if suffix == ".pdf" else TEXT_SUFFIX_TYPES.get(suffix, "text/plain")
    return next((mime for pattern, mime in TEXT_STARTS if pattern.match(start)), text_type)
