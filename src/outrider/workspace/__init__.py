"""The workspace: a directory of the session's own, with files to read, change and search."""

from outrider.workspace.exports import Exports
from outrider.workspace.settings import WorkspaceSettings
from outrider.workspace.workspaces import Workspace, Workspaces

__all__ = ["Exports", "Workspace", "WorkspaceSettings", "Workspaces"]
