"""Tools that store texts and search them by words and meaning."""

import time
from collections.abc import Sequence
from dataclasses import replace
from mimetypes import guess_type
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from outrider.content.chunking.line_index import LineIndex
from outrider.content.models import ContentDraft, ContentRecord, Store
from outrider.content.stores import ContentStores
from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.server_record import ServerRecord
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.core.untrusted import clean_untrusted, disarm_marks
from outrider.toolsets.content_store.schemas import (
    AddedContent,
    ContentId,
    ContentLines,
    ContentList,
    ContentMatches,
    ContentMetadata,
    CreatedStore,
    DeletedContent,
    FileUrl,
    Options,
    Pagination,
    QueryText,
    SearchedStore,
    StoreId,
    StoreInfo,
    StoreList,
    StoreMetadata,
    build_alias_field,
    format_iso,
    serialize_listed_record,
    serialize_match,
    serialize_record,
)
from outrider.toolsets.content_store.sources import ContentSources
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import MaxCharacters, check_offset
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

if TYPE_CHECKING:
    from outrider.content.search import ContentSearchResult, SearchMode

content_store = Toolset(
    "content_store",
    "addContent stores texts, files and pages. Find passages with keywordSimilaritySearch (exact words), "
    "semanticSimilaritySearch (meaning) or hybridSimilaritySearch (when unsure), then readContent the lines around.",
    aliases=("contentstore",),
    display_name="Content Store",
    usual_names=USUAL_TOOL_NAMES["content_store"],
    record=ServerRecord(category="storage"),
)

DirectText = Annotated[str | None, Field(description="The text itself; this or file_url")]
FromLine = Annotated[int, build_alias_field("from_line", ge=1)]
ToLine = Annotated[int | None, build_alias_field("to_line", ge=1, description="Default: the last")]
MaxChars = Annotated[MaxCharacters, build_alias_field("max_chars")]


@content_store.tool(effect="write", title="Create a store", stake="never_ask")
async def createStore(
    stores: ContentStores,
    call: Call,
    /,
    metadata: StoreMetadata | None = None,
    name: Annotated[str | None, Field(max_length=200)] = None,
    description: Annotated[str | None, Field(max_length=2_000)] = None,
) -> CreatedStore:
    """Create a separate store, e.g. for one topic. addContent works without it."""
    metadata = metadata or StoreMetadata()
    store = await stores.create_store(call, name or metadata.name, description or metadata.description)
    return CreatedStore(
        storeId=store.id,
        id=store.id,
        createdAt=format_iso(store.created_at),
        name=store.name,
        description=store.description,
    )


@content_store.tool(effect="write", title="Store content", stake="never_ask", open_world=True, timeout=170)
async def addContent(
    stores: ContentStores,
    sources: ContentSources,
    call: Call,
    /,
    file_url: FileUrl = None,
    content: DirectText = None,
    store_id: StoreId = None,
    metadata: ContentMetadata | None = None,
) -> AddedContent:
    """Store a text, file (text, code, PDF, Office, HTML, e-mail…) or web page, to search it later."""
    metadata, started = metadata or ContentMetadata(), time.time()
    draft = await _build_draft(sources, call, file_url, content)
    if content is not None and metadata.mime_type is None:
        guessed = guess_type(metadata.filename or "")[0] or ""
        draft = replace(draft, mime_type=guessed if guessed.startswith("text/") else "text/plain")
    record = await stores.add(call, replace(draft, **_collect_given_fields(metadata)), store_id)
    if record.modified_at < started:
        return AddedContent(**serialize_record(record), note="the store already had this text; nothing was added")
    return AddedContent(**serialize_record(record))


@content_store.tool(title="List content", untrusted=True)
async def listContent(
    stores: ContentStores, call: Call, /, store_id: StoreId = None, pagination: Pagination | None = None
) -> ContentList:
    """List the content of a store, newest first."""
    page = pagination or Pagination()
    store = await stores.get_store(call, store_id)
    records, total = await stores.list_records(call, store.id, page.offset, page.limit)
    more = page.offset + len(records) < total
    return ContentList(
        storeId=store.id, contents=[serialize_listed_record(record) for record in records], total=total, hasMore=more
    )


