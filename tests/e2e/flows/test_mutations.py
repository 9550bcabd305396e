"""Flows on changed pages end correctly or stop with a reason, and never press another element."""

import json
import os
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.app import App
from support.apps import loopback_app
from support.mutations.pages import RecordedTask
from support.mutations.site import ALL_MUTATIONS, ALL_TASKS, MutatingSite
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
PASSWORD = "hunter2"
RUNS_ALL = bool(os.environ.get("OUTRIDER_EVERY_MUTATION"))  # tests have no separate environment
MUTATIONS_TIMEOUT_S = 7_200 if RUNS_ALL else 600
REASONS = {"not_found", "changed", "ambiguous", "blocked"}
WIDE, NARROW = "1280x720", "390x844"


@dataclass
class MutationLab:
    """A client whose browser shows the mutating site."""

    app: App
    client: Client
    site: MutatingSite
    url: str
    session: str
    viewport: str = WIDE

    async def use(self, tool: str, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, arguments, read_first_text(result))
        return result

    async def evaluate_js(self, expression: str) -> Any:
        browser_session = next(each for each in self.app.browsers.list_sessions() if each.id == self.session)
        async with browser_session.acquire_page() as page:
            return await page.evaluate_in("", f"() => ({expression})")

    async def read_log(self) -> list[str]:
        return json.loads(await self.evaluate_js("localStorage.log || '[]'"))

    async def open_unchanged(self, page: str) -> None:
        self.site.mutation = ""
        await self.use("navigateToUrl", sessionId=self.session, url=f"{self.url}/{page}")
        await self.evaluate_js("localStorage.clear()")

    async def record(self, name: str, task: RecordedTask) -> list[str]:
        """Do the task on the unchanged page and save it; return the logged intents."""
        await self.open_unchanged(task.page)
        mark = (
            int(
                (await self.use("saveFlow", name="mark", sessionId=self.session, replace=True)).structured_content[
                    "lastAction"
                ]
            )
            - 1
        )
        for tool, selector, value in task.steps:
            given = {"inputText": "text", "selectOption": "checked" if value is True else "options"}.get(tool)
            await self.use(tool, sessionId=self.session, selector=selector, **({given: value} if given else {}))
        await self.use("saveFlow", name=name, sessionId=self.session, since=mark)
        return await self.read_log()

    async def run(self, name: str, task: RecordedTask, mutation: str) -> tuple[str, list[str]]:
        """Run the flow on the changed page; return `right` or the reason of the stop, and the log."""
        await self.open_unchanged(task.page)
        self.site.mutation, self.site.target = mutation, task.target
        viewport = NARROW if mutation and ALL_MUTATIONS[mutation].is_narrow else WIDE
        if viewport != self.viewport:
            await self.use("emulateDevice", sessionId=self.session, viewport=viewport)
            self.viewport = viewport
        ran = await self.client.call_tool("runFlow", {"name": name, "sessionId": self.session, "waitSeconds": 1.5})
        reason = read_error(ran)["code"] if ran.is_error else "right"
        return reason, await self.read_log()


@asynccontextmanager
async def open_lab(folder: Path) -> AsyncGenerator[MutationLab]:
    site = MutatingSite()
    more = {"toolsets": ["browser", "browser_devtools", "flows"]}
    with chdir(folder):
        async with (
            loopback_app.open_loopback_app(folder, site, more=more) as loopback,
            Client(loopback.app.build_server()) as client,
        ):
            opened = await client.call_tool("createSession", {"url": f"{loopback.site_url}/order"})
            yield MutationLab(loopback.app, client, site, loopback.site_url, opened.structured_content["sessionId"])


@dataclass(frozen=True)
class MutatedRun:
    """A flow's run on a changed page, and the action of a person there."""

    task: str
    mutation: str
    reason: str
    log: list[str]
    meant: list[str]
    person: str

    @property
    def is_wrong(self) -> bool:
        """Whether an unintended element was pressed, or a stop has the wrong reason."""
        expected = self.meant if self.reason == "right" else self.meant[: len(self.log)]
        usual = ALL_MUTATIONS[self.mutation].reason
        reasons = {usual} if usual else REASONS
        is_reasonable = self.reason in reasons | {"right"} | ({"check_failed"} if self.person != "stops" else set())
        return self.log != expected or not is_reasonable


def choose_cases() -> list[tuple[str, str]]:
    """By day, every second mutation on one of six tasks in turn; at night, all on all tasks."""
    names = list(ALL_TASKS) if RUNS_ALL else list(ALL_TASKS)[::5]
    pairs = [
        (names[(index + offset) % len(names)], mutation)
        for index, mutation in enumerate(list(ALL_MUTATIONS)[:: 1 if RUNS_ALL else 2])
        for offset in range(len(names) if RUNS_ALL else 1)
    ]
    return [(name, mutation) for name, mutation in pairs if is_applicable(name, mutation)]


def is_applicable(task: str, mutation: str) -> bool:
    """Whether a mutation changes anything for a task."""
    return ALL_TASKS[task].in_row or not ALL_MUTATIONS[mutation].only_rows


async def run_all(folder: Path, cases: Sequence[tuple[str, str]]) -> list[MutatedRun]:
    """Record the tasks of these cases and run each of them on its changed page."""
    runs = []
    async with open_lab(folder) as lab:
        meant = {}
        for number, name in enumerate(dict.fromkeys(name for name, _ in cases)):
            meant[name] = number, await lab.record(f"flow-{number}", ALL_TASKS[name])
            assert await lab.run(f"flow-{number}", ALL_TASKS[name], "") == ("right", meant[name][1]), name
        for name, mutation in cases:
            number, intents = meant[name]
            reason, log = await lab.run(f"flow-{number}", ALL_TASKS[name], mutation)
            runs.append(
                MutatedRun(name, mutation, reason, log, intents, ALL_MUTATIONS[mutation].expect(ALL_TASKS[name]))
            )
    return runs


def format_table(runs: Sequence[MutatedRun]) -> str:
    """Return the outcomes of the runs by kind of mutation, in Markdown."""
    lines = ["| change | a person | runs ended |", "|---|---|---|"]
    for mutation in dict.fromkeys(each.mutation for each in runs):
        reasons = Counter(each.reason for each in runs if each.mutation == mutation)
        told = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
        lines.append(f"| {mutation} | {ALL_MUTATIONS[mutation].person} | {told} |")
    wanted = [each for each in runs if each.person == "goes on"]
    right = sum(each.reason == "right" for each in wanted)
    return "\n".join([*lines, f"{right} of {len(wanted)} right where a person goes on; {len(runs)} runs"])


async def test_flows_on_changed_pages_succeed_or_stop_and_never_press_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OUTRIDER_FLOW_PASSWORD", PASSWORD)
    with anyio.fail_after(MUTATIONS_TIMEOUT_S):
        runs = await run_all(tmp_path, choose_cases())
    print(format_table(runs))
    wanted = [each for each in runs if each.person == "goes on"]
    missed = [each for each in wanted if each.reason != "right"]
    assert not [each for each in runs if each.is_wrong]
    assert len(missed) <= max(len(wanted) * 0.05, 2), missed
