"""Library pages of content stores, their passages and search."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from outrider.content.errors import store_not_found
from outrider.content.models import ContentRecord
from outrider.content.overview import OwnedStore
from outrider.content.search import ContentHit, SearchOptions
from outrider.dashboard.access import ResourceOwner, can_view, get_allowed_workspace
from outrider.dashboard.files import build_attachment
from outrider.dashboard.labels import format_label
from outrider.dashboard.library.listing import (
    LIST_PAGE_SIZE,
    build_list_url,
    parse_list_query,
    render_list,
    render_section,
)
from outrider.dashboard.library.owners import SessionOwners, load_session_owners
from outrider.dashboard.library.preview import MAX_PART_HTML_BYTES, measure_html_bytes, parse_start
from outrider.dashboard.page import get_services

STORES_SECTION = "library_stores"


@dataclass(frozen=True)
class HitView:
    """A hit with its excerpt split at matches."""

    hit: ContentHit
    title: str
    pieces: Sequence[tuple[str, bool]]


async def show_stores(request: Request) -> Response:
    """Show all stores."""
    services, list_query = get_services(request), parse_list_query(request)
    allowed_workspace = get_allowed_workspace(request)
    found = await services.content.overview.list_stores(
        text=list_query.q, workspace=allowed_workspace, after=list_query.after, limit=LIST_PAGE_SIZE
    )
    known = await load_session_owners(services)
    rows = [
        _build_store_row(each, known)
        for each in found.items
        if can_view(request, ResourceOwner(each.workspace, each.identity))
    ]
    return await render_list(request, STORES_SECTION, "stores", after=found.after, stores=rows)


async def show_store(request: Request) -> Response:
    """Show the contents of a store, or search results in it."""
    max_hits = 20
    services = get_services(request)
    store = await services.content.overview.get_store(request.path_params["store"])
    owned, known = await _require_visible(request, store)
    search_text = request.query_params.get("find", "").strip()[:500]
    modes = ("keyword", "hybrid", "semantic") if services.content.has_semantic_search else ("keyword",)
    mode = request.query_params.get("mode", "")
    mode = mode if mode in modes else "keyword"
    store_row = _build_store_row(owned, known) | {
        "find": search_text,
        "mode": mode,
        "semantic": services.content.has_semantic_search,
    }
    if search_text:
        options = SearchOptions(mode=mode, stores=[owned.store.id], top_n=max_hits)
        found = await services.content.overview.search(search_text, options)
        hits = []
        for hit in found.hits:
            title = format_label(hit.title) or format_label(hit.filename) or format_label(hit.source) or hit.content_id
            hits.append(HitView(hit, title, split_at_matches(hit.excerpt_text, hit.excerpt.matches)))
        return await render_section(
            request, STORES_SECTION, "store_hits", store=store_row, hits=hits, notes=found.notes
        )
    list_query = parse_list_query(request)
    contents = await services.content.overview.list_contents(
        owned.store.id, text=list_query.q, after=list_query.after, limit=LIST_PAGE_SIZE
    )
    rows = [(each, describe_title(each)) for each in contents.items]
    return await render_list(request, STORES_SECTION, "store", after=contents.after, store=store_row, contents=rows)


async def show_content(request: Request) -> Response:
    """Show the passages of a content."""
    max_passages = 60  # of a content on one page, unless their HTML is too large
    record, owned, known = await _require_content(request)
    first = parse_start(request.query_params.get("from", ""))
    overview = get_services(request).content.overview
    # As many as fit on a page, at least one
    shown_versions, weight = [], 0
    for each in await overview.list_passages(record.id, first=first, limit=max_passages):
        weight += measure_html_bytes(each.text) + measure_html_bytes(each.heading) + 400
        if shown_versions and weight > MAX_PART_HTML_BYTES:
            break
        shown_versions.append(each)
    last = shown_versions[-1].number + 1 if shown_versions else 0
    return await render_section(
        request,
        STORES_SECTION,
        "content",
        record=record,
        title=describe_title(record),
        store=_build_store_row(owned, known),
        facts=json.dumps(dict(record.facts), ensure_ascii=False, indent=2)[:2_000] if record.facts else "",
        passages=[(each, format_label(each.heading, limit=300)) for each in shown_versions],
        newest=build_list_url(request, **{"from": ""}) if first else "",
        older=build_list_url(request, **{"from": last}) if 0 < last < record.chunk_count else "",
    )


async def save_content(request: Request) -> Response:
    """Download the text of a content exactly as stored."""
    record, _, _ = await _require_content(request)
    name = record.filename or record.title or record.id
    kind = "text/markdown" if record.facts.get("markdown") else "text/plain"
    suffix = ".md" if kind == "text/markdown" else ".txt"
    passages = get_services(request).content.overview.iter_text(record.id)
    text = (each.encode("utf-8", "replace") async for each in passages)
    return build_attachment(name if name.endswith(suffix) else f"{name}{suffix}", kind, text)


def describe_title(record: ContentRecord) -> str:
    """Return the title of a content."""
    return format_label(record.title) or format_label(record.filename) or format_label(record.source) or record.id


def split_at_matches(text: str, matches: Sequence[str]) -> list[tuple[str, bool]]:
    """Split the text where matches begin and end."""
    words = sorted((re.escape(each) for each in matches if each), key=len, reverse=True)
    if not words:
        return [(text, False)]
    parts = re.split(f"((?<!\\w)(?:{'|'.join(words)})(?!\\w))", text, flags=re.IGNORECASE)
    return [(piece, number % 2 == 1) for number, piece in enumerate(parts) if piece]


async def _require_visible(request: Request, owned: OwnedStore) -> tuple[OwnedStore, SessionOwners]:
    known = await load_session_owners(get_services(request))
    if not can_view(request, ResourceOwner(owned.workspace, owned.identity)):
        raise store_not_found(owned.store.id)
    return owned, known


async def _require_content(request: Request) -> tuple[ContentRecord, OwnedStore, SessionOwners]:
    overview = get_services(request).content.overview
    record = await overview.get_content(request.path_params["content"])
    return record, *(await _require_visible(request, await overview.get_store(record.store_id)))


def _build_store_row(owned: OwnedStore, known: SessionOwners) -> dict[str, Any]:
    store = owned.store
    return {
        "id": store.id,
        "name": format_label(store.name, "unnamed"),
        "description": format_label(store.description, limit=400),
        "contents": store.content_count,
        "passages": store.chunk_count,
        "size": store.total_size,
        "modified_at": store.modified_at,
        "created_at": store.created_at,
        "owner": known.describe_owner(owned.scope),
    }
