"""Flows on pages that have changed since: each ends right or stops with a reason, and none presses anything else."""

import json
import os
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from outrider.app import App
from support.apps import loopback_app
from support.apps.mutating_site import MUTATIONS, TASKS, MutatingSite, RecordedTask
from support.results import read_error, read_first_text

pytestmark = pytest.mark.anyio
PATIENCE = 1_200
PASSWORD = "hunter2"
RUNS_ALL = bool(os.environ.get("OUTRIDER_EVERY_MUTATION"))  # tests have no environment of their own
# Where a person would go on, so should a flow: these must all end right.
HARMLESS = {
    "ids",
    "classes",
    "sections reversed",
    "wrappers",
    "other texts",
    "hidden twin",
    "slow",
    "banner at the bottom",
    "rows reversed",
    "rows added",
    "rows added, numbers moved on",
}
# Where the element is gone, or nobody could be sure, nothing may be pressed.
STOPPING = {
    "row removed",
    "row removed, numbers moved up",
    "target removed",
    "only the twin is left",
    "renamed in the same place",
    "banner over the page",
    "disabled",
}
REASONS = {"not_found", "changed", "ambiguous", "blocked"}


@dataclass
class MutationLab:
    """A client whose browser shows the mutating site."""

    app: App
    client: Client
    site: MutatingSite
    url: str
    session: str

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
        """Does the task on the unchanged page and saves it; what it was meant for."""
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
        """Runs the flow on the changed page; `right` or the reason of the stop, and the log."""
        await self.open_unchanged(task.page)
        self.site.mutation, self.site.target = mutation, task.target
        ran = await self.client.call_tool("runFlow", {"name": name, "sessionId": self.session, "waitSeconds": 1.5})
        reason = read_error(ran)["code"] if ran.is_error else "right"
        return reason, await self.read_log()


@asynccontextmanager
async def open_lab(folder: Path) -> AsyncGenerator[MutationLab]:
    site = MutatingSite()
    more = {"toolsets": ["browser", "flows"]}
    with chdir(folder):
        async with (
            loopback_app.open_loopback_app(folder, site, more=more) as loopback,
            Client(loopback.app.build_server()) as client,
        ):
            opened = await client.call_tool("createSession", {"url": f"{loopback.site_url}/order"})
            yield MutationLab(loopback.app, client, site, loopback.site_url, opened.structured_content["sessionId"])


def choose_cases() -> list[tuple[str, str]]:
    """Each mutation on one of the tasks, another for each; at night on all of them."""
    names = list(TASKS)
    step = 1 if RUNS_ALL else len(names)
    return [
        (names[(index + offset) % len(names)], mutation)
        for index, mutation in enumerate(MUTATIONS)
        for offset in range(0, len(names), step)
    ]


async def test_flows_on_changed_pages_end_right_or_stop_and_never_press_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OUTRIDER_FLOW_PASSWORD", PASSWORD)
    wrong: list[str] = []
    missed: list[str] = []
    counts: Counter[tuple[str, str]] = Counter()
    with anyio.fail_after(PATIENCE):
        async with open_lab(tmp_path) as lab:
            meant = {}
            for number, (name, task) in enumerate(TASKS.items()):
                meant[name] = await lab.record(f"flow-{number}", task)
                reason, log = await lab.run(f"flow-{number}", task, "")
                assert (reason, log) == ("right", meant[name]), name
            for name, mutation in choose_cases():
                number = list(TASKS).index(name)
                reason, log = await lab.run(f"flow-{number}", TASKS[name], mutation)
                counts[mutation, reason] += 1
                expected = meant[name] if reason == "right" else meant[name][: len(log)]
                if log != expected or (reason != "right" and reason not in REASONS | {"check_failed"}):
                    wrong.append(f"{mutation}: {name}: {reason}: {log}, meant {meant[name]}")
                if mutation in HARMLESS and reason != "right":
                    missed.append(f"{mutation}: {name}: {reason}")
                if mutation in STOPPING and reason not in REASONS:
                    wrong.append(f"{mutation}: {name}: {reason} although nobody could be sure")
    for (mutation, reason), count in sorted(counts.items()):
        print(f"{mutation:32} {reason:14} {count}")
    assert not wrong, "\n".join(wrong)
    assert not missed, "\n".join(missed)
