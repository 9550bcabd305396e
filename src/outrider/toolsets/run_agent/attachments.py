"""Load the files that callers pass to an agent: artifacts by id, workspace files by path."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from mimetypes import guess_type
from typing import Any

import anyio

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.jail import rename_error_field
from outrider.core.text import cut_text
from outrider.core.untrusted import wrap_untrusted
from outrider.workspace import SessionWorkspaces


@dataclass(frozen=True)
class Attachments:
    """Finds files of the caller and reads their text; `to_markdown` converts the bytes of a file, given its name."""

    artifacts: ArtifactStore
    workspaces: SessionWorkspaces
    to_markdown: Callable[[bytes, str], Awaitable[str]]

    async def load_file(self, name: str, call: Call, max_chars: int) -> dict[str, Any] | None:
        """Return a file with `id`, `title`, `content_type`, and `content`, its marked text; None for an unknown id.

        Args:
            name: An artifact's id, or a path in the workspace of the caller's session.
            call: The caller.
            max_chars: The longest text.

        Raises:
            NotFound, Refused, InvalidInput: A name that can only be a path does not name a file.
        """
        max_bytes = 10_000_000  # the agent gets larger files by name, without their text
        try:
            artifact = await self.artifacts.get(name, call.workspace)
        except OutriderError:
            return await self._load_workspace_file(name, call, max_chars)
        file = {"id": artifact.id, "title": artifact.name, "content_type": artifact.mime_type, "uri": artifact.uri}
        try:
            if artifact.size > max_bytes:
                return file
            _, body = await self.artifacts.read(artifact.uri, call.workspace)
        except OutriderError:
            return file
        return file | await self._read_content(body, artifact.name, max_chars)

    async def _load_workspace_file(self, path: str, call: Call, max_chars: int) -> dict[str, Any] | None:
        workspace = await anyio.to_thread.run_sync(self.workspaces.ensure_workspace, call)
        try:
            with rename_error_field("context_files"), workspace.files.jail.open_file(path):
                pass
        except OutriderError:
            if re.fullmatch(r"[\w-]+", path):
                return None
            raise
        file = {"id": path, "title": path, "content_type": guess_type(path)[0] or "application/octet-stream"}
        try:
            body = await anyio.to_thread.run_sync(workspace.files.read_bytes, path)
        except OutriderError:  # too large
            return file
        return file | await self._read_content(body, path, max_chars)

    async def _read_content(self, body: bytes, name: str, max_chars: int) -> dict[str, str]:
        """Return the text of a file as `content`; nothing if it has none."""
        try:
            piece = cut_text(await self.to_markdown(body, name), max_chars)
        except OutriderError:
            return {}
        if not piece.text.strip():
            return {}
        note = f"\n[cut: {piece.total:,} characters in total]" if piece.truncated else ""
        return {"content": wrap_untrusted(piece.text, name) + note}
