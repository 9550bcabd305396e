"""Hostile text in runs and questions neither runs, loads nor navigates in a real browser."""

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from outrider.agents.evaluations import EvaluationRecord
from outrider.browser.process.browser import Browser
from outrider.core.context import Call
from support.apps.dashboard_browser import DashboardSession, DashboardTab, open_dashboard
from support.apps.dashboard_checks import MAX_PAGE_BYTES
from support.apps.run_rows import build_model_step, build_question_row, build_run_row, build_tool_step, insert_rows
from support.fakes import hostile_payloads
from support.fakes.hostile_payloads import CanaryServer

pytestmark = pytest.mark.anyio
SEEN = """() => ({
    status: performance.getEntriesByType("navigation")[0].responseStatus,
    letters: document.querySelector("main").innerText.length,
    size: new Blob([document.documentElement.outerHTML]).size,
    links: [...document.querySelectorAll("[src],[href],[action],[formaction],[data],[srcdoc]")]
        .flatMap((each) => ["src", "href", "action", "formAction", "data", "srcdoc"].map((name) => each[name] ?? ""))
        .filter((value) => typeof value === "string" && value && !value.startsWith(location.origin + "/")),
    handlers: [...document.querySelectorAll("*")]
        .flatMap((each) => each.getAttributeNames()).filter((name) => name.startsWith("on")),
    strangers: document.querySelectorAll("main svg, main iframe, main object, main embed, main base, main meta, main script, main style, main video, main math").length,
    ran: window.ran ?? document.title === "ran",
})"""  # noqa: E501


@pytest.fixture(scope="module")
async def canary() -> AsyncGenerator[CanaryServer]:
    async with hostile_payloads.serve_canary() as listening:
        yield listening


@pytest.fixture(scope="module")
async def office(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, canary: CanaryServer
) -> AsyncGenerator[DashboardSession]:
    home: Path = tmp_path_factory.mktemp("hostile")
    async with open_dashboard(home, chromium, toolsets=["all"]) as found:
        await fill_with(found, hostile_payloads.list_hostile_texts(canary.url))
        yield found


def replace_nul(text: str) -> str:
    return text.replace("\0", "\ufffd")


async def fill_with(office: DashboardSession, evil: list[str]) -> None:
    """Fill every field of these pages with hostile text."""
    runs, steps, questions = [], [], []
    for number, text in enumerate(map(replace_nul, evil)):
        runs += rows_of(f"run_{number}", text, number)
        steps += steps_of(f"run_{number}", text)
        questions += questions_of(number, text)
    await insert_rows(office.app.database, run=runs, step=steps, question=questions)
    await add_evaluation(office, replace_nul(evil[3]))


def rows_of(run: str, text: str, number: int) -> list[dict[str, Any]]:
    definition: dict[str, Any] = {
        "name": text,
        "description": text,
        "instructions": text,
        "toolsets": [text],
        "tools": [text],
    }
    words: dict[str, Any] = {
        "query": text,
        "answer": text,
        "thoughts": text,
        "agent": text[:60],
        "definition": definition,
    }
    who = {"identity": text[:200], "session": text[:200], "workspace": text[:200], "model": text[:200]}
    citations = {text[:40]: {"title": text, "href": text}, "b": {"title": text, "href": f"javascript:{text}"}}
    state = {
        "seconds": 1.0,
        "citations": citations,
        "files": [{"id": text, "title": text, "content_type": "image/png"}],
    }
    failed: dict[str, Any] = {
        "status": "failed",
        "stop_reason": "model_error",
        "error": {"code": text, "message": text, "hint": text},
    }
    blocked = {"status": "blocked", "stop_reason": "blocked", "ended_at": None}
    values: dict[str, Any] = words | who | {"state": state, "budgets": {text[:20]: text[:20]}}
    below: dict[str, Any] = {"parent_run_id": run, "parent_call_id": "call_1_0", **values, **failed}
    return [build_run_row(run, age=1.0 + number) | values | blocked, build_run_row(f"{run}_below", root=run) | below]


def steps_of(run: str, text: str) -> list[dict[str, Any]]:
    file = {"id": text, "title": text, "content_type": "image/png"}
    source = {"title": text, "href": f"javascript:{text}"}
    result = {"text": text, "sources": {text: source, "b": text}, "files": [file, file | {"content_type": text}]}
    wrapped = f"<untrusted-12 from='{text}'>\n{text}\n</untrusted-12>"
    return [
        build_model_step(run, 1, text, [text], tool=text[:60]),
        build_tool_step(run, 1, text[:60], {text: text, "b": {text: [text]}}, text, result=result, outcome=text[:60]),
        build_tool_step(run, 1, "web_fetch", text, wrapped, mark=1),
    ]


