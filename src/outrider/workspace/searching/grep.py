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
from outrider.workspace.jail import PARTIAL, Jail
from outrider.workspace.searching.engines import Found, Order, engines, told
from outrider.workspace.searching.grep_worker import encoding_of
from outrider.workspace.searching.pattern import compiled

SECONDS = 20.0  # that one search may take
FEW = 5_000  # lines that may come in any order; for more, files are read in the order of their paths
SIMPLE = re.compile(r"\*\.(\w+)|\*\.\{(\w+(?:,\w+)*)\}")


@dataclass(frozen=True)
class Line:
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
class Matches:
    """Matching lines in the order of path and number. `more`: there are more, or the time was up (`timed_out`)."""

    lines: list[Line]
    more: bool = False
    timed_out: bool = False


@dataclass(frozen=True)
class Search:
    """What to look for, and how.

    Attributes:
        pattern: A regular expression in Python's words.
        ignore_case: Letters match in either case.
        most: How many lines to return.
        context: How many lines around each to give.
        glob: Only files with such a name, or such a path (relative to the folder) where it holds a slash.
        hidden: Also files and folders whose names begin with a dot.
        rg: The ripgrep to use; None for Python's own engine.
        seconds: Time for it.
    """

    pattern: str
    ignore_case: bool = False
    most: int = 100
    context: int = 0
    glob: str | None = None
    hidden: bool = False
    rg: str | None = None
    seconds: float = SECONDS

    def order(self) -> Order:
        """What the engines are told. Raises InvalidInput for a wrong pattern."""
        pattern = compiled(self.pattern, ignore_case=self.ignore_case)
        dotted = self.hidden or bool(self.glob and re.search(r"(^|/)\.", self.glob))
        return Order(pattern, self.most + 1, _names(self.glob), dotted)


async def grep_text(text: str, search: Search) -> Matches:
    """Lines of a text of up to some ten million characters. Raises InvalidInput: a pattern is wrong, or never ends."""
    order, found = search.order(), list[Found]()
    data = text.encode("utf-8", "replace")
    with anyio.move_on_after(search.seconds) as limit:
        for engine in engines(order.pattern, search.rg):
            with suppress(LookupError):
                await told(engine, order, found.extend, text=data)
                break
    around = text.split("\n")
    lines = [_in_context("", each, around, search.context) for each in found[: search.most]]
    return _matches(lines, found, search, timed_out=limit.cancelled_caught)


async def grep_tree(jail: Jail, folder: str, search: Search, *, file: str | None = None) -> Matches:
    """Lines of the files below a folder, or of one file in it, however large.

    Raises as `grep_text`, and what the jail raises for the folder.
    """
    found: list[Found] = []
    with anyio.move_on_after(search.seconds) as limit:
        await _find(jail, folder, search, file, found)
    found.sort(key=lambda each: (each.path.split("/"), each.number))
    lines = await anyio.to_thread.run_sync(lambda: list(_read_again(jail, folder, found[: search.most], search)))
    return _matches(lines, found, search, timed_out=limit.cancelled_caught)


def ripgrep() -> str | None:
    """The ripgrep of this machine."""
    return shutil.which("rg")


def _matches(lines: list[Line], found: list[Found], search: Search, *, timed_out: bool) -> Matches:
    if timed_out and not found:
        raise InvalidInput(
            f"pattern: nothing was found within {search.seconds:g} seconds",
            hint="make the pattern simpler (no repetition inside a repetition), or narrow it with path or glob",
            code="timeout",
        )
    return Matches(lines, timed_out or len(found) > search.most, timed_out)


async def _find(jail: Jail, folder: str, search: Search, file: str | None, found: list[Found]) -> None:
    """Puts the first lines into `found`: in any order while they are few, in the order of paths if they are many."""
    order, fits = replace(search.order(), file=file), _fits(search.glob)
    in_order = False

    def take(lines: list[Found]) -> bool:
        found.extend(lines if fits(lines[0].path) else ())
        return len(found) > (search.most if in_order else FEW)

    for engine in engines(order.pattern, search.rg):
        for in_order in (False, True):
            found.clear()
            with jail.folder(folder) as descriptor, suppress(LookupError):
                await told(engine, order, take, at=_place(descriptor, jail.root / folder), in_order=in_order)
                if in_order or len(found) <= FEW:
                    return


def _place(descriptor: int, path: Path) -> str:
    """An open folder as a program can be started in it: by its descriptor, where the system has names for those."""
    opened = f"/proc/self/fd/{descriptor}"
    return opened if os.path.exists(opened) else str(path)  # noqa: PTH110 - as quick as can be


def _read_again(jail: Jail, folder: str, found: Sequence[Found], search: Search) -> Iterator[Line]:
    """The lines as the jail lets them be read; what it does not, or what has changed, is left out."""
    files: dict[str, list[Found]] = {}
    for each in found:
        files.setdefault(each.path, []).append(each)
    for path, lines in files.items():
        with suppress(OutriderError), jail.reading(str(PurePosixPath(folder) / path)) as descriptor:
            yield from _of_file(descriptor, str(PurePosixPath(folder) / path), lines, search.context)


def _of_file(descriptor: int, path: str, found: list[Found], context: int) -> list[Line]:
    numbers = {at for each in found for at in range(each.number - context, each.number + context + 1)}
    kept: dict[int, str] = {}
    encoding = encoding_of(os.pread(descriptor, 4, 0))
    with os.fdopen(os.dup(descriptor), encoding=encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if number in numbers:
                kept[number] = line.removesuffix("\n").removesuffix("\r")
            if number > found[-1].number + context:
                break
    around = [kept.get(number, "") for number in range(1, max(kept, default=0) + 1)]
    same = [each for each in found if kept.get(each.number) == each.text.removeprefix("\ufeff")]
    return [_in_context(path, each, around, context) for each in same]


def _in_context(path: str, found: Found, around: Sequence[str], context: int) -> Line:
    at = found.number - 1
    text = around[at].removesuffix("\r")
    before, after = around[max(at - context, 0) : at], around[at + 1 : at + 1 + context]
    return Line(path, found.number, text, found.column, tuple(before), tuple(after))


def _fits(glob: str | None) -> Callable[[str], bool]:
    """Whether a path is wanted; what we are just writing never is."""
    flags = wcglob.GLOBSTAR | wcglob.MATCHBASE | wcglob.DOTGLOB | wcglob.BRACE | wcglob.NEGATE | wcglob.NEGATEALL
    try:
        wanted = wcglob.compile(glob, flags=flags | wcglob.FORCEUNIX, limit=100) if glob else None
    except (ValueError, re.error) as error:
        raise InvalidInput(f"glob: {error}", hint="for instance *.py, *.{js,ts} or src/**/*.md") from None
    return lambda path: PARTIAL not in path and (wanted is None or bool(wanted.match(path)))


def _names(glob: str | None) -> tuple[str, ...]:
    """The simple names that a glob stands for, so that other files are not even opened; none if it is not so simple."""
    simple = SIMPLE.fullmatch(glob or "")
    return tuple(f"*.{ending}" for ending in (simple[1] or simple[2]).split(",")) if simple else ()
