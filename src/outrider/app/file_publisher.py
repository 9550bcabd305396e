"""Publish files of a workspace that an agent has made."""

from collections.abc import Sequence
from dataclasses import dataclass
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any

import anyio

from outrider.core.artifacts import ARTIFACT_URI_PREFIX, Artifact, ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.workspace import SessionWorkspaces


@dataclass(frozen=True)
class FilePublisher:
    """Saves files of sessions as artifacts.

    Remote hosts can read them, and callers can pass them on.
    """

    workspaces: SessionWorkspaces
    artifacts: ArtifactStore

    async def publish_files(self, call: Call, files: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the files with `id`, `uri` and `content_type`; leave out those that are gone or cannot be saved.

        Only the newest files get an artifact. The others keep their path in the workspace.
        """
        max_artifacts = 20  # each takes up space in the result
        unpublished = [file for file in files if "id" not in file]
        older = unpublished[:-max_artifacts]
        published = []
        for file in files:
            if "id" in file or file in older:
                published.append(file)
            elif "uri" in file:  # the tool has saved it as an artifact
                published.append(file | {"id": file["uri"].removeprefix(ARTIFACT_URI_PREFIX)})
            elif artifact := await self._save_file(call, file["path"]):
                published.append(file | {"id": artifact.id, "uri": artifact.uri, "content_type": artifact.mime_type})
        return published

    async def _save_file(self, call: Call, path: str) -> Artifact | None:
        mime_type = guess_type(path)[0] or "application/octet-stream"
        workspace = await anyio.to_thread.run_sync(self.workspaces.ensure_workspace, call)
        try:
            with workspace.files.jail.open_file(path) as file:
                name = PurePosixPath(path).name
                return await self.artifacts.save_file(
                    file, name=name, mime_type=mime_type, session=call.session, call=call
                )
        except OutriderError:
            return None
