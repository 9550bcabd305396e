"""An agent's whole work, done until it is killed: files, exports, plans, playbooks, contents, crawls, code.

Run as `python agent_work.py HOME SITE`. For each seed on its input a child works as fast as it can: it is a copy of a
process that has loaded everything, so that hundreds of kills take minutes and not hours. The output has one JSON object
a line: the child's number, what it was told is done, and that it is over.
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
from outrider.settings import Loaded, load
from support.databases import sqlite

CALL = Call(session="crash", assistant="crash")
PAGES = 30
SLEEP = "86399"  # what programs wait that the code leaves running
LETTERS = 400  # lines of a long file


def settings(home: Path, site: str) -> Loaded:
    """The house that works and the house that looks afterwards."""
    flags = {
        "toolsets": ["workspace", "planning", "playbook", "content_store", "web"],
        "tools": {"stakes": {"*": "never_ask"}},
        "egress": {"allow": [site.removeprefix("http://")]},
        "pages": {"per_host_rate": 1000},
    }
    return sqlite.prepared(load(flags, environ={}, home=home, workspace=home))


async def work(
    home: Path, site: str, seed: str, told: Callable[[dict[str, Any]], None], turns: int = 1_000_000
) -> None:
    """Does one thing after another; each is told as soon as the tool has answered."""
    chance, jobs = random.Random(seed), (write, append, pack, plan, remember, keep, crawl, run)
    async with open_app(settings(home, site)) as app:
        for turn in range(turns):
            job = jobs[turn % len(jobs)] if turns < 100 else chance.choice(jobs)
            if done := await job(app, f"m{seed}x{turn}x", chance, site):
                told(done)


async def write(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    path, lines = f"file{chance.randrange(3)}.txt", chance.randint(1, LETTERS)
    await app.call("write_file", CALL, path=path, content=f"{mark} {lines}\n" * lines)
    return {"file": path, "mark": mark}


async def append(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("write_file", CALL, path="log.txt", content=f"{mark}\n", mode="a")
    return {"logged": mark}


async def pack(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("write_file", CALL, path="packed.txt", content=f"{mark}\n" * LETTERS)
    packed = await app.call("export_zip", CALL, files=["packed.txt"])
    return {"artifact": packed.meta["outrider/uri"]}


async def plan(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    await app.call("clear_todos", CALL)
    await app.call("add_todo", CALL, name=mark)
    await app.call("add_observation", CALL, observation=mark)
    return {"observed": mark}


async def remember(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    step = {"description": mark, "action": {"toolName": "grep", "purpose": "find"}}
    made = await app.call("create_playbook", CALL, goal=mark, workflow=[step] * chance.randint(1, 20))
    return {"playbook": made.data["playbook"]["id"], "mark": mark}


async def keep(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    text = f"{mark}\n" + "word " * chance.choice((5, 2_000))
    made = await app.call("addContent", CALL, content=text)
    return {"content": made.data["contentId"], "mark": mark}


async def crawl(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    stores = (await app.call("listStores", CALL)).data["stores"]
    store = next((each["storeId"] for each in stores if each["name"] == "site"), None)
    if store is None:
        store = (await app.call("createStore", CALL, metadata={"name": "site"})).data["storeId"]
    done = await app.call("web_crawl", CALL, url=f"{site}/p0", store_id=store, max_pages=PAGES, max_depth=9)
    return {"crawled": done.data["counts"].get("read", 0)}


async def run(app: App, mark: str, chance: random.Random, site: str) -> dict[str, Any]:
    code = (
        f"import os, subprocess, time\nsubprocess.Popen(['sleep', '{SLEEP}'])\n"
        f"open('part', 'w').write('{mark}')\ntime.sleep({chance.random() * 0.1})\nos.replace('part', 'ran-{mark}')"
    )
    try:
        await app.call("execute_python", CALL, code=code)
    except NotConfigured:  # this machine has no sandbox
        return {}
    return {"ran": mark}


def say(what: dict[str, Any]) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")  # in one piece, so that no kill tears it


def main(home: Path, site: str) -> None:
    with tempfile.TemporaryDirectory(prefix="outrider-warm-", dir="/tmp") as warm:
        Path(warm).chmod(0o755)
        anyio.run(work, Path(warm), site, "0", lambda _: None, 8)
    say({"ready": True})
    for seed in sys.stdin:
        child = os.fork()
        if not child:
            anyio.run(work, home, site, seed.strip(), say)
        say({"child": child})
        os.waitpid(child, 0)
        say({"over": True})


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
