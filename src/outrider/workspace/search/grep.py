"""Find matching lines in a text or in files.

ripgrep searches if it can, otherwise Python's `re`. Either runs in another process, so that no pattern can block the
server, and both give the same result: lines end with a line feed, and binary files are skipped. Every matching line is
read again through the jail before it is returned, so an engine that follows a link out of the workspace in a race
reveals nothing.
"""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

import anyio
from wcmatch import glob as wcglob

from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.jail import PARTIAL_PREFIX, Jail
from outrider.workspace.search.engines import GrepRequest, LineMatch, select_engines, stream_matches
from outrider.workspace.search.grep_worker import detect_encoding
from outrider.workspace.search.pattern import compile_pattern

GREP_TIMEOUT_S = 20.0
SIMPLE_GLOB = re.compile(r"\*\.(\w+)|\*\.\{(\w+(?:,\w+)*)\}")


@dataclass(frozen=True)
class GrepLine:
    """A matching line: number from 1, text without its line end, column of the match, and lines around it.

    `path` is relative to the workspace; empty if a text was searched.
    """

    path: str
    number: int
    text: str
    column: int
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True)
class GrepResult:
    """Matching lines ordered by path and number. `has_more`: there are more, or the search timed out."""

    lines: list[GrepLine]
    has_more: bool = False
    timed_out: bool = False


