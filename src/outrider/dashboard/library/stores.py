"""Content stores: what they hold, passage by passage, and search inside."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from outrider.content import Hit, Record, SearchOptions
from outrider.content.failures import store_not_found
from outrider.content.overview import Chunk, OwnedStore
from outrider.dashboard.files import attachment
from outrider.dashboard.library.listing import SIZE, asked, further, part, section
from outrider.dashboard.library.owners import Owners, owners
from outrider.dashboard.library.viewing import WEIGHT, start_of, weight_of
from outrider.dashboard.naming import label
from outrider.dashboard.page import house_of
from outrider.dashboard.reach import Owner, may_see, only_workspace

NAME = "library_stores"
HITS = 20
PASSAGES = 60  # of a content on one page, if they are not too heavy
MODES = ("keyword", "hybrid", "semantic")


@dataclass(frozen=True)
class ShownHit:
    """A hit with its excerpt in pieces, of which some match."""

    hit: Hit
    title: str
    pieces: Sequence[tuple[str, bool]]


async def show_stores(request: Request) -> Response:
    """All stores."""
    house, wish = house_of(request), asked(request)
    only = only_workspace(request)
    found = await house.content.overview.stores(text=wish.q, workspace=only, after=wish.after, limit=SIZE)
    known = await owners(house)
    rows = [_row(each, known) for each in found.items if may_see(request, Owner(each.workspace, each.identity))]
    return await part(request, NAME, "stores", after=found.after, stores=rows)


async def show_store(request: Request) -> Response:
    """What one store holds, or what a search in it finds."""
    owned, known = await _store(request)
    wanted = request.query_params.get("find", "").strip()[:500]
    mode = _mode(request)
    shown = _row(owned, known) | {"find": wanted, "mode": mode, "semantic": house_of(request).content.semantic}
    if wanted:
        options = SearchOptions(mode=mode, stores=[owned.store.id], top_n=HITS)
        found = await house_of(request).content.overview.search(wanted, options)
        hits = [_shown(hit) for hit in found.hits]
        return await section(request, NAME, "store_hits", store=shown, hits=hits, notes=found.notes)
    wish = asked(request)
    held = await house_of(request).content.overview.contents(owned.store.id, text=wish.q, after=wish.after, limit=SIZE)
    rows = [(each, title_of(each)) for each in held.items]
    return await part(request, NAME, "store", after=held.after, store=shown, contents=rows)


async def show_content(request: Request) -> Response:
    """The passages of a content."""
    record, owned, known = await _content(request)
    first = start_of(request.query_params.get("from", ""))
    overview = house_of(request).content.overview
    shown = _light(await overview.passages(record.id, first=first, limit=PASSAGES))
    last = shown[-1].number + 1 if shown else 0
    return await section(
        request, NAME, "content", record=record, title=title_of(record), store=_row(owned, known),
        facts=json.dumps(dict(record.facts), ensure_ascii=False, indent=2)[:2_000] if record.facts else "",
        passages=[(each, label(each.heading, limit=300)) for each in shown],
        newest=further(request, **{"from": ""}) if first else "",
        older=further(request, **{"from": last}) if 0 < last < record.chunk_count else "",
    )  # fmt: skip


async def save_content(request: Request) -> Response:
    """The text of a content, exactly as it is kept."""
    record, _, _ = await _content(request)
    name = record.filename or record.title or record.id
    kind = "text/markdown" if record.facts.get("markdown") else "text/plain"
    suffix = ".md" if kind == "text/markdown" else ".txt"
    text = _encoded(house_of(request).content.overview.text(record.id))
    return attachment(name if name.endswith(suffix) else f"{name}{suffix}", kind, text)


def title_of(record: Record) -> str:
    """What a content is called."""
    return label(record.title) or label(record.filename) or label(record.source) or record.id


def pieces(text: str, matches: Sequence[str]) -> list[tuple[str, bool]]:
    """The text in order, cut where a match begins or ends."""
    words = sorted((re.escape(each) for each in matches if each), key=len, reverse=True)
    if not words:
        return [(text, False)]
    parts = re.split(f"((?<!\\w)(?:{'|'.join(words)})(?!\\w))", text, flags=re.IGNORECASE)
    return [(piece, number % 2 == 1) for number, piece in enumerate(parts) if piece]


async def _store(request: Request) -> tuple[OwnedStore, Owners]:
    house, wanted = house_of(request), request.path_params["store"]
    return await _seen(request, await house.content.overview.store(wanted))


async def _seen(request: Request, owned: OwnedStore) -> tuple[OwnedStore, Owners]:
    known = await owners(house_of(request))
    if not may_see(request, Owner(owned.workspace, owned.identity)):
        raise store_not_found(owned.store.id)
    return owned, known


async def _content(request: Request) -> tuple[Record, OwnedStore, Owners]:
    overview = house_of(request).content.overview
    record = await overview.content(request.path_params["content"])
    return record, *(await _seen(request, await overview.store(record.store_id)))


def _mode(request: Request) -> Any:
    mode = request.query_params.get("mode", "")
    allowed = MODES if house_of(request).content.semantic else MODES[:1]
    return mode if mode in allowed else "keyword"


def _row(owned: OwnedStore, known: Owners) -> dict[str, Any]:
    store = owned.store
    return {
        "id": store.id,
        "name": label(store.name, "unnamed"),
        "description": label(store.description, limit=400),
        "contents": store.content_count,
        "passages": store.chunk_count,
        "size": store.total_size,
        "modified_at": store.modified_at,
        "created_at": store.created_at,
        "owner": known.said(owned.scope),
    }


def _shown(hit: Hit) -> ShownHit:
    title = label(hit.title) or label(hit.filename) or label(hit.source) or hit.content_id
    return ShownHit(hit, title, pieces(hit.shown, hit.excerpt.matches))


def _light(passages: Sequence[Chunk]) -> list[Chunk]:
    """As many of them as make a page of bearable weight, and at least one."""
    shown, weight = [], 0
    for each in passages:
        weight += weight_of(each.text) + weight_of(each.heading) + 400
        if shown and weight > WEIGHT:
            break
        shown.append(each)
    return shown


async def _encoded(text: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for each in text:
        yield each.encode("utf-8", "replace")
