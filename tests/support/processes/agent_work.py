"""Do all kinds of an agent's work until killed: files, exports, plans, playbooks, contents, crawls, code.

Run as `python -m support.processes.agent_work HOME SITE`. For each seed on its input, a forked child works as fast as
it can; its imports are already done, so that hundreds of kills take minutes and not hours. Each line of the output is a
JSON object: the child's number with an acknowledged change, or with its end.
"""

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.settings import LoadedSettings, load
from support.databases import sqlite

CRASH_CALL = Call(session="crash", assistant="crash")
CRAWL_PAGE_COUNT = 30
LEFTOVER_SLEEP_S = "86399"  # sleep time of programs that the code leaves running
MAX_FILE_LINES = 400  # lines of a long file


def load_work_settings(home: Path, site: str) -> LoadedSettings:
    """Load the settings of the working app and of the app that checks it."""
    flags = {
        "toolsets": ["workspace", "planning", "playbook", "content_store", "web"],
        "tools": {"stakes": {"*": "never_ask"}},
        "egress": {"allow": [site.removeprefix("http://")]},
        "pages": {"per_host_rate": 1000},
    }
    return sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))


async def run_jobs(
    home: Path, site: str, seed: str, report: Callable[[dict[str, Any]], None], turns: int = 1_000_000
) -> None:
    """Run one job after another; report each as soon as the tool has answered."""
    chance, jobs = (
        random.Random(seed),
        (write_file, append_log, export_archive, write_plan, create_playbook, add_content, crawl_site, run_python_code),
    )
    async with open_app(load_work_settings(home, site)) as app:
        for turn in range(turns):
            job = jobs[turn % len(jobs)] if turns < 100 else chance.choice(jobs)
            if done := await job(app, f"m{seed}x{turn}x", chance, site):
                report(done)


async def write_file(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    path, lines = f"file{chance.randrange(3)}.txt", chance.randint(1, MAX_FILE_LINES)
    await app.call("write_file", CRASH_CALL, path=path, content=f"{mark} {lines}\n" * lines)
    return {"file": path, "mark": mark}


async def append_log(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("write_file", CRASH_CALL, path="log.txt", content=f"{mark}\n", mode="a")
    return {"logged": mark}


async def export_archive(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("write_file", CRASH_CALL, path="packed.txt", content=f"{mark}\n" * MAX_FILE_LINES)
    packed = await app.call("export_zip", CRASH_CALL, files=["packed.txt"])
    return {"artifact": packed.meta["outrider/uri"]}


async def write_plan(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("clear_todos", CRASH_CALL)
    await app.call("add_todo", CRASH_CALL, name=mark)
    await app.call("add_observation", CRASH_CALL, observation=mark)
    return {"observed": mark}


async def create_playbook(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    step = {"description": mark, "action": {"toolName": "grep", "purpose": "find"}}
    made = await app.call("create_playbook", CRASH_CALL, goal=mark, workflow=[step] * chance.randint(1, 20))
    return {"playbook": made.data["playbook"]["id"], "mark": mark}


async def add_content(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    text = f"{mark}\n" + "word " * chance.choice((5, 2_000))
    made = await app.call("addContent", CRASH_CALL, content=text)
    return {"content": made.data["contentId"], "mark": mark}


async def crawl_site(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    stores = (await app.call("listStores", CRASH_CALL)).data["stores"]
    store = next((each["storeId"] for each in stores if each["name"] == "site"), None)
    if store is None:
        store = (await app.call("createStore", CRASH_CALL, metadata={"name": "site"})).data["storeId"]
    done = await app.call(
        "web_crawl", CRASH_CALL, url=f"{site}/p0", store_id=store, max_pages=CRAWL_PAGE_COUNT, max_depth=9
    )
    return {"crawled": done.data["counts"].get("read", 0)}


async def run_python_code(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    code = (
        f"import os, subprocess, time\nsubprocess.Popen(['sleep', '{LEFTOVER_SLEEP_S}'])\n"
        f"open('part', 'w').write('{mark}')\ntime.sleep({chance.random() * 0.1})\nos.replace('part', 'ran-{mark}')"
    )
    try:
        await app.call("execute_python", CRASH_CALL, code=code)
    except NotConfigured:  # this machine has no sandbox
        return {}
    return {"ran": mark}


def print_report(report: dict[str, Any]) -> None:
    os.write(1, json.dumps(report).encode() + b"\n")  # in a single write, so that a kill cannot split it


def serve_children(home: Path, site: str) -> None:
    with tempfile.TemporaryDirectory(prefix="outrider-warm-", dir="/tmp") as warm:
        Path(warm).chmod(0o755)
        anyio.run(run_jobs, Path(warm), site, "0", lambda _: None, 8)
    print_report({"ready": True})
    for seed in sys.stdin:
        child = os.fork()
        if not child:
            anyio.run(run_jobs, home, site, seed.strip(), print_report)
        print_report({"child": child})
        os.waitpid(child, 0)
        print_report({"over": True})


if __name__ == "__main__":
    serve_children(Path(sys.argv[1]), sys.argv[2])
