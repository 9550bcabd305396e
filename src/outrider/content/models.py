"""Data types of content stores. All times are seconds since the epoch."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Store:
    """A named collection of contents that belongs to one session."""

    id: str
    name: str
    description: str
    created_at: float
    modified_at: float
    content_count: int = 0
    chunk_count: int = 0
    total_size: int = 0
    is_default: bool = False


@dataclass(frozen=True)
class ContentDraft:
    """A text to be added to a store.

    Attributes:
        text: The text to read and search; Markdown if a document was converted.
        filename: Name of the file; may be empty.
        mime_type: Type of the original, for instance `application/pdf`.
        source: Address or path of the original.
        title: Title of the document; its words count in searches.
        language: BCP 47 tag, if the document declares one.
        markdown: Whether the text is Markdown; None decides by `mime_type`.
        size: Bytes of the original; None counts the text in UTF-8.
        original: The file itself; None if there was none, or if the text in UTF-8 is the file.
        uploaded_at: Time of upload; None means now.
        facts: Further JSON-serializable metadata.
        unasked: Saved automatically when a page was read; purged when it has not been used for long.
    """

    text: str
    filename: str = ""
    mime_type: str = "text/plain"
    source: str = ""
    title: str = ""
    language: str = ""
    markdown: bool | None = None
    size: int | None = None
    original: bytes | None = None
    uploaded_at: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    unasked: bool = False


@dataclass(frozen=True)
class ContentRecord:
    """The metadata of a content, without its text."""

    id: str
    store_id: str
    version: int
    filename: str
    mime_type: str
    source: str
    title: str
    language: str
    hash: str
    size: int
    characters: int
    line_count: int
    chunk_count: int
    preview: str
    facts: Mapping[str, Any]
    uploaded_at: float
    modified_at: float
    accessed_at: float


@dataclass(frozen=True)
class ContentPassage:
    """A range of lines of a content, exactly as stored."""

    record: ContentRecord
    text: str
    from_line: int
    to_line: int


def hash_text(text: str) -> str:
    """Return the SHA-256 of a text, by which duplicates are recognized."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
