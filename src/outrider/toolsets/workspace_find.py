"""Finding in the workspace: what a folder holds, files by name, lines by pattern."""

import json
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.text import DEFAULT_CHARS
from outrider.toolsets.workspace import workspace
from outrider.workspace import Workspace, Workspaces

if TYPE_CHECKING:
    from outrider.workspace.jail import Entry
    from outrider.workspace.searching.grep import Line, Matches, Search

LOOKED_AT = 100_000  # entries of a folder, with those below, before an answer says that there are more
HIDDEN_KINDS = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
LONGEST_LINE = 400  # characters of a line that are shown

FolderPath = Annotated[str, Field(min_length=1, max_length=1_000, description="Folder in the workspace")]
Glob = Annotated[str, Field(min_length=1, max_length=500, description="e.g. *.{py,md} or src/**/*.js")]
Depth = Annotated[int, Field(ge=1, le=50)]


class Listing(BaseModel, defer_build=True):
    """Files and folders: `count` of all, and those that are shown."""

    count: int = Field(description="Of all; entries may be fewer")
    entries: list[dict[str, Any]]
    note: str = ""

    def __str__(self) -> str:
        about = f"{self.count:,} {'entry' if self.count == 1 else 'entries'}{f'; {self.note}' if self.note else ''}"
        return f"{about}\n{json.dumps(self.entries, ensure_ascii=False)}"


class Lines(BaseModel, defer_build=True):
    """Matching lines: texts, or objects with path, line and text where these were asked for."""

    count: int
    matches: list[Any] = Field(description="Texts, or objects with path, line and text")
    more: bool = False
    note: str = ""

    def __str__(self) -> str:
        about = f"{self.count} matching line{'s' * (self.count != 1)}{f' ({self.note})' if self.note else ''}"
        return f"{about}\n{json.dumps(self.matches, ensure_ascii=False)}"


@workspace.tool(title="List a folder", untrusted=True)
async def list_directory(
    workspaces: Workspaces,
    call: Call,
    /,
    path: FolderPath = ".",
    pattern: Annotated[Glob | None, Field(description="Only matching names")] = None,
    recursive: bool = False,
    max_depth: Annotated[Depth, Field(description="With recursive")] = 50,
    show_hidden: bool = False,
) -> Listing:
    """What a folder holds, with sizes: folders first, then by name."""

    def listed() -> "tuple[list[Entry], bool]":
        depth = max_depth if recursive else 1
        return _first(workspaces.of(call).files.list(path, pattern, depth=depth, hidden=show_hidden))

    found, more = await anyio.to_thread.run_sync(listed)
    rows = ({"name": _legible(_below(each.path, path)), "type": each.kind, "size": each.size} for each in found)
    return _listing(rows, len(found), cut=more)


@workspace.tool(title="Find files", untrusted=True)
async def search_files(
    workspaces: Workspaces,
    call: Call,
    /,
    pattern: Glob,
    path: FolderPath = ".",
    max_depth: Depth = 50,
    file_type: Literal["file", "dir", "both"] = "both",
) -> Listing:
    """Find files and folders by name, or by path if the pattern holds a slash."""

    def searched() -> "tuple[list[Entry], bool]":
        return _first(workspaces.of(call).files.search(pattern, path, depth=max_depth, kind=file_type))

    found, more = await anyio.to_thread.run_sync(searched)
    rows = (
        {"path": _legible(each.path), "name": _legible(each.name), "type": each.kind, "size": each.size}
        for each in found
    )
    return _listing(rows, len(found), cut=more)


@workspace.tool(title="Search in files", untrusted=True)
async def grep(
    workspaces: Workspaces,
    call: Call,
    /,
    pattern: Annotated[str, Field(min_length=1, max_length=2_000, description="Regular expression (Python), by line")],
    path: Annotated[str | None, Field(min_length=1, max_length=1_000, description="File or folder; . for all")] = None,
    input: Annotated[str | None, Field(max_length=10_000_000, description="A text to search instead")] = None,
    ignore_case: bool = False,
    line_numbers: bool = False,
    glob: Annotated[Glob | None, Field(description="Only these files of the folder")] = None,
    context: Annotated[int, Field(ge=0, le=10, description="Lines around each match")] = 0,
    max_matches: Annotated[int, Field(ge=1, le=1_000)] = 100,
) -> Lines:
    """Find lines by a pattern in a file, in all files below a folder, or in a given text."""
    from outrider.workspace.searching.grep import Search, grep_text, ripgrep

    if (path is None) == (input is None):
        raise InvalidInput("path, input: give exactly one of them", hint='path="." searches the whole workspace')
    search = Search(pattern, ignore_case, max_matches, context, glob, rg=ripgrep())
    if input is not None:
        return _lines(await grep_text(input, search), named=False, numbered=line_numbers)
    place = await anyio.to_thread.run_sync(workspaces.of, call)
    return await _grep_path(place, path or ".", search, numbered=line_numbers)


