"""The pages of runs and questions over HTTP, with a month of data."""

import re
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from sqlalchemy import Engine, event

from outrider.app import App, open_app
from outrider.dashboard.server import DashboardServer
from outrider.settings import load
from support.apps import run_rows
from support.apps.dashboard_checks import MAX_PAGE_BYTES
from support.databases import sqlite
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
STATEMENTS = 40  # per page, for any amount of data, including those of transactions


@dataclass(frozen=True)
class BusyDashboard:
    """An application with many runs, and a signed-in client."""

    app: App
    client: httpx2.AsyncClient

    async def get_page(self, path: str) -> str:
        """The HTML of a page."""
        answer = await self.client.get(path, headers={"accept": "text/html"})
        assert answer.status_code == 200, answer.text
        assert len(answer.content) < MAX_PAGE_BYTES, path
        return answer.text


@pytest.fixture(scope="module")
async def dashboard(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[BusyDashboard]:
    home: Path = tmp_path_factory.mktemp("runs")
    values = {"toolsets": ["all"], "search": {"keyless": False}}
    async with open_app(sqlite.prepare_database(load(values, environ={}, home=home, workspace=home))) as app:
        await run_rows.insert_busy_month(app.database)
        listening = DashboardServer(app.dashboard_services())
        await listening.start()
        try:
            origin = {"origin": listening.base_url.rstrip("/")}
            async with httpx2.AsyncClient(
                base_url=listening.base_url, timeout=PROCESS_TIMEOUT_S, headers=origin
            ) as client:
                await client.get("/", params={"token": listening.sign_in_url.partition("token=")[2]})
                yield BusyDashboard(app, client)
        finally:
            await listening.aclose()


@contextmanager
def record_statements() -> Generator[list[str]]:
    """The statements that are executed in the body."""
    seen: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def rows_of(page: str) -> list[str]:
    return re.findall(r'<tr id="([^"]+)"', page)


RUN_PATHS = (
    "/runs",
    "/runs?q=sugar&agent=clerk&status=completed&since=month&who=ann&kind=agent",
    "/runs/run_000",
    "/runs/run_000?after=60",
    "/runs/run_000?part=about",
    "/runs/run_000?part=steps&after=99",
    "/runs/compare?run=run_000&run=run_001",
    "/questions",
    "/questions?part=open",
    "/questions/qst_1",
)


@pytest.mark.parametrize("path", RUN_PATHS)
@pytest.mark.nightly
async def test_pages_use_a_bounded_number_of_statements(dashboard: BusyDashboard, path: str):
    fewest: list[str] = []
    for _ in range(8):  # on a busy machine, background tasks execute their own statements during most of them
        with record_statements() as statements:
            await dashboard.get_page(path)
        fewest = min(fewest or statements, statements, key=len)
        if len(fewest) <= STATEMENTS:
            break
    assert len(fewest) <= STATEMENTS, fewest


async def test_the_list_continues_after_the_last_entry_and_shows_each_tree_once(dashboard: BusyDashboard):
    seen, path = [], "/runs"
    while path:
        page = await dashboard.get_page(path)
        seen += rows_of(page)
        after = re.search(r'rel="next" href="([^"]+)"', page)
        path = f"/runs{after[1].replace('&amp;', '&')}" if after else ""
    assert seen == [f"run_{number:03}" for number in range(40)]


async def test_every_step_of_a_long_run_has_an_address_that_leads_to_it(dashboard: BusyDashboard):
    answer = await dashboard.client.get("/runs/run_000/steps/70", headers={"accept": "text/html"})
    place = urlsplit(answer.headers["location"])
    assert (place.path, place.fragment) == ("/runs/run_000", "step-70")
    page = await dashboard.get_page(f"{place.path}?{place.query}")
    assert 'id="step-70"' in page
    assert 'id="step-69"' not in page


async def test_all_steps_are_shown_once_part_by_part(dashboard: BusyDashboard):
    numbers: list[str] = []
    calls: list[str] = []
    after = "0"
    while after:
        page = await dashboard.get_page(f"/runs/run_000?{httpx2.QueryParams({'after': after})}")
        numbers += re.findall(r'id="step-(\d+)"', page)
        calls += re.findall(r'id="step-(\d+)-\d+"', page)
        further = re.search(r'rel="next" href="([^"]+)"', page)
        after = parse_qs(urlsplit(further[1]).query)["after"][0] if further else ""
    assert list(dict.fromkeys(numbers)) == [str(number) for number in range(1, 101)]
    assert len(calls) == 200


async def test_truncated_text_is_shown_in_full_on_request(dashboard: BusyDashboard):
    page = await dashboard.get_page("/runs/run_000")
    link = re.search(r'data-whole href="([^"]*what=text[^"]*)"', page)
    assert link
    whole = await dashboard.client.get(link[1].replace("&amp;", "&"), headers={"accept": "text/html"})
    assert whole.text.count("&#34;this&#34;") == 200


async def test_truncated_arguments_say_so_before_a_person_decides(dashboard: BusyDashboard):
    page = await dashboard.get_page("/questions")
    assert "See all of them" in page
    alone = await dashboard.get_page("/questions/qst_1")
    assert alone.count("&lt;&amp;&gt;") > page.count("&lt;&amp;&gt;") / 40


@pytest.mark.parametrize(
    ("query", "many"),
    [
        ("q=Task 17:", 1),
        ("q=run_007_1", 1),
        ("agent=clerk", 30),
        ("agent=nobody", 0),
        ("status=blocked", 1),
        ("status=open", 1),
        ("status=failed", 0),
        ("who=ann@a", 30),
        ("who=100%", 0),
        ("since=hour", 30),
        ("kind=evaluation", 0),
    ],
)
async def test_filters_find_trees_with_a_matching_run(dashboard: BusyDashboard, query: str, many: int):
    assert len(rows_of(await dashboard.get_page(f"/runs?{query}"))) == many


async def test_a_tree_shows_its_total_tokens_and_cost(dashboard: BusyDashboard):
    page = await dashboard.get_page("/runs?q=Task 12:")
    assert "4,620" in page  # three runs of 1,540 tokens
    assert "$0.0369" in page
    run = await dashboard.get_page("/runs/run_012")
    assert "3 runs" in run


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/run_nobody", 404),
        ("/runs?after=nowhere", 400),
        ("/runs/run_000?after=x", 400),
        ("/runs/compare?run=run_000", 400),
        ("/runs/run_000/whole?what=everything", 400),
        ("/runs/run_000/whole?what=text&key=model:999", 404),
        ("/runs/evaluations/none", 404),
        ("/questions/none", 404),
        ("/questions?after=nowhere", 400),
    ],
)
async def test_a_missing_run_or_step_is_an_error_not_a_bug(dashboard: BusyDashboard, path: str, status: int):
    answer = await dashboard.client.get(path, headers={"accept": "text/html"})
    assert answer.status_code == status
    assert "<h1>" in answer.text


@pytest.mark.parametrize("body", [{}, {"questions": "qst_1"}, {"questions": ["qst_1"], "decision": "perhaps"}, []])
async def test_an_answer_without_content_decides_nothing(dashboard: BusyDashboard, body: Any):
    answer = await dashboard.client.post("/questions/answer", json=body)
    broken = await dashboard.client.post(
        "/questions/answer", content=b"{", headers={"content-type": "application/json"}
    )
    assert broken.status_code == 400
    assert answer.status_code == 400
    assert (await dashboard.app.dashboard_services().questions.get("qst_1")).decision is None
