"""Real documents that every machine has: Python's own, served on loopback by its `pydoc`."""

import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urljoin, urlsplit

import anyio

from demo.agent import Agent

PYDOC = ("-u", "-m", "pydoc", "-n", "127.0.0.1", "-p", "0")
# Where the reading begins; from there it follows the links to each package's own modules.
SHELVES = {
    "argparse",
    "collections",
    "concurrent",
    "contextlib",
    "csv",
    "dataclasses",
    "functools",
    "heapq",
    "itertools",
    "json",
    "logging",
    "multiprocessing",
    "pathlib",
    "queue",
    "random",
    "sched",
    "selectors",
    "signal",
    "socketserver",
    "sqlite3",
    "statistics",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib",
}
MOST = 80  # pages
AT_ONCE = 8
LINK = re.compile(r'href="([\w.]+\.html)"')


@asynccontextmanager
async def documents() -> AsyncGenerator[str]:
    """Starts the document server; yields its address, with a final slash."""
    process = await anyio.open_process([sys.executable, *PYDOC], stdin=subprocess.PIPE)
    assert process.stdout
    try:
        with anyio.fail_after(20):
            said = b""
            while b"/\n" not in said:
                said += await process.stdout.receive()
        yield said.split(b"ready at ")[1].split()[0].decode()
    finally:
        process.terminate()
        await process.wait()


def address(url: str) -> str:
    """The host and port, as the setting egress.allow has them."""
    return urlsplit(url).netloc


async def read_all(agent: Agent, index: str) -> tuple[list[str], int, int]:
    """Reads from the index on, following links. Returns what was read, its characters, and the failures."""
    read: list[str] = []
    sizes: list[int] = []
    failed = 0
    waiting = [link for link in await _links(agent, index) if _module(link) in SHELVES]
    seen = set(waiting)
    while waiting and len(read) < MOST:
        batch, waiting = waiting[: MOST - len(read)], []
        for url, size, further in await _read_together(agent, batch):
            failed += size == 0
            read += [url] if size else []
            sizes.append(size)
            waiting += [link for link in further if link not in seen]
            seen.update(further)
    return read, sum(sizes), failed


async def _read_together(agent: Agent, urls: list[str]) -> list[tuple[str, int, list[str]]]:
    limit = anyio.CapacityLimiter(AT_ONCE)
    answers: dict[str, tuple[int, list[str]]] = {}

    async def read(url: str) -> None:
        async with limit:
            answer = await agent.call("web_fetch", url=url, max_chars=1_000)
            size = 0 if answer.failed else answer.meta.get("outrider/total_chars", len(answer.text))
            answers[url] = size, (await _links(agent, url)) if size else []

    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(read, url)
    return [(url, *answers[url]) for url in urls]


async def _links(agent: Agent, url: str) -> list[str]:
    """The documents that a page leads to: all of the index's, else only those below the page's own name."""
    source = await agent.call("web_fetch", url=url, format="html", max_chars=0)
    own = _module(url)
    links = {urljoin(url, name) for name in LINK.findall(source.text)}
    return sorted(link for link in links if (not own or _module(link).startswith(f"{own}.")) and "._" not in link)


def _module(url: str) -> str:
    return urlsplit(url).path.strip("/").removesuffix(".html")
