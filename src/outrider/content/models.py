"""What is kept in a content store, as its users see it. All times are seconds since the epoch."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Store:
    """A named collection of contents, of one session alone."""

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
    """A text on its way into a store.

    Attributes:
        text: What is read and searched; Markdown where a document was converted.
        filename: Its name; may be empty.
        mime_type: Of what was given, for instance `application/pdf`.
        source: The address or path that it came from.
        title: What it calls itself; its words count for searching.
        language: A BCP 47 tag, if it declares one.
        markdown: Whether the text is Markdown; None: if the type says so.
        size: Bytes of what was given; None: of the text in UTF-8.
        uploaded_at: When it came; None: now.
        facts: Further JSON-able facts.
        unasked: It was only read, and may go when nobody has looked at it for long.
    """

    text: str
    filename: str = ""
    mime_type: str = "text/plain"
    source: str = ""
    title: str = ""
    language: str = ""
    markdown: bool | None = None
    size: int | None = None
    uploaded_at: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    unasked: bool = False


@dataclass(frozen=True)
class ContentRecord:
    """A content, without its text."""

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
    """Some lines of a content, exactly as they are."""

    record: ContentRecord
    text: str
    from_line: int
    to_line: int


def hash_text(text: str) -> str:
    """What tells equal texts."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