@dataclass(frozen=True)
class GrepQuery:
    """A pattern, and the options of the search.

    Attributes:
        pattern: A regular expression in Python's syntax.
        ignore_case: Whether to ignore case.
        max_lines: Maximum number of lines to return.
        context: Number of lines around each match to return.
        glob: Only files with such a name, or such a path relative to the folder if it contains a slash.
        hidden: Include files and folders whose names begin with a dot.
        ripgrep_path: The ripgrep to use; None for Python's engine.
        timeout_s: Time limit of the search.
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
        """Return the request to the engines. Raises InvalidInput for a malformed pattern."""
        pattern = compile_pattern(self.pattern, ignore_case=self.ignore_case)
        hidden = self.hidden or bool(self.glob and re.search(r"(^|/)\.", self.glob))
        # Simple globs save opening other files; all globs are also applied to the results.
        simple = SIMPLE_GLOB.fullmatch(self.glob or "")
        names = tuple(f"*.{suffix}" for suffix in (simple[1] or simple[2]).split(",")) if simple else ()
        return GrepRequest(pattern, self.max_lines + 1, names, hidden)


async def grep_text(text: str, query: GrepQuery) -> GrepResult:
    """Search a text of up to about ten million characters. Raises InvalidInput for a bad or endless pattern."""
    request = query.build_request()
    matches: list[LineMatch] = []
    data = text.encode("utf-8", "replace")
    with anyio.move_on_after(query.timeout_s) as limit:
        for engine in select_engines(request.pattern, query.ripgrep_path):
            with suppress(LookupError):
                await stream_matches(engine, request, matches.extend, text=data)
                break
    text_lines = text.split("\n")
    lines = [_add_context("", match, text_lines, query.context) for match in matches[: query.max_lines]]
    return _build_result(lines, matches, query, timed_out=limit.cancelled_caught)


async def grep_tree(jail: Jail, folder: str, query: GrepQuery, *, file: str | None = None) -> GrepResult:
    """Search the files below a folder, or one file in it, however large.

    Raises the errors of `grep_text`, and those of the jail for the folder.
    """
    matches: list[LineMatch] = []
    with anyio.move_on_after(query.timeout_s) as limit:
        await _search_files(jail, folder, query, file, matches)
    matches.sort(key=lambda match: (match.path.split("/"), match.number))
    lines = await anyio.to_thread.run_sync(_reread_lines, jail, folder, matches[: query.max_lines], query.context)
    return _build_result(lines, matches, query, timed_out=limit.cancelled_caught)


def find_ripgrep() -> str | None:
    """Return the path of ripgrep, if it is installed."""
    return shutil.which("rg")


def _build_result(lines: list[GrepLine], matches: list[LineMatch], query: GrepQuery, *, timed_out: bool) -> GrepResult:
    if timed_out and not matches:
        raise InvalidInput(
            f"pattern: the search timed out after {query.timeout_s:g} s without a match",
            hint="simplify the pattern (no repetition inside a repetition), or narrow the search with path or glob",
            code="timeout",
        )
    return GrepResult(lines, timed_out or len(matches) > query.max_lines, timed_out)


async def _search_files(jail: Jail, folder: str, query: GrepQuery, file: str | None, matches: list[LineMatch]) -> None:
    """Add the first matches to `matches`: in any order if they are few, otherwise those of the first paths."""
    max_unordered_lines = 5_000  # with more, the search starts again, ordered by path, which is slower
    flags = wcglob.GLOBSTAR | wcglob.MATCHBASE | wcglob.DOTGLOB | wcglob.BRACE | wcglob.NEGATE | wcglob.NEGATEALL
    try:
        name_pattern = wcglob.compile(query.glob, flags=flags | wcglob.FORCEUNIX, limit=100) if query.glob else None
    except (ValueError, re.error) as error:
        raise InvalidInput(f"glob: {error}", hint="for instance *.py, *.{js,ts} or src/**/*.md") from None
    request = replace(query.build_request(), file=file)
    in_order = False

    def collect_lines(lines: list[LineMatch]) -> bool:
        path = lines[0].path
        is_wanted = PARTIAL_PREFIX not in path and (name_pattern is None or bool(name_pattern.match(path)))
        matches.extend(lines if is_wanted else ())
        return len(matches) > (query.max_lines if in_order else max_unordered_lines)

    for engine in select_engines(request.pattern, query.ripgrep_path):
        for in_order in (False, True):
            matches.clear()
            with jail.open_folder(folder) as descriptor, suppress(LookupError):
                # Start in the folder that the jail opened: its path may lead elsewhere by now.
                opened = f"/proc/self/fd/{descriptor}"
                start = opened if os.path.exists(opened) else str(jail.root / folder)  # noqa: ASYNC240, PTH110
                await stream_matches(engine, request, collect_lines, folder=start, in_order=in_order)
                if in_order or len(matches) <= max_unordered_lines:
                    return


def _reread_lines(jail: Jail, folder: str, matches: Sequence[LineMatch], context: int) -> list[GrepLine]:
    """Read matching lines through the jail; those that it refuses, or that have changed, are left out."""
    matches_by_path: dict[str, list[LineMatch]] = {}
    for match in matches:
        matches_by_path.setdefault(match.path, []).append(match)
    lines: list[GrepLine] = []
    for name, file_matches in matches_by_path.items():
        path = str(PurePosixPath(folder) / name)
        with suppress(OutriderError), jail.open_descriptor(path) as descriptor:
            lines += _reread_file(descriptor, path, file_matches, context)
    return lines


def _reread_file(descriptor: int, path: str, matches: list[LineMatch], context: int) -> list[GrepLine]:
    line_numbers = {number for match in matches for number in range(match.number - context, match.number + context + 1)}
    lines: dict[int, str] = {}
    encoding = detect_encoding(os.pread(descriptor, 4, 0))
    with os.fdopen(os.dup(descriptor), encoding=encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, 1):
            if number in line_numbers:
                lines[number] = line.removesuffix("\n").removesuffix("\r")
            if number > matches[-1].number + context:
                break
    text_lines = [lines.get(number, "") for number in range(1, max(lines, default=0) + 1)]
    unchanged = [match for match in matches if lines.get(match.number) == match.text.removeprefix("\ufeff")]
    return [_add_context(path, match, text_lines, context) for match in unchanged]


def _add_context(path: str, match: LineMatch, text_lines: Sequence[str], context: int) -> GrepLine:
    index = match.number - 1
    text = text_lines[index].removesuffix("\r")
    before, after = text_lines[max(index - context, 0) : index], text_lines[index + 1 : index + 1 + context]
    return GrepLine(path, match.number, text, match.column, tuple(before), tuple(after))
