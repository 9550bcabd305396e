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
from outrider.core.text import DEFAULT_CUT_CHARS
from outrider.toolsets.workspace.files import workspace
from outrider.workspace import SessionWorkspace, SessionWorkspaces

if TYPE_CHECKING:
    from outrider.workspace.jail import DirectoryEntry
    from outrider.workspace.search.grep import GrepLine, GrepQuery, GrepResult


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


class MatchingLines(BaseModel, defer_build=True):
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
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FolderPath = ".",
    pattern: Annotated[Glob | None, Field(description="Only matching names")] = None,
    recursive: bool = False,
    max_depth: Annotated[Depth, Field(description="With recursive")] = 50,
    show_hidden: bool = False,
) -> Listing:
    """What a folder holds, with sizes: folders first, then by name."""

    def list_entries() -> "tuple[list[DirectoryEntry], bool]":
        depth = max_depth if recursive else 1
        return _take_first(workspaces.ensure_workspace(call).files.list(path, pattern, depth=depth, hidden=show_hidden))

    found, more = await anyio.to_thread.run_sync(list_entries)
    rows = (
        {"name": _escape_invisible(_below(each.path, path)), "type": each.kind, "size": each.size} for each in found
    )
    return _build_listing(rows, len(found), cut=more)


@workspace.tool(title="Find files", untrusted=True)
async def search_files(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    pattern: Glob,
    path: FolderPath = ".",
    max_depth: Depth = 50,
    file_type: Literal["file", "dir", "both"] = "both",
) -> Listing:
    """Find files and folders by name, or by path if the pattern holds a slash."""

    def find_entries() -> "tuple[list[DirectoryEntry], bool]":
        return _take_first(
            workspaces.ensure_workspace(call).files.search(pattern, path, depth=max_depth, kind=file_type)
        )

    found, more = await anyio.to_thread.run_sync(find_entries)
    rows = (
        {
            "path": _escape_invisible(each.path),
            "name": _escape_invisible(each.name),
            "type": each.kind,
            "size": each.size,
        }
        for each in found
    )
    return _build_listing(rows, len(found), cut=more)


@workspace.tool(title="Search in files", untrusted=True)
async def grep(
    workspaces: SessionWorkspaces,
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
) -> MatchingLines:
    """Find lines by a pattern in a file, in all files below a folder, or in a given text."""
    from outrider.workspace.search.grep import GrepQuery, find_ripgrep, grep_text

    if (path is None) == (input is None):
        raise InvalidInput("path, input: give exactly one of them", hint='path="." searches the whole workspace')
    search = GrepQuery(pattern, ignore_case, max_matches, context, glob, ripgrep_path=find_ripgrep())
    if input is not None:
        return _build_matching_lines(await grep_text(input, search), named=False, numbered=line_numbers)
    place = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    return await _grep_path(place, path or ".", search, numbered=line_numbers)


async def _grep_path(place: "SessionWorkspace", path: str, search: "GrepQuery", *, numbered: bool) -> MatchingLines:
    """A file that can be read as a whole is decoded first, whatever its encoding; others are left to the engine."""
    from outrider.workspace.edit import split_lines
    from outrider.workspace.encoding import decode_text
    from outrider.workspace.files import MAX_FILE_BYTES
    from outrider.workspace.search.grep import grep_text, grep_tree

    files = place.files
    if path == "." or (entry := await anyio.to_thread.run_sync(files.jail.get_entry, path)).kind == "directory":
        return _build_matching_lines(await grep_tree(files.jail, path, search), named=True, numbered=True)
    if (entry.size or 0) > MAX_FILE_BYTES:
        parent = PurePosixPath(path).parent
        found = await grep_tree(files.jail, str(parent), search, file=PurePosixPath(path).name)
        return _build_matching_lines(found, named=False, numbered=numbered)
    text, _ = decode_text(await anyio.to_thread.run_sync(files.read_bytes, path), path)
    plain = "\n".join(line.rstrip("\r\n") for line in split_lines(text)) if "\n" not in text else text
    return _build_matching_lines(await grep_text(plain, search), named=False, numbered=numbered)


def _take_first(entries: "Iterable[DirectoryEntry]") -> "tuple[list[DirectoryEntry], bool]":
    max_entries = 100_000  # entries of a folder, with those below, before an answer says that there are more
    found = list(islice(entries, max_entries + 1))
    return found[:max_entries], len(found) > max_entries


def _below(path: str, folder: str) -> str:
    return path.removeprefix(f"{PurePosixPath(folder)}/")


def _escape_invisible(name: str) -> str:
    """A name with its invisible characters, and bytes that are no letters, written out: code may have chosen it."""
    hidden_categories = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    if name.isprintable():
        return name
    return "".join(
        repr(letter)[1:-1] if unicodedata.category(letter) in hidden_categories else letter for letter in name
    )


def _build_listing(rows: Iterable[dict[str, Any]], count: int, *, cut: bool) -> Listing:
    shown = list(_iter_within_budget(rows))
    if len(shown) == count and not cut:
        return Listing(count=count, entries=shown)
    rest = "there are even more; " if cut else ""
    note = f"{rest}the first {len(shown):,} are shown, narrow it by pattern or path"
    return Listing(count=count, entries=shown, note=note)


def _iter_within_budget(rows: Iterable[Any]) -> Iterator[Any]:
    """As many as a model can be given to read at once."""
    left = DEFAULT_CUT_CHARS
    for row in rows:
        left -= len(json.dumps(row, ensure_ascii=False)) + 2
        if left < 0:
            return
        yield row


def _build_matching_lines(found: "GrepResult", *, named: bool, numbered: bool) -> MatchingLines:
    rows = [_serialize_match(line, named=named, numbered=numbered) for line in found.lines]
    shown = list(_iter_within_budget(rows)) or rows[:1]
    more = found.has_more or len(shown) < len(rows)
    note = "time was up; narrow it by path or glob" if found.timed_out else "there are more; narrow it" if more else ""
    return MatchingLines(count=len(shown), matches=shown, more=more, **({"note": note} if note else {}))


def _serialize_match(line: "GrepLine", *, named: bool, numbered: bool) -> Any:
    text = _shorten_line(line.text, line.column)
    around = {"before": list(map(_shorten_line, line.before)), "after": list(map(_shorten_line, line.after))}
    more = {name: lines for name, lines in around.items() if lines}
    if not (named or numbered or more):
        return text
    return ({"path": _escape_invisible(line.path)} if named else {}) | {"line": line.number, "text": text} | more


def _shorten_line(text: str, column: int = 0) -> str:
    """A line as it can be shown: of a very long one, what is around the match."""
    max_line_chars = 400  # characters of a line that are shown
    if len(text) <= max_line_chars:
        return text
    start = max(0, min(column - max_line_chars // 4, len(text) - max_line_chars))
    end = start + max_line_chars
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
