"""What the toolset of exports is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.workspace.workspaces import SessionWorkspace

if TYPE_CHECKING:
    from outrider.workspace.convert import ExportFormat
    from outrider.workspace.export import Export


@dataclass(frozen=True)
class Exporter:
    """Makes exports; `to_markdown` reads documents (web pages, PDF, Office) from their bytes and name."""

    to_markdown: Callable[[bytes, str], Awaitable[str]]

    async def export_file(
        self, workspace: SessionWorkspace, path: str, *, name: str = "", wanted: "ExportFormat | None" = None
    ) -> "Export":
        """A copy of one file, converted if that is wanted. Raises what the jail raises, and InvalidInput."""
        from outrider.workspace.export import build_file_export

        return await build_file_export(workspace, path, name, wanted, self.to_markdown)
