"""Files of the session's workspace for a model: read, written, edited, listed, found and searched."""

import json
from typing import Annotated, Any

import anyio
from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.tool import Toolset
from outrider.workspace import Workspaces

workspace = Toolset(
    "workspace",
    "A folder of this session for files; paths are relative to it, and nothing outside can be reached. Look before "
    "you change: read_file with numbered=true, then replace_lines_in_file with those numbers; it answers with a diff. "
    "grep and search_files find things. export_file hands a result to the user.",
    display_name="Workspace",
)

FilePath = Annotated[str, Field(min_length=1, max_length=1_000, description="Relative to the workspace")]
FolderPath = Annotated[str, Field(min_length=1, max_length=1_000, description="Folder, relative to the workspace")]
ReadOn = Annotated[str | None, Field(description="sha256 from your last read or edit; refuses if the file has changed")]


class Listing(BaseModel, defer_build=True):
    """What a folder holds, directories first, then by name; `more` where there is more than is shown."""

    entries: list[dict[str, Any]]
    more: bool = False

    def __str__(self) -> str:
        cut = " (first ones; narrow it with pattern)" if self.more else ""
        return f"{len(self.entries)} entries{cut}\n{json.dumps(self.entries, ensure_ascii=False)}"


@workspace.tool(title="List a folder")
async def list_directory(
    workspaces: Workspaces,
    call: Call,
    /,
    path: FolderPath = ".",
    pattern: Annotated[str | None, Field(min_length=1, max_length=500, description="Glob, e.g. *.{py,md}")] = None,
    recursive: bool = False,
    max_depth: Annotated[int, Field(ge=1, le=50, description="With recursive")] = 50,
    show_hidden: bool = False,
) -> Listing:
    """List files and folders with their sizes."""

    def listed() -> list[Any]:
        depth = max_depth if recursive else 1
        return list(workspaces.of(call).files.list(path, pattern, depth=depth, hidden=show_hidden))

    found = await anyio.to_thread.run_sync(listed)
    return Listing(entries=[{"name": each.name, "type": each.kind, "size": each.size} for each in found])
