"""`outrider.connect()` as scripts use it: the tools, sessions and errors of the shared process."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

import outrider
from outrider import InvalidInput, NotFound, OutriderError, Refused, connect, connect_async
from outrider.core.result import ImageBlock, LinkBlock
from support.apps import loopback_app, shared_process
from support.fakes import http_servers
from support.processes import outrider_command
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
TEA_SHOP_HTML = "<!doctype html><title>Tea shop</title><label>Name <input id=name></label>"


@pytest.fixture(scope="module")
def person_home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """The home of a user whose shared process serves all tests of this file."""
    folder = tmp_path_factory.mktemp("home")
    with shared_process.start_host_user(folder):
        yield folder


@pytest.fixture
async def site(person_home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[str]:
    """A page that the user may open."""
    monkeypatch.setenv("HOME", str(person_home))
    async with http_servers.serve_app(loopback_app.build_page_site({"/form": TEA_SHOP_HTML})) as url:
        monkeypatch.setenv("OUTRIDER_EGRESS__ALLOW", url.removeprefix("http://"))
        monkeypatch.setenv("OUTRIDER_TOOLS__STAKES", '{"delete_playbook": "high"}')
        yield url


async def run_command(*words: str) -> str:
    """Run a terminal command in the working directory and return its output."""
    return (await anyio.run_process(outrider_command.build_command(*words))).stdout.decode()


def use_tools(site: str) -> None:
    with connect() as client:
        made = client.call("create_goal", goal="see the sea")
        client.call("inputText", selector="#name", text="Ada")
        picture = client.call("takeScreenshot")
        with connect("another") as other, pytest.raises(NotFound, match="session"):
            other.call("getPageTitle", sessionId="s-1")
        wrong_calls: list[tuple[str, dict[str, Any], type[OutriderError]]] = [
            ("create_gaol", {}, NotFound),
            ("create_goal", {"goal": ""}, InvalidInput),
            ("delete_playbook", {"playbook_id": "x"}, Refused),
            ("navigateToUrl", {"url": "http://10.0.0.1/"}, Refused),
        ]
        for tool, arguments, error in wrong_calls:
            with pytest.raises(error) as raised:
                client.call(tool, **arguments)
            assert raised.value.message
        tools = {each.name: each for each in client.list_tools()}
    assert made.data["goal"] == "see the sea"
    assert any(isinstance(block, ImageBlock) and block.data for block in picture.content)
    assert tools["web_search"].reads_only
    assert tools["create_goal"].output_schema


async def test_a_script_continues_in_the_session_of_the_terminal(site: str):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        await run_command("browser", "open", f"{site}/form")
        await anyio.to_thread.run_sync(use_tools, site)
        shown = await run_command("browser", "snapshot")
        state = await run_command("call", "get_current_state")
    assert '= "Ada"' in shown
    assert "see the sea" in state


async def test_lists_among_settings_reach_the_shared_process(site: str):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with connect_async("lists", settings={"tools.disable": ["web_search"], "boundary": False}) as client:
            tools = {each.name for each in await client.list_tools()}
    assert "web_fetch" in tools
    assert "web_search" not in tools


async def test_errors_are_the_same_as_in_process(site: str):
    wrong_calls: list[tuple[str, dict[str, Any]]] = [
        ("create_goal", {"aims": 3}),
        ("create_gaol", {}),
        ("closeSession", {}),
    ]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with outrider.open_app(outrider.load({"toolsets": ["all"]})) as app, connect_async() as client:
            told: list[list[dict[str, object]]] = [[], []]
            for answers, call in zip(told, (app.call, client.call), strict=True):
                for tool, arguments in wrong_calls:
                    with pytest.raises(OutriderError) as raised:
                        await call(tool, **arguments)
                    answers.append(raised.value.to_dict())
    assert told[0] == told[1]


async def test_asyncio_calls_run_concurrently_and_can_be_cancelled(site: str, monkeypatch: pytest.MonkeyPatch):
    began, hung_up = anyio.Event(), anyio.Event()

    async def never_answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"] == "/slow":
            began.set()
            while (await receive())["type"] != "http.disconnect":
                pass
            hung_up.set()

    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with http_servers.serve_app(never_answer) as slow:
            hosts = [url.removeprefix("http://") for url in (site, slow)]
            monkeypatch.setenv("OUTRIDER_EGRESS__ALLOW", ",".join(hosts))
            async with connect_async("work") as client:
                waiting = asyncio.create_task(client.call("web_fetch", url=f"{slow}/slow"))
                await began.wait()
                both = await asyncio.gather(
                    client.call("web_fetch", url=f"{site}/form"), client.call("add_observation", observation="calm")
                )
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
                await hung_up.wait()
    assert "Tea shop" in both[0].text
    assert not both[1].is_error


async def test_a_person_is_asked_by_the_script(site: str):
    asked: list[str] = []

    async def decline(question: str, schema: dict[str, object]) -> None:
        asked.append(f"{question} {sorted(schema)}")

    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with connect_async(answer_question=decline) as client:
            with pytest.raises(OutriderError):
                await client.call("delete_playbook", playbook_id="x")
    assert "delete_playbook" in asked[0]


async def test_files_are_read_by_their_address(site: str):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with connect_async() as client:
            await client.call("write_file", path="notes.txt", content="high water at six")
            exported = await client.call("export_file", path="notes.txt")
            link = next(block for block in exported.content if isinstance(block, LinkBlock))
            read = await client.read_artifact(link.uri)
            with pytest.raises(NotFound):
                await client.read_artifact("outrider://artifacts/none")
    assert read == b"high water at six"