def questions_of(number: int, text: str) -> list[dict[str, Any]]:
    words: dict[str, Any] = {
        "agent": text[:60],
        "tool": text[:60],
        "title": text,
        "message": text,
        "arguments": {text: text},
    }
    sign_in = {"provider": text, "scope": text, "url": f"javascript:{text}"}
    decided: dict[str, Any] = {
        "decision": "rejected",
        "reason": text,
        "decided_by": text[:200],
        "decided_at": time.time(),
    }
    run = f"run_{number}"
    return [
        build_question_row(f"qst_{number}", run) | words,
        build_question_row(f"qst_{number}_b", run) | words | {"kind": "authentication", "details": sign_in},
        build_question_row(f"qst_{number}_c", run) | words | {"kind": "question"},
        build_question_row(f"qst_{number}_d", run) | words | decided,
    ]


async def add_evaluation(office: DashboardSession, text: str) -> None:
    evaluations = office.app.dashboard_services().evaluations
    call = Call(session=text, identity=text)
    made, _ = await evaluations.create(call, url=text, task=text, mode="dev", limits={}, output_schema={})
    kinds = ("agent", "console", "network", "screenshot")
    await evaluations.save_records(
        [EvaluationRecord(made.id, kind, 1, text, text, has_error=True, artifact_id=text[:36]) for kind in kinds]
    )
    told = {
        "result": text,
        "warnings": [text],
        "errors_top": [{"summary": text}, text],
        "structured_output": {text: text},
    }
    await evaluations.finish(made.id, status="failed", stop_reason="error", answer=told)
    pages.append(f"/runs/evaluations/{made.id}")


pages: list[str] = []
HOSTILE_PATHS = (
    "/runs",
    "/runs?q=%22%3E%3Cscript%3Efetch(1)%3C/script%3E&agent=%3Csvg%20onload%3D1%3E&who=%27%22%3E&after=",
    "/runs/compare?run=run_0&run=run_1",
    "/questions",
    "/questions?q=%22%3E%3Cscript%3E1%3C/script%3E&held=%3Cimg%20src%3Dx%20onerror%3D1%3E&late=qst_0_d&told=qst_1_d",
    *(f"/runs/run_{number}" for number in range(0, 27, 3)),
    "/runs/run_1_below",
    "/runs/run_2/whole?what=task",
    "/runs/run_2/whole?what=instructions",
    "/runs/run_2/whole?key=call_1_0&what=arguments",
    "/runs/run_2/whole?key=call_1_1&what=text",
    *(f"/questions/qst_4{kind}" for kind in ("", "_b", "_c", "_d")),
    "/runs/%3Cscript%3Efetch(1)%3C%2Fscript%3E",
)


async def inspect_page(view: DashboardTab, canary: CanaryServer, path: str) -> None:
    """Show a page and check it for foreign content."""
    await view.open_path(path)
    await view.wait_until("document.readyState === 'complete'")
    await view.evaluate_js("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    seen: dict[str, Any] = await view.page.evaluate_in("", SEEN)
    size, status, letters = seen.pop("size"), seen.pop("status"), seen.pop("letters")
    assert (status, letters > 40) == (404 if "script" in path.partition("?")[0] else 200, True), path
    assert seen == {"links": [], "handlers": [], "strangers": 0, "ran": False}, path
    assert size < MAX_PAGE_BYTES, path
    assert view.page_errors == [], path  # anything blocked by the page's policy would be listed here
    assert canary.requested_paths == [], path


async def test_pages_of_runs_show_hostile_text_as_text(office: DashboardSession, canary: CanaryServer):
    view = await office.open_tab("/calls")
    for path in (*HOSTILE_PATHS, *pages):
        await inspect_page(view, canary, path)
    await office.close_tabs()


@pytest.mark.nightly
async def test_content_inserted_later_is_shown_as_text(office: DashboardSession, canary: CanaryServer):
    view = await office.open_tab("/runs/run_0")
    for text in hostile_payloads.list_hostile_texts(canary.url):
        await office.app.runs.streams.append("run_0", [("text", {"text": replace_nul(text), "step": 2})])
        await office.app.runs.streams.append("run_0", [("thinking", {"text": replace_nul(text), "step": 2})])
    await view.wait_until("document.querySelector('#live .said').textContent.includes('/auto>')")
    await view.wait_until("document.querySelector('#live .thought').textContent.includes('/auto>')")
    await insert_rows(
        office.app.database, question=[build_question_row("qst_new", "run_0", title="<img src=x onerror=fetch(1)>")]
    )
    await view.wait_for_text("<img src=x onerror=fetch(1)>")
    await view.evaluate_js("document.querySelector('#steps [data-whole], #about [data-whole]')?.click()")
    seen: dict[str, Any] = await view.page.evaluate_in("", SEEN)
    assert (seen["links"], seen["handlers"], seen["strangers"]) == ([], [], 0)
    await view.open_path("/questions")
    await insert_rows(
        office.app.database, question=[build_question_row("qst_newer", "run_1", title="<svg onload=fetch(2)>")]
    )
    await view.wait_for_text("<svg onload=fetch(2)>")
    assert (view.page_errors, canary.requested_paths) == ([], [])
    await office.close_tabs()
