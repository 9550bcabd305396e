"""Stores of all sessions, as the operator sees them."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.content.models import ContentDraft
from outrider.content.search import SearchOptions
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotFound
from support.databases import sqlite

pytestmark = pytest.mark.anyio
ANN, BOB = Call(session="ann"), Call(session="bob", identity="bob@example.org")


@pytest.fixture
async def content(tmp_path: Path) -> AsyncGenerator[ContentStores]:
    database = Database.from_file(sqlite.create_migrated_file(tmp_path / "outrider.db"))
    opened = ContentStores(database, tmp_path / "content")
    yield opened
    await opened.close()
    await database.close()


async def test_the_stores_of_all_sessions_are_listed_in_parts_with_their_figures(content: ContentStores):
    first = await content.create_store(ANN, "Ann's tea", "leaves")
    second = await content.create_store(BOB, "Bob's coffee")
    await content.add(BOB, ContentDraft("Arabica grows high.", title="Beans"), second.id)
    part = await content.overview.list_stores(limit=1)
    assert [(each.store.id, each.store.content_count, each.scope) for each in part.items] == [(second.id, 1, BOB.scope)]
    rest = await content.overview.list_stores(limit=1, after=part.after)
    assert [(each.store.id, each.scope) for each in rest.items] == [(first.id, ANN.scope)]
    assert rest.after == ""
    assert [each.store.id for each in (await content.overview.list_stores(text="LEAVES")).items] == [first.id]


async def test_the_contents_of_a_store_are_listed_in_parts_and_found_by_title(content: ContentStores):
    store = await content.create_store(ANN, "notes")
    kept = [await content.add(ANN, ContentDraft(f"Text {n}", title=f"Title {n}"), store.id) for n in range(3)]
    part = await content.overview.list_contents(store.id, limit=2)
    assert [each.id for each in part.items] == [kept[2].id, kept[1].id]
    assert [each.id for each in (await content.overview.list_contents(store.id, limit=2, after=part.after)).items] == [
        kept[0].id
    ]
    assert [each.id for each in (await content.overview.list_contents(store.id, text="title 1")).items] == [kept[1].id]
    with pytest.raises(InvalidInput, match="after: "):
        await content.overview.list_contents(store.id, after="behind")


async def test_a_text_is_returned_in_pieces_exactly_as_stored(content: ContentStores):
    text = "\n\n".join(f"# Chapter {n}\n\n" + f"Sentence {n} of this book. " * 80 for n in range(40)) + "\r\nThe end"
    kept = await content.add(ANN, ContentDraft(text, markdown=True))
    assert "".join([piece async for piece in content.overview.iter_text(kept.id)]) == text
    passages = await content.overview.list_passages(kept.id, first=3, limit=2)
    assert [each.number for each in passages] == [3, 4]
    assert passages[0].text in text
    assert await content.overview.get_content(kept.id) == kept


async def test_any_owners_store_is_searched_and_no_other_with_it(content: ContentStores):
    mine = await content.create_store(ANN, "mine")
    others = await content.create_store(BOB, "others")
    await content.add(ANN, ContentDraft("Green tea is steamed."), mine.id)
    await content.add(BOB, ContentDraft("Black tea is oxidised."), others.id)
    found = await content.overview.search("tea", SearchOptions(stores=[others.id]))
    assert [hit.text for hit in found.hits] == ["Black tea is oxidised."]
    with pytest.raises(NotFound):
        await content.overview.search("tea", SearchOptions(stores=["store_unknown"]))
    with pytest.raises(NotFound):
        await content.search(ANN, "tea", SearchOptions(stores=[others.id]))


async def test_the_stores_of_one_workspace_are_listed_alone(content: ContentStores):
    await content.create_store(ANN, "anywhere")
    there = await content.create_store(Call(session="ann", workspace="w", identity="ann@example.org"), "there")
    found = (await content.overview.list_stores(workspace="w")).items
    assert [(each.store.id, each.workspace, each.identity) for each in found] == [(there.id, "w", "ann@example.org")]
    assert (await content.overview.list_stores(workspace="other")).items == []


async def test_unknown_ids_are_named(content: ContentStores):
    with pytest.raises(NotFound, match="nothing"):
        await content.overview.get_store("nothing")
    with pytest.raises(NotFound, match="nothing"):
        await content.overview.get_content("nothing")
