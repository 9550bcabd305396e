"""A pause suspends agents, their budgets and their hosts' time limits."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.app import App
from outrider.browser.process.browser import Browser
from outrider.browser.session.session import Session
from support.apps.browser_app import open_browser_app
from support.apps.dashboard_browser import open_dashboard
from support.apps.web_eval_app import build_browser_turn, build_done_turn, build_session_script, serve_evaluation_app
from support.fakes.model_apis import ModelTurn
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
PAUSE_TEST_TIMEOUT_S = 900  # seconds after which a test hangs, even on a busy machine
HELD = 4.0  # seconds that the person takes


def build_pausing_turn(
    apps: list[App], paused: anyio.Event, then: Callable[[str], ModelTurn]
) -> Callable[[str], ModelTurn]:
    """A turn of the model during which a person pauses the session."""

    def turn(session: str) -> ModelTurn:
        session_of(apps[0], session).control.pause()
        paused.set()
        return then(session)

    return turn


def session_of(app: App, session: str) -> Session:
    return next(each for each in app.browsers.list_sessions() if each.id == session)


@pytest.mark.nightly
async def test_an_agent_waits_its_budget_pauses_and_its_host_is_told_why(home: Path, chromium: Browser):
    apps: list[App] = []
    paused = anyio.Event()
    words = "I will read the order form first."
    play = build_session_script(
        build_browser_turn("snapshotPage"),
        build_pausing_turn(
            apps, paused, lambda session: ModelTurn(words, calls=[("snapshotPage", {"sessionId": session})])
        ),
        build_done_turn(success=True, result="read"),
    )
    result: list[Any] = []
    with anyio.fail_after(PAUSE_TEST_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            apps.append(app)

            async def evaluate() -> None:
                given = {"url": f"{url}/form", "task": "Read it"}
                result.append(await client.call_tool("web_eval_agent", given))

            async with open_dashboard(home, chromium, app) as office, anyio.create_task_group() as tasks:
                tasks.start_soon(evaluate)
                view = await office.open_tab("/live")
                await paused.wait()
                await view.wait_for_text("Paused, the agent is waiting")
                await view.wait_for_text(words)
                await view.wait_for_text("when you resume: Look")
                paused_at = time.monotonic()
                with anyio.move_on_after(HELD):
                    await anyio.sleep_forever()
                held = time.monotonic() - paused_at  # before the click, which may take effect seconds before it returns
                await view.pointer.click("#pause")
            evaluation = await app.evaluator.evaluations.find(result[0].structured_content["session_id"])
            assert evaluation is not None
            assert evaluation.run_id
            run = await app.runs.get(evaluation.run_id)
    assert result[0].structured_content["status"] == "success"
    assert run.ended_at is not None
    assert run.state["seconds"] <= run.ended_at - run.created_at - held + 0.2


@pytest.mark.nightly
async def test_a_host_is_told_that_a_person_has_paused_its_session(tmp_path: Path):
    heard: list[str] = []
    told = anyio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")
        told.set()

    with anyio.fail_after(PAUSE_TEST_TIMEOUT_S):
        async with open_browser_app(tmp_path) as at:
            session = await at.open_session()
            control = at.find_session(session).control
            control.pause()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(resume_when_told, told, control.resume)
                shown = await at.client.call_tool("snapshotPage", {"sessionId": session}, progress_callback=note)
    assert heard == ["paused by a person in the dashboard"]
    assert "Remarks" in read_first_text(shown)


async def resume_when_told(told: anyio.Event, resume: Callable[[str], Any]) -> None:
    await told.wait()
    resume("a person")


@pytest.mark.nightly
async def test_after_very_long_an_error_names_the_remedy(tmp_path: Path):
    with anyio.fail_after(PAUSE_TEST_TIMEOUT_S):
        async with open_browser_app(tmp_path, park_s=0.1, idle_s=0.2) as at:
            session = await at.open_session()
            at.find_session(session).control.gate.max_wait_s = 0.1
            at.find_session(session).control.pause()
            failed = [
                await at.call_tool("clickElement", sessionId=session, selector="[name=gift]"),
                await at.call_tool("navigateToUrl", sessionId=session, url=f"{at.loopback.site_url}/article"),
                await at.call_tool("closeSession", sessionId=session),
            ]
            before = at.find_session(session).status, at.find_session(session).url
            at.find_session(session).control.resume("a person")
            again = await at.call_tool("clickElement", sessionId=session, selector="[name=gift]")
    for each in failed:
        assert read_error(each)["code"] == "paused"
        assert "a person paused this session in the dashboard" in read_first_text(each)
        assert "ask the person to resume the session" in read_first_text(each)
    assert before == ("active", f"{at.loopback.site_url}/form")
    assert not again.is_error
