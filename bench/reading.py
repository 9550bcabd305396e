"""Fetch and extract pages from loopback, eight at a time."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

from bench.page_servers import run_site
from bench.peers import BENCH_FOLDER, ROOT, build_outrider_command, install_python_peers
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part

HANDWRITTEN = "httpx2 + trafilatura by hand"
PARALLEL_REQUESTS = 8
MAX_CHARS = 200_000  # more than any page has

# Milliseconds of wall time and of CPU time that a page took, and its characters of text.
Cost = tuple[float, float, float]
Reader = Callable[[str, int, int], Cost]


def run(*, quick: bool) -> Part:
    turn_count = 5
    slow_peer_pages = 16  # pages that a slow peer reads in a turn
    page_count = 1_000
    turns, pages = (1, 40) if quick else (turn_count, page_count // turn_count)
    found: dict[str, list[Cost]] = {name: [] for name in READERS}
    with run_site("bench.generated_site") as url:
        for turn in range(turns):
            for name, (read, share) in READERS.items():
                count = min(pages, slow_peer_pages) if share else pages
                first = turn * (pages + 1)
                found[name].append(read(url, first, first + count))
    wall, cpu, chars = ({name: [cost[at] for cost in costs] for name, costs in found.items()} for at in range(3))
    return Part(
        "Reading pages",
        f"{turns * pages:,} generated pages with 60 layouts (articles, manuals, shops, forums; 45 to 75 kB with menus "
        f"and scripts), served on loopback by another process, {PARALLEL_REQUESTS} at a time. Each address is read "
        f"once. mcp-server-fetch reads {slow_peer_pages} pages a turn, without robots.txt; it starts Node for each if "
        "Node is installed.",
        [
            Comparison("CPU milliseconds a page", HANDWRITTEN, cpu, digits=1),
            Comparison("wall milliseconds a page", HANDWRITTEN, wall, digits=1),
            Comparison("characters of text a page", HANDWRITTEN, chars, digits=0),
        ],
    )


def build_settings(url: str, folder: str) -> dict[str, str]:
    """Return settings that allow the site, without rate limits."""
    return {
        "data_dir": folder,
        "egress.allow": url.removeprefix("http://"),
        "pages.per_host_rate": "100000",
    }


def read_by_hand(url: str, first: int, last: int) -> Cost:
    return _run_script(
        [
            str(install_python_peers() / "python"),
            str(BENCH_FOLDER / "handwritten_reader.py"),
            url,
            str(first),
            str(last),
        ],
        last - first,
    )


def read_in_process(url: str, first: int, last: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        nested: dict[str, dict[str, object]] = {}
        for name, value in build_settings(url, folder).items():
            section, _, field = name.rpartition(".")
            target = nested.setdefault(section, {}) if section else nested
            target[field] = [value] if field == "allow" else value  # ty: ignore[invalid-assignment]
        command = [sys.executable, "-m", "bench.in_process_reader", json.dumps(nested), url, str(first), str(last)]
        return _run_script(command, last - first)


def _run_script(command: list[str], pages: int) -> Cost:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    answer = json.loads(done.stdout)
    return answer["wall"] * 1_000 / pages, answer["cpu"] * 1_000 / pages, answer["chars"] / pages


def read_over_mcp(url: str, first: int, last: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        options = [part for each in build_settings(url, folder).items() for part in ("--set", "=".join(each))]
        return _read_through_server(
            build_outrider_command(*options), ("web_fetch", {"max_chars": MAX_CHARS}), url, first, last
        )


def read_with_mcp_server_fetch(url: str, first: int, last: int) -> Cost:
    command = [str(install_python_peers() / "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"]
    return _read_through_server(command, ("fetch", {"max_length": MAX_CHARS}), url, first, last)


def _read_through_server(command: list[str], call: tuple[str, dict[str, int]], url: str, first: int, last: int) -> Cost:
    tool, options = call
    with StdioServer(command) as server:
        calls = [
            {"name": tool, "arguments": {"url": f"{url}/{number}", **options}} for number in range(first, last + 1)
        ]
        server.send_request("tools/call", calls.pop())  # do not measure the one-time setup
        started, used = time.perf_counter(), server.read_cpu_seconds()
        answers = server.send_requests("tools/call", calls, at_once=PARALLEL_REQUESTS)
        wall, cpu = time.perf_counter() - started, server.read_cpu_seconds() - used
    assert not any(answer.get("isError") for answer in answers), answers[0]
    texts = [answer["content"][0]["text"] for answer in answers]
    return wall * 1_000 / len(texts), cpu * 1_000 / len(texts), sum(map(len, texts)) / len(texts)


# The function of each reader, and whether it only reads some pages because it is slow.
READERS: dict[str, tuple[Reader, bool]] = {
    HANDWRITTEN: (read_by_hand, False),
    "outrider, in process": (read_in_process, False),
    "outrider mcp": (read_over_mcp, False),
    "mcp-server-fetch": (read_with_mcp_server_fetch, True),
}
