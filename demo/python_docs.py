"""Serve Python's own documentation on loopback with `pydoc`, and read it."""

import re
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import urljoin, urlsplit

import anyio

from demo.agent import Agent

PYDOC_ARGUMENTS = ("-u", "-m", "pydoc", "-n", "127.0.0.1", "-p", "0")
# Reading starts at these, and follows links to the modules of each package.
START_MODULES = {
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
MAX_PAGES = 80
PARALLEL_PAGES = 8
LINK_PATTERN = re.compile(r'href="([\w.]+\.html)"')


@asynccontextmanager
async def serve_python_docs() -> AsyncGenerator[str]:
    """Start the server; yield its URL, with a final slash."""
    process = await anyio.open_process([sys.executable, *PYDOC_ARGUMENTS], stdin=subprocess.PIPE)
    assert process.stdout
    try:
        with anyio.fail_after(20):
            output = b""
            while b"/\n" not in output:
                output += await process.stdout.receive()
        yield output.split(b"ready at ")[1].split()[0].decode()
    finally:
        process.terminate()
        await process.wait()


def get_host_and_port(url: str) -> str:
    """Return host and port in the form of `egress.allow`."""
    return urlsplit(url).netloc


async def read_python_docs(agent: Agent, index: str) -> tuple[list[str], int, int]:
    """Read from the index, following links; return the URLs, their characters, and the number of failures."""
    read: list[str] = []
    sizes: list[int] = []
    failed = 0
    waiting = [link for link in await _find_links(agent, index) if _get_module(link) in START_MODULES]
    seen = set(waiting)
    while waiting and len(read) < MAX_PAGES:
        batch, waiting = waiting[: MAX_PAGES - len(read)], []
        for url, size, further in await _read_batch(agent, batch):
            failed += size == 0
            read += [url] if size else []
            sizes.append(size)
            waiting += [link for link in further if link not in seen]
            seen.update(further)
    return read, sum(sizes), failed


async def _read_batch(agent: Agent, urls: list[str]) -> list[tuple[str, int, list[str]]]:
    limit = anyio.CapacityLimiter(PARALLEL_PAGES)
    answers: dict[str, tuple[int, list[str]]] = {}

    async def read(url: str) -> None:
        async with limit:
            answer = await agent.call("web_fetch", url=url, max_chars=1_000)
            size = 0 if answer.failed else answer.meta.get("outrider/total_chars", len(answer.text))
            answers[url] = size, (await _find_links(agent, url)) if size else []

    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(read, url)
    return [(url, *answers[url]) for url in urls]


async def _find_links(agent: Agent, url: str) -> list[str]:
    """Return the links of a page: all of the index, else only those to the page's own modules."""
    source = await agent.call("web_fetch", url=url, format="html", max_chars=0)
    own = _get_module(url)
    links = {urljoin(url, name) for name in LINK_PATTERN.findall(source.text)}
    return sorted(link for link in links if (not own or _get_module(link).startswith(f"{own}.")) and "._" not in link)


def _get_module(url: str) -> str:
    return urlsplit(url).path.strip("/").removesuffix(".html")
