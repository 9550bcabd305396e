"""Parameters and results of the content store tools."""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, PrivateAttr

from outrider.core.untrusted import clean_untrusted, disarm_json

if TYPE_CHECKING:
    from outrider.content.models import ContentRecord, Store
    from outrider.content.search import ContentHit


def build_alias_field(name: str, **options: Any) -> Any:
    """Build a field that is published in snake_case and accepts camelCase too."""
    first, *rest = name.split("_")
    camel_case = first + "".join(part.title() for part in rest)
    return Field(validation_alias=AliasChoices(name, camel_case), **options)


def _parse_time(value: Any) -> Any:
    """Convert ISO 8601 (UTC without an offset) to seconds since the epoch."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError("must be a time like 2025-09-28 or 2025-09-28T12:00:00Z") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


Timestamp = Annotated[float, BeforeValidator(_parse_time)]
Text200 = Annotated[str, Field(max_length=200)]
StoreId = Annotated[
    str | None, build_alias_field("store_id", max_length=100, description="Default: the session's own store")
]
SearchedStore = Annotated[
    str | None, build_alias_field("store_id", max_length=100, description="Default: all your stores")
]
ContentId = Annotated[str, build_alias_field("content_id", min_length=1, max_length=100)]
FileUrl = Annotated[
    str | None,
    build_alias_field(
        "file_url", min_length=1, max_length=8_000, description="Workspace path, URI of a resource or http(s) address"
    ),
]
QueryText = Annotated[str, Field(min_length=1, max_length=2_000)]


class StoreMetadata(BaseModel, extra="ignore", defer_build=True):
    """Name and description of a store. A session_id is ignored: the host sets it."""

    name: Text200 = ""
    description: Annotated[str, Field(max_length=2_000)] = ""


class ContentMetadata(BaseModel, extra="ignore", defer_build=True):
    """Metadata of the content."""

    filename: Annotated[str | None, Field(max_length=255)] = None
    mime_type: Annotated[str | None, build_alias_field("mime_type", max_length=127)] = None
    size: Annotated[int | None, Field(ge=0)] = None
    uploaded_at: Annotated[Timestamp | None, build_alias_field("uploaded_at", json_schema_extra={"type": "string"})] = (
        None
    )
    title: Annotated[str | None, Field(max_length=500)] = None


class Pagination(BaseModel, extra="forbid", defer_build=True):
    """The part of the list to return."""

    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100


class Options(BaseModel, extra="forbid", defer_build=True):
    """Search options."""

    top_n: Annotated[int, build_alias_field("top_n", ge=1, le=100)] = 10
    threshold: Annotated[float, Field(ge=0, le=1, description="Minimum score")] = 0
    mime_type: Annotated[
        list[str],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
        build_alias_field("mime_type", max_length=20, description="e.g. text/*"),
    ] = []
    source: Annotated[str, Field(max_length=1_000, description="Part of the source or filename")] = ""
    since: Annotated[
        Timestamp | None, Field(json_schema_extra={"type": "string"}, description="Uploaded, ISO 8601")
    ] = None
    until: Annotated[Timestamp | None, Field(json_schema_extra={"type": "string"})] = None
    neighbours: Annotated[int, Field(ge=0, le=3, description="Passages before and after each hit")] = 0


class StoreAnswer(BaseModel, defer_build=True):
    """A result whose text is its data as JSON."""

    def __str__(self) -> str:
        return disarm_json(json.dumps(self.model_dump(exclude_unset=True), ensure_ascii=False))


class CreatedStore(StoreAnswer):
    """A new store."""

    storeId: str
    id: str
    createdAt: str
    name: str
    description: str


class StoreInfo(StoreAnswer):
    """A store and its size."""

    storeId: str
    name: str
    description: str
    createdAt: str
    contentCount: int
    chunkCount: int
    totalSize: int = Field(description="Bytes")
    lastModified: str
    semantic: bool = Field(description="Whether semanticSimilaritySearch works")
    default: bool = Field(description="Whether it is the session's own")

    @classmethod
    def from_store(cls, store: "Store", *, semantic: bool) -> "StoreInfo":
        return cls(
            storeId=store.id,
            name=store.name,
            description=store.description,
            createdAt=format_iso(store.created_at),
            contentCount=store.content_count,
            chunkCount=store.chunk_count,
            totalSize=store.total_size,
            lastModified=format_iso(store.modified_at),
            semantic=semantic,
            default=store.is_default,
        )


class StoreList(StoreAnswer):
    """A part of the caller's stores."""

    stores: list[StoreInfo]
    total: int
    hasMore: bool


