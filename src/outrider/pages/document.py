"""Documents that readers produce: Markdown, metadata, links and images."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from outrider.core.untrusted import clean_untrusted, disarm_marks

IMAGE_MARKUP = re.compile(r"!\[([^\[\]\n]*)\]\([^()\s]*\)")
LINK_MARKUP = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)")
EMPHASIS_MARKUP = re.compile(r"(\*\*|__|~~|`|\*)([^\n*_`~]+)\1")
BLOCK_MARKUP = re.compile(r"^(?:#{1,6} |```.*$)", re.MULTILINE)
# Combining marks stacked on one letter. Normalizing sorts them, which takes time quadratic in their number.
COMBINING_MARK = (
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u06d6-\u06ed"
    "\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
STACKED_MARKS = re.compile(f"({COMBINING_MARK}{{8}}){COMBINING_MARK}++")
# Ranges of common characters, which need no cleaning; each entry is the first and the last of a range.
COMMON_RANGES = (
    "\n\n", "\t\t", "\x20\x7e", "\xa0\xac", "\xae\u02ff", "\u0391\u03a1", "\u03a3\u03ff", "\u0400\u0481",
    "\u2010\u2027",
    "\u2030\u205e", "\u20a0\u20bf", "\u2190\u21ff", "\u2500\u25ff", "\u3000\u3029", "\u3041\u3096", "\u309b\u30ff",
    "\u4e00\u9fef", "\uac00\ud7a3", "\uff01\uff5e",
)  # fmt: skip
UNCOMMON_CHARACTER = re.compile(f"[^{''.join(f'{first}-{last}' for first, last in COMMON_RANGES)}]")
TRAILING_SPACE = re.compile(r"(?<![^\S\n])[^\S\n]+(?=\n)")
BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class DocumentLink:
    """A link out of a document: its text (may be empty) and its absolute address."""

    text: str
    url: str


@dataclass(frozen=True)
class ImageRef:
    """An image in a document; width and height are in CSS pixels, if the document says them."""

    url: str
    alt: str = ""
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class Document:
    """The content of one resource, without invisible characters.

    Attributes:
        markdown: The content. Offsets of excerpts and of partial reads count its characters.
        text: The same without markup.
        title: The document's own title; of a web page, its headline without the name of its site; may be empty.
        description: Its own summary; may be empty.
        language: A BCP 47 tag, as declared or, for a web page, as detected from its text; may be empty.
        published: ISO 8601 date or date-time, as declared or shown next to the headline; may be empty.
        author: Names, as declared or shown next to the headline; may be empty.
        site: The publication's name; may be empty.
        kind: The kind of a web page: `article`, `documentation`, `forum`, `product`, `listing`,
            `collection` or `service`. For anything else the name of its reader: `pdf`, `word`, `excel`,
            `epub`, `mail`, `text`, `json`, `feed` and so on.
        links: Absolute http(s) and mailto addresses, each once, those of the main content first.
        images: Absolute http(s) addresses, each once, in order of appearance.
        tables: Each a list of rows of cells.
        metadata: Further JSON-able facts, for instance `canonical` or `pages`; of a web page also `modified`, `hidden`,
            the number of invisible characters left out, and `product`, its declared product data.
    """

    markdown: str
    text: str = ""
    title: str = ""
    description: str = ""
    language: str = ""
    published: str = ""
    author: str = ""
    site: str = ""
    kind: str = ""
    links: list[DocumentLink] = field(default_factory=list)
    images: list[ImageRef] = field(default_factory=list)
    tables: list[list[list[str]]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON-serializable data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Document":
        """Return the document that `to_dict` serialized. Raises TypeError, KeyError or ValueError for other data."""
        fields: dict[str, Any] = dict(data)
        fields["links"] = [DocumentLink(**link) for link in data["links"]]
        fields["images"] = [ImageRef(**image) for image in data["images"]]
        document = cls(**fields)
        if not isinstance(document.markdown, str):
            raise TypeError("markdown is not a string")
        return document


def tidy_text(text: str, *, exact: bool = False) -> str:
    """Return the text without invisible characters, trailing spaces and repeated empty lines.

    With `exact`, white space is kept, for code listings.
    """
    if not _has_uncommon(text):
        if exact:
            return text.strip("\n")
        return BLANK_LINES.sub("\n\n", TRAILING_SPACE.sub("", text)).strip("\n").rstrip()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = text.replace("\u2028", "\n").replace("\u2029", "\n\n").replace("\x85", "\n")
    lines = [
        "".join(map(clean_untrusted, _split_line(STACKED_MARKS.sub(r"\1", line)))) if _has_uncommon(line) else line
        for line in text.split("\n")
    ]
    if exact:
        return "\n".join(lines).strip("\n")
    return BLANK_LINES.sub("\n\n", "\n".join([line.rstrip() for line in lines])).strip("\n")


def _has_uncommon(text: str) -> bool:
    """Return whether a text contains characters that may need cleaning."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return UNCOMMON_CHARACTER.search(text) is not None


def _split_line(line: str) -> Iterator[str]:
    """Yield pieces that can be cleaned separately.

    Cleaning takes a hundred times the memory of its text.
    """
    joining_characters = frozenset("\u200c\u200d\ufe0e\ufe0f")
    piece_chars = 500
    start = 0
    while len(line) - start > piece_chars:
        end = start + piece_chars
        while end < min(len(line), start + 2 * piece_chars) and not (
            line[end].isalnum() and line[end - 1] not in joining_characters
        ):
            end += 1
        yield line[start:end]
        start = end
    yield line[start:]


def to_single_line(text: str | None, limit: int = 500) -> str:
    """Return the text on one line, cleaned, cut to `limit` characters, and without our marks."""
    if not text:
        return ""
    return disarm_marks(" ".join((clean_untrusted(text) if _has_uncommon(text) else text).split())[:limit])


def strip_markdown(markdown: str) -> str:
    """Return Markdown without link targets, images, headings and emphasis."""
    without = LINK_MARKUP.sub(r"\1", IMAGE_MARKUP.sub(r"\1", markdown))
    return BLOCK_MARKUP.sub("", EMPHASIS_MARKUP.sub(r"\2", without))
