"""Fetch and extract pages from loopback, eight at a time."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from bench.figures import Measured, Part
from bench.peers import HERE, ROOT, outrider, python
from bench.server import Server
from bench.sites import served_by

HAND = "httpx2 + trafilatura by hand"
PAGES = 1_000
FEW = 16  # what a slow peer reads in the same turn
TURNS = 5
AT_ONCE = 8
EVERY = 200_000  # characters: nobody cuts

# Milliseconds of wall time and of CPU time that a page took, and its characters of text.
Cost = tuple[float, float, float]
Reader = Callable[[str, int, int], Cost]


def run(*, quick: bool) -> Part:
    turns, pages = (1, 40) if quick else (TURNS, PAGES // TURNS)
    found: dict[str, list[Cost]] = {name: [] for name in READERS}
    with served_by("bench.pages") as url:
        for turn in range(turns):
            for name, (read, share) in READERS.items():
                count = min(pages, FEW) if share else pages
                first = turn * (pages + 1)
                found[name].append(read(url, first, first + count))
    wall, cpu, chars = ({name: [cost[at] for cost in costs] for name, costs in found.items()} for at in range(3))
    return Part(
        "Reading pages",
        f"{turns * pages:,} generated pages with 60 layouts (articles, manuals, shops, forums; 45 to 75 kB with menus "
        f"and scripts), served on loopback by another process, {AT_ONCE} at a time. Each address is read once. "
        f"mcp-server-fetch reads {FEW} pages a turn, without robots.txt; it starts Node for each if Node is installed.",
        [
            Measured("CPU milliseconds a page", HAND, cpu, digits=1),
            Measured("wall milliseconds a page", HAND, wall, digits=1),
            Measured("characters of text a page", HAND, chars, digits=0),
        ],
    )


def settings(url: str, folder: str) -> dict[str, str]:
    """Ours: the site may be reached, and may be asked as fast as we can."""
    return {
        "data_dir": folder,
        "egress.allow": url.removeprefix("http://"),
        "pages.per_host_rate": "100000",
        "pages.per_host_concurrency": str(AT_ONCE),
    }


def by_hand(url: str, first: int, last: int) -> Cost:
    return _script([str(python() / "python"), str(HERE / "by_hand.py"), url, str(first), str(last)], last - first)


def in_process(url: str, first: int, last: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        nested: dict[str, dict[str, object]] = {}
        for name, value in settings(url, folder).items():
            section, _, field = name.rpartition(".")
            target = nested.setdefault(section, {}) if section else nested
            target[field] = [value] if field == "allow" else value  # ty: ignore[invalid-assignment]
        command = [sys.executable, "-m", "bench.inside", json.dumps(nested), url, str(first), str(last)]
        return _script(command, last - first)


def _script(command: list[str], pages: int) -> Cost:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    said = json.loads(done.stdout)
    return said["wall"] * 1_000 / pages, said["cpu"] * 1_000 / pages, said["chars"] / pages


def over_mcp(url: str, first: int, last: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        options = [part for each in settings(url, folder).items() for part in ("--set", "=".join(each))]
        return _served(outrider(*options), ("web_fetch", {"max_chars": EVERY}), url, first, last)


def mcp_server_fetch(url: str, first: int, last: int) -> Cost:
    command = [str(python() / "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"]
    return _served(command, ("fetch", {"max_length": EVERY}), url, first, last)


def _served(command: list[str], call: tuple[str, dict[str, int]], url: str, first: int, last: int) -> Cost:
    tool, options = call
    with Server(command) as server:
        calls = [
            {"name": tool, "arguments": {"url": f"{url}/{number}", **options}} for number in range(first, last + 1)
        ]
        server.request("tools/call", calls.pop())  # what is set up once is not what is measured
        started, used = time.perf_counter(), server.cpu()
        answers = server.many("tools/call", calls, at_once=AT_ONCE)
        wall, cpu = time.perf_counter() - started, server.cpu() - used
    assert not any(answer.get("isError") for answer in answers), answers[0]
    texts = [answer["content"][0]["text"] for answer in answers]
    return wall * 1_000 / len(texts), cpu * 1_000 / len(texts), sum(map(len, texts)) / len(texts)


# How each reads, and whether only some of the pages, because it is slow.
READERS: dict[str, tuple[Reader, bool]] = {
    HAND: (by_hand, False),
    "outrider, in process": (in_process, False),
    "outrider mcp": (over_mcp, False),
    "mcp-server-fetch": (mcp_server_fetch, True),
}