class AddedContent(StoreAnswer):
    """A content that was stored and indexed."""

    storeId: str
    contentId: str
    filename: str
    mimeType: str
    size: int
    lineCount: int
    preview: str
    uploadedAt: str
    chunkCount: int
    version: int
    note: str = ""


class ContentList(StoreAnswer):
    """A part of a store's contents, newest first."""

    storeId: str
    contents: list[dict[str, Any]]
    total: int
    hasMore: bool


class ContentLines(BaseModel, defer_build=True):
    """A range of a content's lines."""

    content: str
    lineRange: list[int]
    contentId: str
    filename: str
    lineCount: int
    truncated: bool = False
    nextFromLine: int | None = None
    nextOffset: int | None = Field(default=None, description="offset for the rest of a line longer than max_chars")
    original: str | None = Field(default=None, description="Resource with the file, byte for byte")
    _text: str = PrivateAttr("")

    def __str__(self) -> str:
        return self._text

    def with_text(self, text: str) -> "ContentLines":
        """Set the text for models and return the result."""
        self._text = text
        return self


class DeletedContent(StoreAnswer):
    """A deleted content."""

    contentId: str
    deleted: bool


class ContentMatches(BaseModel, defer_build=True):
    """Passages that match, best first; scores from 0 to 1."""

    results: list[dict[str, Any]] = Field(
        description="Best first: contentId, chunkId, storeId, score (0 to 1), matchedText, lineRange, relevanceType, "
        "filename; if known: title, source, mimeType, heading, highlights, before, after"
    )
    notes: list[str] = []
    _text: str = PrivateAttr("")

    def __str__(self) -> str:
        return self._text

    def with_text(self, text: str) -> "ContentMatches":
        """Set the text for models and return the result."""
        self._text = text
        return self


def format_iso(timestamp: float) -> str:
    """Format seconds since the epoch as ISO 8601 in UTC."""
    return datetime.fromtimestamp(timestamp, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def serialize_record(record: "ContentRecord") -> dict[str, Any]:
    """Return a content as `addContent` reports it."""
    return {
        "storeId": record.store_id,
        "contentId": record.id,
        "filename": record.filename,
        "mimeType": record.mime_type,
        "size": record.size,
        "lineCount": record.line_count,
        "preview": record.preview,
        "uploadedAt": format_iso(record.uploaded_at),
        "chunkCount": record.chunk_count,
        "version": record.version,
    }


def serialize_listed_record(record: "ContentRecord") -> dict[str, Any]:
    """Return a content as `listContent` reports it."""
    optional = {"title": record.title, "source": record.source}
    row = serialize_record(record) | {"lastAccessedAt": format_iso(record.accessed_at)}
    return row | {name: value for name, value in optional.items() if value}


def serialize_match(hit: "ContentHit") -> dict[str, Any]:
    """Return a hit as the search tools report it."""
    row = {
        "contentId": hit.content_id,
        "chunkId": hit.chunk_id,
        "storeId": hit.store_id,
        "score": round(hit.score, 4),
        "matchedText": clean_untrusted(hit.excerpt_text),
        "lineRange": [hit.from_line, hit.to_line],
        "relevanceType": hit.kind,
        "filename": hit.filename,
        "mimeType": hit.mime_type,
    }
    optional = {
        "title": hit.title,
        "source": hit.source,
        "heading": hit.heading,
        "highlights": list(hit.excerpt.matches),
        "before": clean_untrusted(hit.before),
        "after": clean_untrusted(hit.after),
    }
    return row | {name: value for name, value in optional.items() if value}
