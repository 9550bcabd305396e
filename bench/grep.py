"""The tool `grep` over a large tree, beside ripgrep itself on the same tree."""

import shutil
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import cycle
from pathlib import Path

import anyio

from bench.figures import Measured, Part
from outrider.core.jail import Jail
from outrider.workspace.search.grep import GrepQuery, grep_tree

BYTES = 1_000_000_000
TURNS = 7
YARDSTICK = "rg"
# A name that stands in a few files, words in some order, and what stands nowhere.
PATTERNS = {
    "a name": "ThreadPoolExecutor",
    "an expression": r"def \w+_handler\(self, \w+\):$",
    "nothing": "zebrafish_[0-9]+",
}


def run(*, quick: bool) -> Part:
    rg = shutil.which("rg")
    if rg is None:
        return Part("grep", "ripgrep is not installed.", [])
    with tempfile.TemporaryDirectory() as folder:
        size, files = _grown(Path(folder), BYTES // 50 if quick else BYTES)
        tables = [
            _measured(Path(folder), rg, what, pattern, 2 if quick else TURNS) for what, pattern in PATTERNS.items()
        ]
    return Part(
        "grep over a tree",
        f"{size / 1e6:,.0f} MB of Python's own sources in {files:,} files, in the page cache. ripgrep is started as "
        "from a shell. The tool reads every line that it reports once more, through the workspace's checked file "
        "access.",
        tables,
    )


def _grown(folder: Path, least: int) -> tuple[int, int]:
    """Copies of the standard library's sources, as many as it takes; the bytes and files there are."""
    sources = [path.read_bytes() for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))]
    total, number = 0, 0
    for data in cycle(sources):
        if total >= least:
            return total, number
        place = folder / f"d{number % 97}" / f"e{number % 13}" / f"{number}.py"
        place.parent.mkdir(parents=True, exist_ok=True)
        # Names differ from copy to copy, so that a match is in a few files and not in thousands.
        place.write_bytes(data if number < len(sources) else data.replace(b"ThreadPoolExecutor", b"Pool"))
        total, number = total + len(data), number + 1
    return total, number


def _measured(folder: Path, rg: str, what: str, pattern: str, turns: int) -> Measured:
    values: dict[str, list[float]] = {YARDSTICK: [], "the tool": []}
    jail = Jail(folder)

    async def ours(engine: str | None = rg) -> None:
        await grep_tree(jail, ".", GrepQuery(pattern, max_lines=1_000, ripgrep_path=engine, timeout_s=600))

    def theirs() -> None:
        command = [rg, "--no-config", "--no-ignore", "--line-number", "-e", pattern, "./"]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)

    theirs()
    for _ in range(turns):
        values[YARDSTICK].append(_seconds(theirs))
        values["the tool"].append(anyio.run(_awaited, ours))
    return Measured(f"seconds for {what}", YARDSTICK, values)


def _seconds(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


async def _awaited(work: Callable[[], Awaitable[None]]) -> float:
    """Seconds of work within a running loop, as a server has one."""
    started = time.perf_counter()
    await work()
    return time.perf_counter() - started
