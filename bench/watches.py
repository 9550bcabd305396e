"""Measure many watches in one process: the time of a check, and memory."""

import asyncio
import resource
import socket
import tempfile
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import anyio
import uvicorn
from sqlalchemy import func, select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.page_servers import run_site
from bench.tables import Comparison, Part
from outrider.app import open_app
from outrider.core.database.database import Database
from outrider.settings import load
from outrider.watches.tables import watches
from outrider.watches.watch import WatchDraft, WatchTarget

WATCH_COUNT, HOST_COUNT = 2_000, 200
FIRST_LOOK, NOT_CHANGED, LINE_CHANGED = "first look", "nothing has changed (304)", "a line has changed"


def build_site() -> Starlette:
    """Build a site whose pages all change when `/edition/<number>` is called."""
    report_sentence = (
        "The weather station on the pass reports wind, snow and the state of the road to all who cross it. "
    )
    edition = {"number": 0}

    async def show_page(request: Request) -> Response:
        name = request.path_params["name"]
        text = "".join(f"<p>Report {part} of {name}. {report_sentence * 4}</p>" for part in range(20))
        html = f"<title>{name}</title><main><h1>{name}</h1><p>This is edition {edition['number']}.</p>{text}</main>"
        etag = f'"{sha256(html.encode()).hexdigest()[:16]}"'
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers={"etag": etag})
        return Response(html, media_type="text/html", headers={"etag": etag})

    async def set_edition(request: Request) -> Response:
        edition["number"] = request.path_params["number"]
        return Response(status_code=204)

    return Starlette(routes=[Route("/edition/{number:int}", set_edition), Route("/page/{name}", show_page)])


def serve_site() -> None:
    """Serve the site on many loopback addresses, which count as hosts."""
    sockets = [socket.create_server((build_host(0), 0))]
    port = sockets[0].getsockname()[1]
    sockets += [socket.create_server((build_host(number), port)) for number in range(1, HOST_COUNT)]
    print(f"http://{build_host(0)}:{port}", flush=True)
    uvicorn.Server(uvicorn.Config(build_site(), log_level="critical")).run(sockets)


def build_host(number: int) -> str:
    return f"127.0.{number // 100}.{number % 100 + 1}"


def run(*, quick: bool) -> Part:
    count = 100 if quick else WATCH_COUNT
    with run_site("bench.watches") as url, tempfile.TemporaryDirectory() as folder:
        seconds, megabytes = asyncio.run(measure_looks(url, Path(folder), count, min(HOST_COUNT, count)))
    method = (
        f"{count:,} watches of pages of 9 kB on {min(HOST_COUNT, count)} hosts are all due at once, in one process on "
        "SQLite with default settings (four checks at a time, one per host, eight requests per second per host). The "
        "site is a separate process; each host's robots.txt is read with the first check. If one host has many "
        "watches, each takes an eighth of a second because of the rate limit, not because of the work."
    )
    looks = {name: [1_000 * taken / count] for name, taken in seconds.items()}
    tables = [
        Comparison("milliseconds per check", FIRST_LOOK, looks, digits=1),
        Comparison("resident megabytes", "before", megabytes, digits=0),
    ]
    return Part("Watches", method, tables)


async def measure_looks(
    url: str, home: Path, count: int, hosts: int
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Return the seconds of each round of checks, and megabytes before and after."""
    port = url.rpartition(":")[2]
    settings = {"egress": {"allow": [f"{build_host(at)}:{port}" for at in range(hosts)]}}
    loaded = load(settings, environ={}, home=home, workspace=home)
    seconds: dict[str, float] = {}
    async with open_app(loaded) as app:
        engine = app.watcher.engine
        for number in range(count):
            target = WatchTarget(f"http://{build_host(number % hosts)}:{port}/page/{number}")
            await engine.store.add_watch("", WatchDraft(target, "1d"), engine.store.clock() + 86_400, None)
        before = read_megabytes()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(engine.run_forever)
            for round_number, name in enumerate((FIRST_LOOK, NOT_CHANGED, LINE_CHANGED), 1):
                if name == LINE_CHANGED:
                    await app.pages.fetch_body(f"{url}/edition/1", size=1_000)
                seconds[name] = await time_round(engine, app.database, count, round_number)
            tasks.cancel_scope.cancel()
        _, changed = await engine.store.list_watches(None, watch_filter="failing")
        if changed:
            raise RuntimeError(f"{changed} looks failed")
        return seconds, {"before": [before], "after": [read_megabytes()], "at most": [read_peak_megabytes()]}


async def time_round(engine: Any, database: Database, count: int, round_number: int) -> float:
    """Return the seconds until each watch has been checked once more."""
    found, _ = await engine.store.list_watches(None, limit=count)
    for watch in found:
        await engine.store.set_state(watch, "active", engine.store.clock())
    started = time.perf_counter()
    await engine.resume_watch(found[0])
    left = select(func.count()).select_from(watches).where(watches.c.looks < round_number)
    while True:
        async with database.read() as connection:  # not `list_watches`, which would affect the measurement
            if not (await connection.execute(left)).scalar_one():
                return time.perf_counter() - started
        await anyio.sleep(0.5)


def read_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def read_peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    serve_site()
