"""Agents and their host act in separate browser sessions without naming them."""

from pathlib import Path

import anyio
import pytest

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from support.apps.agent_runs import ScriptedApp
from support.apps.web_eval_app import serve_evaluation_app
from support.fakes.model_apis import ModelTurn, ScriptedRequest
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
HOST = Call(identity="ann")


async def test_agents_beside_one_another_and_their_host_each_act_in_a_page_of_their_own(home: Path):
    all_open, waiting = anyio.Event(), set[str]()
    titles: dict[str, str] = {}

    def play(asked: ScriptedRequest) -> ModelTurn:
        path = next(path for path in ("/form", "/cart") if f"Open {path}" in asked.text)
        if asked.turn_count == 0:
            return ModelTurn(calls=[("createSession", {"url": f"{url}{path}"})])
        if asked.turn_count == 1:
            waiting.add(path)
            if len(waiting) == 2:
                all_open.set()
            return ModelTurn(calls=[("getPageTitle", {})], wait_before=all_open)
        titles[path] = asked.results[-1]
        return ModelTurn(text="Done.")

    async with serve_evaluation_app(home, play) as (app, server, url):
        agents = ScriptedApp(app, server)
        await app.call("createSession", HOST, url=f"{url}/article")
        runs = [await agents.start_run(f"Open {path}", toolsets=["browser"]) for path in ("/form", "/cart")]
        ended = [await agents.wait_for_end(run) for run in runs]
        hosts = await app.call("getPageTitle", HOST)
        await app.call("closeSession", HOST)
        with pytest.raises(InvalidInput) as several:
            await app.call("getPageTitle", HOST)
        open_ids = [session.id for session in app.browsers.list_sessions()]
    assert [run.status for run in ended] == ["completed", "completed"]
    assert "Order form" in titles["/form"]
    assert "Cart" in titles["/cart"]
    assert hosts.text == "On lighthouses"
    assert all(session_id in several.value.hint for session_id in open_ids)


@pytest.mark.nightly
async def test_a_first_navigation_of_an_agent_leaves_the_page_of_another_agent(home: Path):
    def play(asked: ScriptedRequest) -> ModelTurn:
        path = next(path for path in ("/form", "/cart") if f"Open {path}" in asked.text)
        return [ModelTurn(calls=[("navigateToUrl", {"url": f"{url}{path}"})]), ModelTurn(text="Done.")][
            asked.turn_count
        ]

    async with serve_evaluation_app(home, play) as (app, server, url):
        for path in ("/form", "/cart"):
            await ScriptedApp(app, server).run_to_end(f"Open {path}", toolsets=["browser"])
        pages = sorted(session.url for session in app.browsers.list_sessions())
    assert pages == [f"{url}/cart", f"{url}/form"]
