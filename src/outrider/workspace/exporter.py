"""The export service that the toolset receives."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.workspace.workspaces import SessionWorkspace

if TYPE_CHECKING:
    from outrider.workspace.convert import ExportFormat
    from outrider.workspace.export import Export


@dataclass(frozen=True)
class Exporter:
    """Exports files; `to_markdown` converts documents (web pages, PDF, Office), given their bytes and name."""

    to_markdown: Callable[[bytes, str], Awaitable[str]]

    async def export_file(
        self, workspace: SessionWorkspace, path: str, *, name: str = "", export_format: "ExportFormat | None" = None
    ) -> "Export":
        """Export a copy of one file, converted if `export_format`. Raises InvalidInput and the errors of `Jail`."""
        from outrider.workspace.export import build_file_export

        return await build_file_export(workspace, path, name, export_format, self.to_markdown)
