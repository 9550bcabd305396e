"""Hostile pages, runs, questions and calls are shown as mere text in a real browser."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outrider.browser.process.browser import Browser
from outrider.core.errors import OutriderError
from support.apps import loopback_app, run_rows
from support.apps.dashboard_browser import DashboardSession, open_dashboard
from support.apps.dashboard_checks import check_page_safety
from support.fakes import hostile_payloads, http_servers
from support.fakes.hostile_payloads import CanaryServer

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def canary_server() -> AsyncGenerator[CanaryServer]:
    async with hostile_payloads.serve_canary() as listening:
        yield listening


@pytest.fixture(scope="module")
async def office(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, canary_server: CanaryServer
) -> AsyncGenerator[DashboardSession]:
    home: Path = tmp_path_factory.mktemp("hostile_work")
    settings: dict[str, Any] = {"toolsets": ["all"], "egress": {"allow": ["127.0.0.1:*"]}}
    async with open_dashboard(home, chromium, **settings) as found:
        await add_hostile_runs(found, hostile_payloads.list_hostile_texts(canary_server.url))
        yield found


@pytest.fixture(autouse=True)
async def tidy(office: DashboardSession, canary_server: CanaryServer) -> AsyncGenerator[None]:
    yield
    await office.close_tabs()
    assert canary_server.requested_paths == []


async def add_hostile_runs(office: DashboardSession, evil: list[str]) -> None:
    """Add a run with steps and a question for each text, and put the text into every field."""
    runs = [hostile_run(f"run_{number}", text) for number, text in enumerate(evil)]
    steps = [step for number, text in enumerate(evil) for step in hostile_steps(f"run_{number}", text)]
    asked = [hostile_question(f"qst_{number}", f"run_{number}", text) for number, text in enumerate(evil)]
    answered = [
        hostile_question(f"old_{number}", f"run_{number}", text, decision="rejected", decided_at=1.0)
        for number, text in enumerate(evil[:9])
    ]
    await run_rows.insert_rows(office.app.database, run=runs, step=steps, question=[*asked, *answered])


def hostile_run(name: str, text: str) -> dict[str, Any]:
    """Add a failed run with this text in every field."""
    about = {"name": text[:64], "description": text, "instructions": text, "toolsets": [text], "tools": [text]}
    names: dict[str, Any] = dict.fromkeys(
        ("agent", "session", "workspace", "identity", "assistant", "model"), text[:200]
    )
    words: dict[str, Any] = dict.fromkeys(("query", "answer", "thoughts"), text)
    failed: dict[str, Any] = {
        "status": "failed",
        "error": {"message": text, "hint": text, "code": text},
        "definition": about,
    }
    return run_rows.build_run_row(name, **names, **words, **failed)


def hostile_steps(run: str, text: str) -> list[dict[str, Any]]:
    """Build a model response and a tool result with this text."""
    given = {text: text, "list": [text, {text: text}]}
    return [
        run_rows.build_model_step(run, 1, text, [text[:64]]),
        run_rows.build_tool_step(run, 1, text[:64], given, text, outcome=text[:64]),
    ]


def hostile_question(name: str, run: str, text: str, **more: Any) -> dict[str, Any]:
    """Build a question of some kind with this text."""
    kind = ("approval", "authentication", "question")[hash(text) % 3]
    details = {"provider": text, "scope": text, "url": text}
    said: dict[str, Any] = {"title": text, "message": text, "reason": text, "agent": text[:64], "tool": text[:64]}
    return run_rows.build_question_row(
        name, run, kind=kind, arguments={text: text}, details=details, decided_by=text[:200], **said, **more
    )


@pytest.mark.nightly
async def test_lists_of_work_show_hostile_text_as_text(office: DashboardSession):
    view = await office.open_tab("/library")
    for path in ("/", "/runs", "/questions", "/calls", "/calls/errors", "/runs?q=script"):
        await check_page_safety(view, path)
        assert view.page_errors == [], path


@pytest.mark.nightly
async def test_runs_and_questions_show_hostile_text_as_text(office: DashboardSession, canary_server: CanaryServer):
    view = await office.open_tab("/library")
    for number in range(0, len(hostile_payloads.list_hostile_texts("")), 3):
        await check_page_safety(view, f"/runs/run_{number}")
        await check_page_safety(view, f"/questions/qst_{number}")
    await check_page_safety(view, "/runs/compare?run=run_0&run=run_1")
    text = hostile_payloads.list_hostile_texts(canary_server.url)[0]
    await view.open_path("/runs/run_0")
    await view.wait_for_text(text)
    assert view.page_errors == []


async def test_a_live_hostile_call_is_shown_as_text(office: DashboardSession, canary_server: CanaryServer):
    view = await office.open_tab("/calls")
    await view.wait_until("document.getElementById('connection').dataset.state === 'live'")
    text = hostile_payloads.list_hostile_texts(canary_server.url)[0]
    with pytest.raises(OutriderError):
        await office.app.call("web_fetch", url=text)
    await view.wait_for_text("web_fetch")
    await view.wait_for_text("fetch(")
    assert view.page_errors == []


@pytest.mark.nightly
async def test_a_hostile_page_watched_live_stays_a_picture_and_text(
    office: DashboardSession, canary_server: CanaryServer
):
    evil = hostile_payloads.list_hostile_texts(canary_server.url)
    quoted = [text.replace("\\", "\\\\").replace("`", "\\`").replace("${", "\\${") for text in evil]
    script = "".join(
        f"console.error(`{text}`); console.log(`{text}`);".replace("</script", "<\\/script") for text in quoted
    )
    title = evil[2].replace("&", "&amp;").replace("<", "&lt;")
    page = f"<!doctype html><title>{title}</title><h1>Hello</h1><script>{script}</script>"
    async with http_servers.serve_app(loopback_app.build_page_site({"/": page})) as site:
        await office.app.call("createSession", url=f"{site}/")
        view = await office.open_tab("/live")
        await view.wait_until("document.getElementById('screen').dataset.seq")
        await view.wait_for_text(evil[2])
        await check_page_safety(view, "/live")
        assert view.page_errors == []
        await office.close_tabs()
        await office.app.browsers.close_owner_sessions("default")
