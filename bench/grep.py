"""Compare the tool `grep` over a large tree with ripgrep."""

import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path

import anyio

from bench.tables import Comparison, Part
from outrider.core.jail import Jail
from outrider.workspace.search.grep import GrepQuery, grep_tree


def run(*, quick: bool) -> Part:
    # A name in a few files, words in some order, and a text in no file.
    patterns = {
        "a name": "ThreadPoolExecutor",
        "an expression": r"def \w+_handler\(self, \w+\):$",
        "a text in no file": "zebrafish_[0-9]+",
    }
    turn_count = 7
    tree_bytes = 1_000_000_000
    rg = shutil.which("rg")
    if rg is None:
        return Part("grep", "ripgrep is not installed.", [])
    with tempfile.TemporaryDirectory() as folder:
        size, files = _write_tree(Path(folder), tree_bytes // 50 if quick else tree_bytes)
        tables = [
            _compare_searches(Path(folder), rg, what, pattern, 2 if quick else turn_count)
            for what, pattern in patterns.items()
        ]
    return Part(
        "grep over a tree",
        f"{size / 1e6:,.0f} MB of Python's own sources in {files:,} files, in the page cache. ripgrep is started as a "
        "shell would start it. The tool reads every reported line a second time, through the workspace's checked file "
        "access.",
        tables,
    )


def _write_tree(folder: Path, least: int) -> tuple[int, int]:
    """Copy the standard library's sources until there are enough bytes; returns bytes and files."""
    sources = [path.read_bytes() for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    total, number = 0, 0
    for data in cycle(sources):
        if total >= least:
            return total, number
        place = folder / f"d{number % 97}" / f"e{number % 13}" / f"{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        # Names differ between copies, so that a few files match instead of thousands.
        place.write_bytes(data if number < len(sources) else data.replace(b"ThreadPoolExecutor", b"Pool"))
        total, number = total + len(data), number + 1
    return total, number


def _compare_searches(folder: Path, rg: str, what: str, pattern: str, turns: int) -> Comparison:
    ripgrep = "rg"
    values: dict[str, list[float]] = {ripgrep: [], "the tool": []}
    jail = Jail(folder)

    async def search_with_tool(engine: str | None = rg) -> None:
        await grep_tree(jail, ".", GrepQuery(pattern, max_lines=1_000, ripgrep_path=engine, timeout_s=600))

    def search_with_ripgrep() -> None:
        command = [rg, "--no-config", "--no-ignore", "--line-number", "-e", pattern, "./"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)

    search_with_ripgrep()
    for _ in range(turns):
        values[ripgrep].append(_time_call(search_with_ripgrep))
        values["the tool"].append(anyio.run(_time_coroutine, search_with_tool))
    return Comparison(f"seconds for {what}", ripgrep, values)


def _time_call(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


async def _time_coroutine(work: Callable[[], Awaitable[None]]) -> float:
    """Time work in a running event loop, as in a server."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started