async def _grep_path(place: "Workspace", path: str, search: "Search", *, numbered: bool) -> Lines:
    """A file that can be read as a whole is decoded first, whatever its encoding; others are left to the engine."""
    from outrider.workspace.edit import lines_of
    from outrider.workspace.encoding import decode
    from outrider.workspace.files import LARGEST
    from outrider.workspace.searching.grep import grep_text, grep_tree

    files = place.files
    if path == "." or (entry := await anyio.to_thread.run_sync(files.jail.entry, path)).kind == "directory":
        return _lines(await grep_tree(files.jail, path, search), named=True, numbered=True)
    if (entry.size or 0) > LARGEST:
        parent = PurePosixPath(path).parent
        found = await grep_tree(files.jail, str(parent), search, file=PurePosixPath(path).name)
        return _lines(found, named=False, numbered=numbered)
    text, _ = decode(await anyio.to_thread.run_sync(files.content, path), path)
    plain = "\n".join(line.rstrip("\r\n") for line in lines_of(text)) if "\n" not in text else text
    return _lines(await grep_text(plain, search), named=False, numbered=numbered)


def _first(entries: "Iterable[Entry]") -> "tuple[list[Entry], bool]":
    found = list(islice(entries, LOOKED_AT + 1))
    return found[:LOOKED_AT], len(found) > LOOKED_AT


def _below(path: str, folder: str) -> str:
    return path.removeprefix(f"{PurePosixPath(folder)}/")


def _legible(name: str) -> str:
    """A name with its invisible characters, and bytes that are no letters, written out: code may have chosen it."""
    if name.isprintable():
        return name
    return "".join(repr(letter)[1:-1] if unicodedata.category(letter) in HIDDEN_KINDS else letter for letter in name)


def _listing(rows: Iterable[dict[str, Any]], count: int, *, cut: bool) -> Listing:
    shown = list(_within_budget(rows))
    if len(shown) == count and not cut:
        return Listing(count=count, entries=shown)
    rest = "there are even more; " if cut else ""
    note = f"{rest}the first {len(shown):,} are shown, narrow it by pattern or path"
    return Listing(count=count, entries=shown, note=note)


def _within_budget(rows: Iterable[Any]) -> Iterator[Any]:
    """As many as a model can be given to read at once."""
    left = DEFAULT_CHARS
    for row in rows:
        left -= len(json.dumps(row, ensure_ascii=False)) + 2
        if left < 0:
            return
        yield row


def _lines(found: "Matches", *, named: bool, numbered: bool) -> Lines:
    rows = [_row(line, named=named, numbered=numbered) for line in found.lines]
    shown = list(_within_budget(rows)) or rows[:1]
    more = found.more or len(shown) < len(rows)
    note = "time was up; narrow it by path or glob" if found.timed_out else "there are more; narrow it" if more else ""
    return Lines(count=len(shown), matches=shown, more=more, **({"note": note} if note else {}))


def _row(line: "Line", *, named: bool, numbered: bool) -> Any:
    text = _cut(line.text, line.column)
    around = {"before": list(map(_cut, line.before)), "after": list(map(_cut, line.after))}
    more = {name: lines for name, lines in around.items() if lines}
    if not (named or numbered or more):
        return text
    return ({"path": _legible(line.path)} if named else {}) | {"line": line.number, "text": text} | more


def _cut(text: str, column: int = 0) -> str:
    """A line as it can be shown: of a very long one, what is around the match."""
    if len(text) <= LONGEST_LINE:
        return text
    start = max(0, min(column - LONGEST_LINE // 4, len(text) - LONGEST_LINE))
    end = start + LONGEST_LINE
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