@content_store.tool(title="Read content", untrusted=True)
async def readContent(
    stores: ContentStores,
    artifacts: ArtifactStore,
    tool_options: ToolOptions,
    call: Call,
    /,
    content_id: ContentId,
    from_line: FromLine = 1,
    to_line: ToLine = None,
    max_chars: MaxChars = DEFAULT_CUT_CHARS,
    offset: Annotated[int, Field(ge=0, description="Characters to skip, for very long lines")] = 0,
    original: Annotated[bool, Field(description="Also return the original file as a resource")] = False,
) -> ContentLines:
    """Read lines of stored content verbatim."""
    passage = await stores.read_lines(call, content_id, from_line, to_line)
    check_offset(offset, len(passage.text), "the lines")
    record, piece = passage.record, cut_text(passage.text, max_chars, offset)
    line_index = LineIndex(passage.text)
    first = from_line + line_index.find_line(piece.offset) - 1
    last = from_line + line_index.find_line(max(piece.offset + len(piece.text) - 1, piece.offset)) - 1
    fields: dict[str, Any] = {"contentId": record.id, "filename": record.filename, "lineCount": record.line_count}
    note = f"lines {first} to {last} of {record.line_count}"
    if piece.next_offset is not None:
        fields |= {"truncated": True, "nextOffset": piece.next_offset}
        note += f"; read on with from_line={from_line} and offset={piece.next_offset}"
    if original:
        body = await stores.read_original(call, content_id)
        name = record.filename or record.id
        file = await artifacts.save(body, name=name, mime_type=record.mime_type, session=call.session, call=call)
        fields["original"] = file.uri
        note += f"; the original ({record.mime_type}, {len(body):,} bytes) is {file.uri}"
    head = f"{record.filename or record.id}: {note}"
    text = tool_options.mark_untrusted(clean_untrusted(piece.text), record.source) if record.source else piece.text
    return ContentLines(content=piece.text, lineRange=[first, last], **fields).with_text(f"{head}\n\n{text}")


@content_store.tool(title="Search by words", untrusted=True)
async def keywordSimilaritySearch(
    stores: ContentStores,
    tool_options: ToolOptions,
    call: Call,
    /,
    query: QueryText,
    store_id: SearchedStore = None,
    options: Options | None = None,
) -> ContentMatches:
    """Find stored passages by exact words (BM25), such as names, terms and numbers."""
    return await _search_contents(stores, tool_options, call, "keyword", query, store_id, options)


@content_store.tool(title="Search by meaning", untrusted=True)
async def semanticSimilaritySearch(
    stores: ContentStores,
    tool_options: ToolOptions,
    call: Call,
    /,
    query: QueryText,
    store_id: SearchedStore = None,
    options: Options | None = None,
) -> ContentMatches:
    """Find stored passages by meaning, even in other words."""
    return await _search_contents(stores, tool_options, call, "semantic", query, store_id, options)


@content_store.tool(title="Search by words and meaning", untrusted=True)
async def hybridSimilaritySearch(
    stores: ContentStores,
    tool_options: ToolOptions,
    call: Call,
    /,
    query: QueryText,
    store_id: SearchedStore = None,
    options: Options | None = None,
) -> ContentMatches:
    """Find stored passages by words and meaning; the best choice for questions."""
    return await _search_contents(stores, tool_options, call, "hybrid", query, store_id, options)


@content_store.tool(effect="write", title="Update content", stake="never_ask", open_world=True, timeout=170)
async def updateContent(
    stores: ContentStores,
    sources: ContentSources,
    call: Call,
    /,
    content_id: ContentId,
    content: DirectText = None,
    file_url: FileUrl = None,
    metadata: ContentMetadata | None = None,
) -> AddedContent:
    """Replace the text of stored content, or only its metadata. The id stays; searches find the new text at once."""
    metadata = metadata or ContentMetadata()
    if content is None and file_url is None:
        if not metadata.model_fields_set:
            raise _build_missing_error("content, file_url or metadata")
        record = await stores.update(call, content_id, **_collect_given_fields(metadata))
    else:
        old = await stores.get_record(call, content_id)
        draft = await _build_draft(sources, call, file_url, content)
        if content is not None:  # a text has no file name
            names = {"filename": old.filename, "mime_type": old.mime_type, "source": old.source, "title": old.title}
            draft = replace(draft, markdown=bool(old.facts.get("markdown")), **names)
        record = await stores.update(call, content_id, replace(draft, **_collect_given_fields(metadata)))
    return AddedContent(**serialize_record(record))


@content_store.tool(effect="act", title="Delete content", stake="low")
async def deleteContent(stores: ContentStores, call: Call, /, content_id: ContentId) -> DeletedContent:
    """Delete stored content permanently."""
    await stores.delete(call, content_id)
    return DeletedContent(contentId=content_id, deleted=True)


@content_store.tool(title="Describe a store")
async def getStoreInfo(stores: ContentStores, call: Call, /, store_id: StoreId = None) -> StoreInfo:
    """Show a store's size, number of texts and dates."""
    return StoreInfo.from_store(await stores.get_store(call, store_id), semantic=stores.has_semantic_search)


