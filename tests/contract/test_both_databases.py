"""Check the list of tests that run on both databases, and two apps on one Postgres."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from outrider.core.context import Call
from support.apps import loopback_app, replicas
from support.databases import postgres
from support.databases.both_databases import DatabaseSetup

HERE = Path(__file__).parent
pytestmark = pytest.mark.anyio
MINE = Call(session="mine", assistant="me")


def load_both_table() -> dict[str, frozenset[str] | None]:
    spec = importlib.util.spec_from_file_location("contract_conftest", HERE / "conftest.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BOTH


@pytest.mark.parametrize("file", sorted(load_both_table()))
def test_every_test_that_is_chosen_for_both_databases_exists(file: str):
    source = (HERE / f"{file}.py").read_text()
    assert [name for name in load_both_table()[file] or () if f"def {name}(" not in source] == []


@postgres.needs_postgres
async def test_two_apps_on_one_server_share_their_state(tmp_path: Path, server: postgres.PostgresServer):
    """Each app knows the contents, plans, pages and provider health of the other, although their folders differ."""
    address = server.create_migrated_database()
    asked: list[str] = []
    tea = loopback_app.build_page_site(
        {"/tea": (200, {"cache-control": "max-age=3600"}, loopback_app.build_article_html("Tea", "Steeped.").encode())}
    )

    async def site(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope.get("path", ""))
        await tea(scope, receive, send)

    async with loopback_app.open_loopback_app(tmp_path / "one", site, more={"database": address}) as first:
        more = {"database": address, "egress": {"allow": [f"127.0.0.1:{first.site_url.rsplit(':', 1)[1]}"]}}
        async with loopback_app.open_loopback_app(tmp_path / "two", more=more) as second:
            await first.app.call("addContent", MINE, content="Oolong is half oxidised.", metadata={"filename": "o"})
            await first.app.call("create_goal", MINE, goal="Drink tea")
            found = (await second.app.call("keywordSimilaritySearch", MINE, query="oxidised oolong")).data["results"]
            assert [hit["filename"] for hit in found] == ["o"]
            assert (await second.app.call("get_current_state", MINE)).data["goal"] == "Drink tea"
            texts = [
                (await each.app.call("web_fetch", MINE, url=f"{first.site_url}/tea")).text for each in (first, second)
            ]
            assert ["Steeped." in text for text in texts] == [True, True]
            assert asked.count("/tea") == 1
            first.provider_behaviour.modes = {"brave": "429"}
            for each in (first, second):
                assert (await each.app.call("web_search", MINE, query="tea")).data["provider"] == "serper"
            assert {request.provider for request in second.provider_behaviour.requests} == {"serper"}
    server.drop_database(address)


@postgres.needs_postgres
async def test_replicas_are_called_in_turn(tmp_path: Path, server: postgres.PostgresServer):
    rows = DatabaseSetup(server, replicas=3)
    rows.configure_home(tmp_path)
    async with replicas.open_replicated_app(tmp_path, {"toolsets": ["planning"]}) as app:
        assert isinstance(app, replicas.RoundRobinApp)
        assert [each.loaded.settings.data_dir.name for each in app.apps] == ["0", "1", "2"]
        for goal in ("one", "two", "three", "four"):
            await app.call("create_goal", MINE, goal=goal)
        assert (await app.call("get_current_state", MINE)).data["goal"] == "four"
    rows.drop_databases()
