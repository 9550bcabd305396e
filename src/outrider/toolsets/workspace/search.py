"""Tools that list folders, find files by name and lines by pattern."""

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
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.core.jail import DirectoryEntry
    from outrider.workspace.files import WorkspaceFiles
    from outrider.workspace.search.grep import GrepLine, GrepQuery, GrepResult


FolderPath = Annotated[str, Field(min_length=1, max_length=1_000, description="Folder in the workspace")]
Glob = Annotated[str, Field(min_length=1, max_length=500, description="e.g. *.{py,md} or src/**/*.js")]
Depth = Annotated[int, Field(ge=1, le=50)]


class Listing(BaseModel, defer_build=True):
    """Files and folders; `count` counts all of them, while `entries` may only have the first ones."""

    count: int = Field(description="All matches; entries may list fewer")
    entries: list[dict[str, Any]]
    note: str = ""

    def __str__(self) -> str:
        head = f"{self.count:,} {'entry' if self.count == 1 else 'entries'}{f'; {self.note}' if self.note else ''}"
        return f"{head}\n{json.dumps(self.entries, ensure_ascii=False)}"


class GrepMatches(BaseModel, defer_build=True):
    """Matching lines as texts, or as objects if paths, numbers or context are wanted."""

    count: int
    matches: list[Any] = Field(description="Texts, or objects with path, line and text")
    more: bool = False
    note: str = ""

    def __str__(self) -> str:
        head = f"{self.count} matching line{'s' * (self.count != 1)}{f' ({self.note})' if self.note else ''}"
        return f"{head}\n{json.dumps(self.matches, ensure_ascii=False)}"


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
    """List a folder's entries with sizes: folders first, then by name."""

    def list_entries() -> "tuple[list[DirectoryEntry], bool]":
        depth = max_depth if recursive else 1
        return _take_first(workspaces.ensure_workspace(call).files.list(path, pattern, depth=depth, hidden=show_hidden))

    entries, has_more = await anyio.to_thread.run_sync(list_entries)
    prefix = f"{PurePosixPath(path)}/"
    rows = (
        {"name": _escape_invisible(entry.path.removeprefix(prefix)), "type": entry.kind, "size": entry.size}
        for entry in entries
    )
    return _build_listing(rows, len(entries), has_more=has_more)


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
    """Find files and folders by name, or by path if the pattern has a slash."""

    def find_entries() -> "tuple[list[DirectoryEntry], bool]":
        return _take_first(
            workspaces.ensure_workspace(call).files.search(pattern, path, depth=max_depth, kind=file_type)
        )

    entries, has_more = await anyio.to_thread.run_sync(find_entries)
    rows = (
        {
            "path": _escape_invisible(entry.path),
            "name": _escape_invisible(entry.name),
            "type": entry.kind,
            "size": entry.size,
        }
        for entry in entries
    )
    return _build_listing(rows, len(entries), has_more=has_more)


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
) -> GrepMatches:
    """Find lines by a pattern in a file, in all files below a folder, or in a given text."""
    from outrider.workspace.search.grep import GrepQuery, find_ripgrep, grep_text

    if (path is None) == (input is None):
        raise InvalidInput("path, input: give exactly one of them", hint='path="." searches the whole workspace')
    search = GrepQuery(pattern, ignore_case, max_matches, context, glob, ripgrep_path=find_ripgrep())
    if input is not None:
        return _build_grep_matches(await grep_text(input, search), named=False, numbered=line_numbers)
    session_workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    return await _grep_path(session_workspace.files, path or ".", search, numbered=line_numbers)


async def _grep_path(files: "WorkspaceFiles", path: str, search: "GrepQuery", *, numbered: bool) -> GrepMatches:
    """Search a folder or file. Files that fit into memory are decoded first, so that any encoding can be searched."""
    from outrider.workspace.edit import split_lines
    from outrider.workspace.encoding import decode_text
    from outrider.workspace.files import MAX_FILE_BYTES
    from outrider.workspace.search.grep import grep_text, grep_tree

    if path == "." or (entry := await anyio.to_thread.run_sync(files.jail.get_entry, path)).kind == "directory":
        return _build_grep_matches(await grep_tree(files.jail, path, search), named=True, numbered=True)
    if (entry.size or 0) > MAX_FILE_BYTES:
        parent = PurePosixPath(path).parent
        result = await grep_tree(files.jail, str(parent), search, file=PurePosixPath(path).name)
        return _build_grep_matches(result, named=False, numbered=numbered)
    text, _ = decode_text(await anyio.to_thread.run_sync(files.read_bytes, path), path)
    plain = "\n".join(line.rstrip("\r\n") for line in split_lines(text)) if "\n" not in text else text
    return _build_grep_matches(await grep_text(plain, search), named=False, numbered=numbered)


def _take_first(entries: "Iterable[DirectoryEntry]") -> "tuple[list[DirectoryEntry], bool]":
    """Return up to 100,000 entries, and whether there are more."""
    max_entries = 100_000
    first_entries = list(islice(entries, max_entries + 1))
    return first_entries[:max_entries], len(first_entries) > max_entries


def _escape_invisible(name: str) -> str:
    """Escape invisible characters and undecodable bytes of a name, which hostile code may have chosen."""
    hidden_categories = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    if name.isprintable():
        return name
    return "".join(
        repr(letter)[1:-1] if unicodedata.category(letter) in hidden_categories else letter for letter in name
    )


def _build_listing(rows: Iterable[dict[str, Any]], count: int, *, has_more: bool) -> Listing:
    entries = list(_iter_within_budget(rows))
    if len(entries) == count and not has_more:
        return Listing(count=count, entries=entries)
    rest = "there are even more; " if has_more else ""
    note = f"{rest}the first {len(entries):,} are shown, narrow it by pattern or path"
    return Listing(count=count, entries=entries, note=note)


def _iter_within_budget(rows: Iterable[Any]) -> Iterator[Any]:
    """Yield rows until their JSON exceeds the size of one answer."""
    chars_left = DEFAULT_CUT_CHARS
    for row in rows:
        chars_left -= len(json.dumps(row, ensure_ascii=False)) + 2
        if chars_left < 0:
            return
        yield row


def _build_grep_matches(result: "GrepResult", *, named: bool, numbered: bool) -> GrepMatches:
    rows = [_serialize_match(line, named=named, numbered=numbered) for line in result.lines]
    matches = list(_iter_within_budget(rows)) or rows[:1]
    more = result.has_more or len(matches) < len(rows)
    note = "there are more; narrow it" if more else ""
    note = "time ran out; narrow it by path or glob" if result.timed_out else note
    return GrepMatches(count=len(matches), matches=matches, more=more, **({"note": note} if note else {}))


def _serialize_match(line: "GrepLine", *, named: bool, numbered: bool) -> Any:
    text = _shorten_line(line.text, line.column)
    context = {"before": list(map(_shorten_line, line.before)), "after": list(map(_shorten_line, line.after))}
    context = {name: lines for name, lines in context.items() if lines}
    if not (named or numbered or context):
        return text
    return ({"path": _escape_invisible(line.path)} if named else {}) | {"line": line.number, "text": text} | context


def _shorten_line(text: str, column: int = 0) -> str:
    """Shorten a long line to the 400 characters around `column`."""
    max_line_chars = 400
    if len(text) <= max_line_chars:
        return text
    start = max(0, min(column - max_line_chars // 4, len(text) - max_line_chars))
    end = start + max_line_chars
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
