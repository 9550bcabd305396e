"""What the toolset of exports is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.workspace.workspaces import Workspace

if TYPE_CHECKING:
    from outrider.workspace.convert import Format
    from outrider.workspace.export import Export


@dataclass(frozen=True)
class Exports:
    """Makes exports; `to_markdown` reads documents (web pages, PDF, Office) from their bytes and name."""

    to_markdown: Callable[[bytes, str], Awaitable[str]]

    async def file(self, place: Workspace, path: str, *, name: str = "", wanted: "Format | None" = None) -> "Export":
        """A copy of one file, converted if that is wanted. Raises what the jail raises, and InvalidInput."""
        from outrider.workspace.export import exported

        return await exported(place, path, name, wanted, self.to_markdown)
