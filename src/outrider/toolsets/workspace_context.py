"""What a system prompt may say of the session's workspace."""

from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.prompting import Offered, status
from outrider.toolsets.workspace import workspace
from outrider.workspace import Workspaces
from outrider.workspace.processes import Processes


@workspace.context
async def described(
    workspaces: Workspaces, processes: Processes, call: Call, offered: Offered
) -> tuple[str, dict[str, Any]]:
    """Where it is, what runs in it, and two levels of what it holds."""
    from outrider.workspace.tree import tree

    place = workspaces.find(call)
    drawn = await anyio.to_thread.run_sync(tree, place.files.jail)
    directory = str(place.directory) if workspaces.settings.show_paths else "."
    running = processes.count(place)
    lines = [f"**Working Directory**: {directory}", *([f"**Running Processes**: {running}"] if running else [])]
    head = status("Workspace", "workspace", offered, *lines)
    text = "\n".join([head, "", "## Current Directory Structure", *(drawn or ["(empty)"])])
    return text, {"directory": directory, "processes": running, "entries": drawn}
