"""Lines that match a pattern, in a text or in the files below a folder: by ripgrep, or by Python where that must.

Either way another process does it, so that no pattern can stop us, and either way the answer is the same: lines end
with a line feed, binary files are left out, and every line of a file is read again through the jail before it is
told. A process that follows a link out of the workspace in a race tells nothing by it.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import anyio
from wcmatch import glob as wcglob

from outrider.core.errors import InvalidInput, OutriderError
from outrider.workspace.jail import PARTIAL_PREFIX, Jail
from outrider.workspace.search.engines import GrepRequest, LineMatch, select_engines, stream_matches
from outrider.workspace.search.grep_worker import detect_encoding
from outrider.workspace.search.pattern import compile_pattern

GREP_TIMEOUT_S = 20.0  # that one search may take
SIMPLE_GLOB = re.compile(r"\*\.(\w+)|\*\.\{(\w+(?:,\w+)*)\}")


@dataclass(frozen=True)
class GrepLine:
    """A line that matches: its number from 1, its text without its end, where in it the match begins, what is around.

    `path` is relative to the workspace; empty for a line of a text.
    """

    path: str
    number: int
    text: str
    column: int
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class GrepResult:
    """Matching lines in the order of path and number. `has_more`: there are more, or the time was up (`timed_out`)."""

    lines: list[GrepLine]
    has_more: bool = False
    timed_out: bool = False


@dataclass(frozen=True)
class GrepQuery:
    """What to look for, and how.

    Attributes:
        pattern: A regular expression in Python's words.
        ignore_case: Letters match in either case.
        max_lines: How many lines to return.
        context: How many lines around each to give.
        glob: Only files with such a name, or such a path (relative to the folder) where it holds a slash.
        hidden: Also files and folders whose names begin with a dot.
        ripgrep_path: The ripgrep to use; None for Python's own engine.
        timeout_s: Time for it.
    """

    pattern: str
    ignore_case: bool = False
    max_lines: int = 100
    context: int = 0
    glob: str | None = None
    hidden: bool = False
    ripgrep_path: str | None = None
    timeout_s: float = GREP_TIMEOUT_S

    def build_request(self) -> GrepRequest:
        """What the engines are told. Raises InvalidInput for a wrong pattern."""
        pattern = compile_pattern(self.pattern, ignore_case=self.ignore_case)
        dotted = self.hidden or bool(self.glob and re.search(r"(^|/)\.", self.glob))
        return GrepRequest(pattern, self.max_lines + 1, _names(self.glob), dotted)


async def grep_text(text: str, search: GrepQuery) -> GrepResult:
    """Lines of a text of up to some ten million characters. Raises InvalidInput: a pattern is wrong, or never ends."""
    order, found = search.build_request(), list[LineMatch]()
    data = text.encode("utf-8", "replace")
    with anyio.move_on_after(search.timeout_s) as limit:
        for engine in select_engines(order.pattern, search.ripgrep_path):
            with suppress(LookupError):
                await stream_matches(engine, order, found.extend, text=data)
                break
    around = text.split("\n")
    lines = [_add_context("", each, around, search.context) for each in found[: search.max_lines]]
    return _build_result(lines, found, search, timed_out=limit.cancelled_caught)


async def grep_tree(jail: Jail, folder: str, search: GrepQuery, *, file: str | None = None) -> GrepResult:
    """Lines of the files below a folder, or of one file in it, however large.

    Raises as `grep_text`, and what the jail raises for the folder.
    """
    found: list[LineMatch] = []
    with anyio.move_on_after(search.timeout_s) as limit:
        await _search_files(jail, folder, search, file, found)
    found.sort(key=lambda each: (each.path.split("/"), each.number))
    lines = await anyio.to_thread.run_sync(lambda: list(_reread_lines(jail, folder, found[: search.max_lines], search)))
    return _build_result(lines, found, search, timed_out=limit.cancelled_caught)


def find_ripgrep() -> str | None:
    """The ripgrep of this machine."""
    return shutil.which("rg")


def _build_result(lines: list[GrepLine], found: list[LineMatch], search: GrepQuery, *, timed_out: bool) -> GrepResult:
    if timed_out and not found:
        raise InvalidInput(
            f"pattern: nothing was found within {search.timeout_s:g} seconds",
            hint="make the pattern simpler (no repetition inside a repetition), or narrow it with path or glob",
            code="timeout",
        )
    return GrepResult(lines, timed_out or len(found) > search.max_lines, timed_out)


async def _search_files(jail: Jail, folder: str, search: GrepQuery, file: str | None, found: list[LineMatch]) -> None:
    """Puts the first lines into `found`: in any order while they are few, in the order of paths if they are many."""
    max_unordered_lines = (
        5_000  # lines that may come in any order; for more, files are read in the order of their paths
    )
    order, fits = replace(search.build_request(), file=file), _build_path_filter(search.glob)
    in_order = False

    def collect_lines(lines: list[LineMatch]) -> bool:
        found.extend(lines if fits(lines[0].path) else ())
        return len(found) > (search.max_lines if in_order else max_unordered_lines)

    for engine in select_engines(order.pattern, search.ripgrep_path):
        for in_order in (False, True):
            found.clear()
            with jail.open_folder(folder) as descriptor, suppress(LookupError):
                await stream_matches(
                    engine, order, collect_lines, folder=_place(descriptor, jail.root / folder), in_order=in_order
                )
                if in_order or len(found) <= max_unordered_lines:
                    return


def _place(descriptor: int, path: Path) -> str:
    """An open folder as a program can be started in it: by its descriptor, where the system has names for those."""
    opened = f"/proc/self/fd/{descriptor}"
    return opened if os.path.exists(opened) else str(path)  # noqa: PTH110 - as quick as can be


def _reread_lines(jail: Jail, folder: str, found: Sequence[LineMatch], search: GrepQuery) -> Iterator[GrepLine]:
    """The lines as the jail lets them be read; what it does not, or what has changed, is left out."""
    files: dict[str, list[LineMatch]] = {}
    for each in found:
        files.setdefault(each.path, []).append(each)
    for path, lines in files.items():
        with suppress(OutriderError), jail.open_descriptor(str(PurePosixPath(folder) / path)) as descriptor:
            yield from _reread_file(descriptor, str(PurePosixPath(folder) / path), lines, search.context)


def _reread_file(descriptor: int, path: str, found: list[LineMatch], context: int) -> list[GrepLine]:
    numbers = {at for each in found for at in range(each.number - context, each.number + context + 1)}
    kept: dict[int, str] = {}
    encoding = detect_encoding(os.pread(descriptor, 4, 0))
    with os.fdopen(os.dup(descriptor), encoding=encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if number in numbers:
                kept[number] = line.removesuffix("\n").removesuffix("\r")
            if number > found[-1].number + context:
                break
    around = [kept.get(number, "") for number in range(1, max(kept, default=0) + 1)]
    same = [each for each in found if kept.get(each.number) == each.text.removeprefix("\ufeff")]
    return [_add_context(path, each, around, context) for each in same]


def _add_context(path: str, found: LineMatch, around: Sequence[str], context: int) -> GrepLine:
    at = found.number - 1
    text = around[at].removesuffix("\r")
    before, after = around[max(at - context, 0) : at], around[at + 1 : at + 1 + context]
    return GrepLine(path, found.number, text, found.column, tuple(before), tuple(after))


def _build_path_filter(glob: str | None) -> Callable[[str], bool]:
    """Whether a path is wanted; what we are just writing never is."""
    flags = wcglob.GLOBSTAR | wcglob.MATCHBASE | wcglob.DOTGLOB | wcglob.BRACE | wcglob.NEGATE | wcglob.NEGATEALL
    try:
        wanted = wcglob.compile(glob, flags=flags | wcglob.FORCEUNIX, limit=100) if glob else None
    except (ValueError, re.error) as error:
        raise InvalidInput(f"glob: {error}", hint="for instance *.py, *.{js,ts} or src/**/*.md") from None
    return lambda path: PARTIAL_PREFIX not in path and (wanted is None or bool(wanted.match(path)))


def _names(glob: str | None) -> tuple[str, ...]:
    """The simple names that a glob stands for, so that other files are not even opened; none if it is not so simple."""
    simple = SIMPLE_GLOB.fullmatch(glob or "")
    return tuple(f"*.{ending}" for ending in (simple[1] or simple[2]).split(",")) if simple else ()
