"""After kill -9 at any moment, acknowledged work exists, files are whole, and no process is left.

`make test-kills` kills two hundred times.
"""

import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App, open_app
from support.fakes import http_servers
from support.fakes.website import FakeSite, SiteAnswer
from support.processes.agent_work import CRASH_CALL, CRAWL_PAGE_COUNT, LEFTOVER_SLEEP_S, load_work_settings
from support.processes.sandboxes import find_processes_with
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
ROUNDS = int(os.environ.get("OUTRIDER_KILLS", "5"))
TESTS = Path(__file__).parents[1]
LONGEST = 1.5  # seconds between the first answer and the latest kill


def build_page(number: int) -> SiteAnswer:
    links = "".join(
        f'<a href="/p{each}">to {each}</a> ' for each in (number * 2 + 1, number * 2 + 2) if each < CRAWL_PAGE_COUNT
    )
    return SiteAnswer(f"<title>Number {number}</title><main><p>{f'The tide of {number} comes in. ' * 9}</p>{links}")


@pytest.fixture
def shared_home() -> Generator[Path]:
    """A home that every user can enter: as root, code runs as `nobody`."""
    with tempfile.TemporaryDirectory(prefix="outrider-home-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


class Worker:
    """A process whose children work until they are killed."""

    def __init__(self, home: Path, site: str) -> None:
        command = [sys.executable, "-m", "support.processes.agent_work", str(home), site]
        environ = os.environ | {"PYTHONPATH": str(TESTS)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home, env=environ, text=True
        )

    async def read_report(self) -> dict[str, Any]:
        assert self.process.stdout
        return json.loads(await anyio.to_thread.run_sync(self.process.stdout.readline))

    async def kill_at_random(self, seed: int) -> list[dict[str, Any]]:
        """Let a child work until a moment drawn from the seed; return its acknowledged changes."""
        assert self.process.stdin
        print(seed, file=self.process.stdin, flush=True)
        child = (await self.read_report())["child"]
        said = [await self.read_report()]
        await anyio.sleep(random.Random(seed).random() * LONGEST)
        os.kill(child, signal.SIGKILL)
        while "over" not in said[-1]:
            said.append(await self.read_report())
        return said[:-1]


@asynccontextmanager
async def open_working_app(home: Path, site: str) -> AsyncGenerator[Worker]:
    worker = Worker(home, site)
    try:
        assert (await worker.read_report())["ready"]
        yield worker
    finally:
        worker.process.kill()
        worker.process.communicate()


async def test_answered_work_is_never_lost_or_half_written_and_nothing_runs_on(shared_home: Path):
    site = FakeSite({f"/p{number}": build_page(number) for number in range(CRAWL_PAGE_COUNT)})
    async with http_servers.serve_app(site) as url:
        history: list[dict[str, Any]] = []
        async with open_working_app(shared_home, url) as worker:
            for seed in range(1, ROUNDS + 1):
                with anyio.fail_after(PROCESS_TIMEOUT_S):
                    said = await worker.kill_at_random(seed)
                history += said
                async with open_app(load_work_settings(shared_home, url)) as app:
                    await check_work(app, shared_home, said)
        async with open_app(load_work_settings(shared_home, url)) as app:
            await check_work(app, shared_home, history[-1_000:])
            await check_crawl(app, url)
    with closing(sqlite3.connect(shared_home / ".outrider/outrider.db")) as database:
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while find_processes_with(LEFTOVER_SLEEP_S):
            await anyio.sleep(0.01)


async def check_work(app: App, home: Path, said: list[dict[str, Any]]) -> None:
    """Check that all acknowledged work exists, and that everything is whole."""
    told = {name: [each[name] for each in said if name in each] for name in ("logged", "ran", "observed", "artifact")}
    (folder,) = (home / ".outrider/workspaces").glob("*/files")
    check_files(folder, told)
    plan = (await app.call("get_current_state", CRASH_CALL)).data
    assert told["observed"][-9:] == [each for each in plan["observations"] if each in told["observed"][-9:]]
    assert all(each["name"].startswith("m") for each in plan["todos"])
    for uri in told["artifact"]:
        packed = io.BytesIO((await app.artifacts.read(uri))[1])
        with zipfile.ZipFile(packed) as archive:
            assert len(set(archive.read("packed.txt").split())) == 1
    for each in said:
        if "playbook" in each:
            kept = (await app.call("get_playbook", CRASH_CALL, id=each["playbook"])).data["playbook"]
            assert {kept["goal"], *(step["description"] for step in kept["workflow"])} == {each["mark"]}
        if "content" in each:
            read = await app.call("readContent", CRASH_CALL, content_id=each["content"])
            assert each["mark"] in read.text
            found = (await app.call("keywordSimilaritySearch", CRASH_CALL, query=each["mark"])).data["results"]
            assert [hit["contentId"] for hit in found] == [each["content"]]


def check_files(folder: Path, told: dict[str, list[str]]) -> None:
    for path in folder.glob("file*.txt"):
        lines = path.read_text().splitlines()
        assert lines == [lines[0]] * int(lines[0].split()[1])
    logged = (folder / "log.txt").read_text().splitlines() if told["logged"] else []
    assert [each for each in logged if each in told["logged"]] == told["logged"]
    assert all(each.endswith("x") for each in logged)
    for mark in told["ran"]:
        assert (folder / f"ran-{mark}").read_text() == mark
    for path in folder.glob("exports/packages/*.zip"):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None


async def check_crawl(app: App, site: str) -> None:
    """Check that the repeatedly killed crawl ends, with each page in its store once."""
    (store,) = [each for each in (await app.call("listStores", CRASH_CALL)).data["stores"] if each["name"] == "site"]
    more = {"url": f"{site}/p0", "store_id": store["storeId"], "max_pages": CRAWL_PAGE_COUNT, "max_depth": 9}
    done = await app.call("web_crawl", CRASH_CALL, **more)
    assert done.data["counts"]["read"] == CRAWL_PAGE_COUNT
    names = [
        each["filename"]
        for each in (await app.call("listContent", CRASH_CALL, store_id=store["storeId"])).data["contents"]
    ]
    assert len(names) == CRAWL_PAGE_COUNT
