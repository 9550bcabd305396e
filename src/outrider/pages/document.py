"""What a reader makes of a body: Markdown, its facts, and what it points to."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from outrider.core.untrusted import clean_untrusted

IMAGE_MARKUP = re.compile(r"!\[([^\[\]\n]*)\]\([^()\s]*\)")
LINK_MARKUP = re.compile(r"\[([^\[\]\n]*)\]\([^()\s]*\)")
EMPHASIS_MARKUP = re.compile(r"(\*\*|__|~~|`|\*)([^\n*_`~]+)\1")
BLOCK_MARKUP = re.compile(r"^(?:#{1,6} |```.*$)", re.MULTILINE)
# Marks that pile up on one letter: sorting them, which normalizing does, takes the square of their number.
COMBINING_MARK = (
    "[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u06d6-\u06ed"
    "\u0f71-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
STACKED_MARKS = re.compile(f"({COMBINING_MARK}{{8}}){COMBINING_MARK}++")
# The letters and signs that every page has, which are shown as they are and stand alone: from each to each.
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
    """A link out of a document: its words (may be empty) and its absolute address."""

    text: str
    url: str


@dataclass(frozen=True)
class ImageRef:
    """A picture that a document shows; width and height in CSS pixels where the document says them."""

    url: str
    alt: str = ""
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class Document:
    """The content of one resource, cleaned of what only machines see.

    Attributes:
        markdown: The content. Offsets of excerpts and of reading on count its characters.
        text: The same without markup.
        title: As the document names itself, of a web page its headline without the name of its site; may be empty.
        description: Its own summary; may be empty.
        language: A BCP 47 tag, as declared or, of a web page, as its text plainly is; may be empty.
        published: ISO 8601 date or date-time, as declared or told beside the headline; may be empty.
        author: Names, as declared or told beside the headline; may be empty.
        site: The publication's name; may be empty.
        kind: Of a web page what it is to its readers: `article`, `documentation`, `forum`, `product`, `listing`,
            `collection` or `service`. Of anything else its format, by the name of its reader: `pdf`, `word`, `excel`,
            `epub`, `mail`, `text`, `json`, `feed` and so on.
        links: Absolute http(s) and mailto addresses, each once, those of the main content first.
        images: Absolute http(s) addresses, each once, in order of appearance.
        tables: Each a list of rows of cells.
        metadata: Further JSON-able facts, for instance `canonical` or `pages`; of a web page also `modified`, `hidden`,
            the characters left out because nobody sees them, and `product`, what is declared of what it sells.
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
        """The document as JSON-able data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Document":
        """The document that `to_dict` gave. Raises TypeError, KeyError or ValueError for anything else."""
        given: dict[str, Any] = dict(data)
        given["links"] = [DocumentLink(**link) for link in data["links"]]
        given["images"] = [ImageRef(**image) for image in data["images"]]
        document = cls(**given)
        if not isinstance(document.markdown, str):
            raise TypeError("markdown is no text")
        return document


def tidy_text(text: str, *, exact: bool = False) -> str:
    """`clean`, in pieces so that plain lines pass at once, and never more than one empty line.

    With `exact`, white space stays as it is, as in listings.
    """
    if not _has_uncommon(text):
        if exact:
            return text.strip("\n")
        return BLANK_LINES.sub("\n\n", TRAILING_SPACE.sub("", text)).strip("\n").rstrip()
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = text.replace("\u2028", "\n").replace("\u2029", "\n\n").replace("\x85", "\n")
    lines = [_cleaned(line) if _has_uncommon(line) else line for line in text.split("\n")]
    if exact:
        return "\n".join(lines).strip("\n")
    return BLANK_LINES.sub("\n\n", "\n".join([line.rstrip() for line in lines])).strip("\n")


def _has_uncommon(text: str) -> bool:
    """Whether a text holds what has to be cleaned, or could have to."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return UNCOMMON_CHARACTER.search(text) is not None


def _cleaned(line: str) -> str:
    """A line without what only machines see, and without piles of marks, all of which are odd."""
    return "".join(map(clean_untrusted, _split_line(STACKED_MARKS.sub(r"\1", line))))


def _split_line(line: str) -> Iterator[str]:
    """A line in parts that can be cleaned alone: cleaning takes memory a hundred times its text."""
    joining_characters = frozenset("\u200c\u200d\ufe0e\ufe0f")
    piece_chars = 500  # characters
    at = 0
    while len(line) - at > piece_chars:
        end = at + piece_chars
        while end < min(len(line), at + 2 * piece_chars) and not (
            line[end].isalnum() and line[end - 1] not in joining_characters
        ):
            end += 1
        yield line[at:end]
        at = end
    yield line[at:]


def to_single_line(text: str | None, limit: int = 500) -> str:
    """A fact on one line, cleaned and cut."""
    if not text:
        return ""
    return " ".join((clean_untrusted(text) if _has_uncommon(text) else text).split())[:limit]


def strip_markdown(markdown: str) -> str:
    """Markdown without its links, pictures, headings and emphasis."""
    without = LINK_MARKUP.sub(r"\1", IMAGE_MARKUP.sub(r"\1", markdown))
    return BLOCK_MARKUP.sub("", EMPHASIS_MARKUP.sub(r"\2", without))
