"""Session workspaces: a directory per session, with files to read, change and search."""

from outrider.workspace.exporter import Exporter
from outrider.workspace.settings import WorkspaceSettings
from outrider.workspace.workspaces import SessionWorkspace, SessionWorkspaces

__all__ = ["Exporter", "SessionWorkspace", "SessionWorkspaces", "WorkspaceSettings"]
