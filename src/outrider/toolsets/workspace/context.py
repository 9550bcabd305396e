"""Describe the session's workspace for system prompts."""

from typing import Any

import anyio

from outrider.core.context import Call
from outrider.core.prompts import OfferedToolCount, format_status
from outrider.toolsets.workspace.files import workspace
from outrider.workspace import SessionWorkspaces
from outrider.workspace.processes import Processes
from outrider.workspace.tree import render_tree


@workspace.register_context
async def describe_workspace(
    workspaces: SessionWorkspaces, processes: Processes, call: Call, offered: OfferedToolCount
) -> tuple[str, dict[str, Any]]:
    """Return its directory, its running processes and two levels of its files, as text and as data."""
    session_workspace = workspaces.find_workspace(call)
    tree = await anyio.to_thread.run_sync(render_tree, session_workspace.files.jail)
    running = processes.count_running(session_workspace)
    lines = ["**Working Directory**: .", *([f"**Running Processes**: {running}"] if running else [])]
    head = format_status("Workspace", "workspace", offered, *lines)
    text = "\n".join([head, "", "## Current Directory Structure", *(tree or ["(empty)"])])
    return text, {"directory": ".", "processes": running, "entries": tree}
