"""What a system prompt may say of the session's workspace."""

from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.prompts import OfferedToolCount, format_status
from outrider.toolsets.workspace.files import workspace
from outrider.workspace import SessionWorkspaces
from outrider.workspace.processes import Processes


@workspace.register_context
async def describe_workspace(
    workspaces: SessionWorkspaces, processes: Processes, call: Call, offered: OfferedToolCount
) -> tuple[str, dict[str, Any]]:
    """Where it is, what runs in it, and two levels of what it holds."""
    from outrider.workspace.tree import render_tree

    place = workspaces.find_workspace(call)
    drawn = await anyio.to_thread.run_sync(render_tree, place.files.jail)
    directory = str(place.directory) if workspaces.settings.show_paths else "."
    running = processes.count_running(place)
    lines = [f"**Working Directory**: {directory}", *([f"**Running Processes**: {running}"] if running else [])]
    head = format_status("Workspace", "workspace", offered, *lines)
    text = "\n".join([head, "", "## Current Directory Structure", *(drawn or ["(empty)"])])
    return text, {"directory": directory, "processes": running, "entries": drawn}