@content_store.tool(title="List stores")
async def listStores(stores: ContentStores, call: Call, /, pagination: Pagination | None = None) -> StoreList:
    """List your stores, newest first."""
    page = pagination or Pagination()
    listed, total = await stores.list_stores(call, page.offset, page.limit)
    rows = [StoreInfo.from_store(store, semantic=stores.has_semantic_search) for store in listed]
    return StoreList(stores=rows, total=total, hasMore=page.offset + len(rows) < total)


@content_store.register_context
async def describe_stores(stores: ContentStores, call: Call) -> tuple[str, dict[str, Any]]:
    """Return the session's stores as a part of a system prompt, and as data."""
    max_listed_contents = 5
    listed, total = await stores.list_stores(call, 0, 1_000)
    default = next((store for store in listed if store.is_default), None)
    records = (await stores.list_records(call, default.id, 0, max_listed_contents))[0] if default else []
    return format_context(listed, total, records), serialize_state(listed, total)


def format_context(stores: Sequence[Store], total: int, records: Sequence[ContentRecord] = ()) -> str:
    """Format the stores for a system prompt.

    The latest contents of the session's own store are included.
    """
    max_context_chars = 4_000
    items = sum(store.content_count for store in stores)
    lines = [
        "# Content Store Server Status",
        "**Server**: content_store",
        "**Status**: Active",
        f"**Stores Available**: {total} stores",
        f"**Total Content**: {items} items",
    ]
    for record in records:
        preview = disarm_marks(" ".join(clean_untrusted(record.preview).split()))
        preview = f"{preview[:80]}…" if len(preview) > 80 else preview
        lines.append(f"- {record.filename or record.id} ({record.size} bytes): {preview}")
    return cut_text("\n".join(lines), max_context_chars).text


def serialize_state(stores: Sequence[Store], total: int) -> dict[str, Any]:
    """Return the stores for programs."""
    rows = [{"storeId": store.id, "name": store.name, "contentCount": store.content_count} for store in stores]
    return {"stores": rows, "totalStores": total, "totalContent": sum(store.content_count for store in stores)}


async def _build_draft(sources: ContentSources, call: Call, file_url: str | None, content: str | None) -> ContentDraft:
    """Build the content from the file or the text. Raises InvalidInput for both or none (code `MISSING_INPUT`)."""
    if file_url is not None and content is not None:
        raise InvalidInput("content and file_url are both given", hint="send one of them")
    if file_url is not None:
        return await sources.read_draft(call, file_url)
    if content is None:
        raise _build_missing_error("content or file_url")
    return ContentDraft(content, filename="direct_content")


def _build_missing_error(fields: str) -> InvalidInput:
    return InvalidInput(f"there is nothing to store: {fields} is required", hint=f"send {fields}", code="MISSING_INPUT")


def _collect_given_fields(metadata: ContentMetadata) -> dict[str, Any]:
    return {name: value for name, value in metadata.model_dump().items() if value is not None}


async def _search_contents(
    stores: ContentStores,
    tool_options: ToolOptions,
    call: Call,
    mode: "SearchMode",
    query: str,
    store_id: str | None,
    options: Options | None,
) -> ContentMatches:
    from outrider.content.search import SearchOptions

    if not query.strip():
        raise InvalidInput("query: is blank", hint="say what to look for")
    options = options or Options()
    search_options = SearchOptions(
        mode,
        [store_id] if store_id is not None else None,
        options.top_n,
        options.threshold,
        options.mime_type,
        options.source,
        options.since,
        options.until,
        options.neighbours,
    )
    result = await stores.search(call, query.strip(), search_options)
    rows = [serialize_match(hit) for hit in result.hits]
    notes = {"notes": list(result.notes)} if result.notes else {}
    return ContentMatches(results=rows, **notes).with_text(_format_matches(tool_options, query, result))


def _format_matches(tool_options: ToolOptions, query: str, result: "ContentSearchResult") -> str:
    """Format the hits for models, each below its score, lines and names."""
    if not result.hits:
        return "\n".join([f"no passage matches {query!r}; try other words, or another kind of search", *result.notes])
    passages = []
    for hit in result.hits:
        names = " · ".join(dict.fromkeys(filter(None, (hit.filename, hit.title, hit.source, hit.heading))))
        head = f"[{hit.score:.2f}] {hit.content_id} lines {hit.from_line}-{hit.to_line} · {names}"
        texts = (hit.before, hit.text, hit.after) if hit.before or hit.after else (hit.excerpt_text,)
        parts = [clean_untrusted(head), *(clean_untrusted(text).strip() for text in texts if text.strip())]
        passages.append("\n".join(parts))
    body = tool_options.mark_untrusted("\n\n".join(passages), "content store")
    notes = "".join(f"\nNote: {note}" for note in result.notes)
    count = f"{len(result.hits)} passage{'s' * (len(result.hits) != 1)}"
    return f"{count}, best first; readContent reads around one{notes}\n\n{body}"
