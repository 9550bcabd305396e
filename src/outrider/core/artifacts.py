"""Store files that are too large for a model's context.

Results reference them by URI.

A row never lacks its file: the file is complete before the row is inserted, and the row is deleted before the file.
"""

import time
import uuid
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

import anyio

from outrider.core.context import Call
from outrider.core.database.database import Database, to_storable_text
from outrider.core.database.failures import TransactionOutcomeUnknown
from outrider.core.errors import NotFound
from outrider.core.storage.folder import FolderStorage
from outrider.core.storage.storage import Storage

if TYPE_CHECKING:  # SQLAlchemy is loaded when a query is made
    from outrider.core.keyset import Batch

ARTIFACT_URI_PREFIX = "outrider://artifacts/"


@dataclass(frozen=True)
class Artifact:
    """A stored file: `uri` is how hosts read it, `size` is in bytes, `created_at` in seconds since the epoch."""

    id: str
    created_at: float
    session: str
    name: str
    mime_type: str
    size: int
    sha256: str
    workspace: str | None = None
    identity: str | None = None

    @property
    def uri(self) -> str:
        return ARTIFACT_URI_PREFIX + self.id


class ArtifactStore:
    """Files that expire after `keep_seconds`, each with a row in the database.

    Args:
        storage: Where the files are; a path means that folder.
        database: Where the rows are.
        keep_seconds: Retention.

    Attributes:
        dashboard_url: The dashboard's address; empty while there is none.
    """

    def __init__(self, storage: Storage | Path, database: Database, *, keep_seconds: float) -> None:
        self.storage: Storage = FolderStorage(storage) if isinstance(storage, Path) else storage
        self.dashboard_url = ""
        self._database = database
        self._keep_seconds = keep_seconds

    def build_artifact_url(self, uri: str) -> str:
        """Return an artifact's address in the dashboard, or "" without one."""
        if not self.dashboard_url:
            return ""
        return f"{self.dashboard_url.rstrip('/')}/files/{uri.removeprefix(ARTIFACT_URI_PREFIX)}"

    def build_session_url(self, session: str) -> str:
        """Return the dashboard's address for a session's pictures.

        It is an empty string without a dashboard.
        """
        name = quote(session, safe="")
        return f"{self.dashboard_url.rstrip('/')}/library/screenshots?session={name}" if self.dashboard_url else ""

    async def save(self, data: bytes, *, name: str, mime_type: str, session: str, call: Call | None = None) -> Artifact:
        """Store the bytes; the artifact becomes visible when its file is complete.

        Args:
            data: The content.
            name: File name.
            mime_type: MIME type.
            session: The session that lists it.
            call: The call that makes it; calls of other workspaces will not find the artifact.

        Raises:
            Unavailable: It cannot be written (full disk, no permission); no partial file remains.
        """
        return await self.save_file(BytesIO(data), name=name, mime_type=mime_type, session=session, call=call)

    async def save_file(
        self, source: BinaryIO, *, name: str, mime_type: str, session: str, call: Call | None = None
    ) -> Artifact:
        """Store the rest of an open file of any size; otherwise as `save`."""
        from outrider.core.tables import artifacts

        key = str(uuid.uuid4())
        stored = await self.storage.put(key, source)
        artifact = Artifact(
            key,
            time.time(),
            to_storable_text(session, 200),
            to_storable_text(name, 255),
            to_storable_text(mime_type, 127),
            stored.size,
            stored.sha256,
            to_storable_text(call.workspace, 200) if call and call.workspace else None,
            to_storable_text(call.identity, 200) if call and call.identity else None,
        )
        try:
            row = dict(vars(artifact))
            await self._database.run_transaction(
                lambda connection: connection.execute(artifacts.insert(), [row]), write=True
            )
        except TransactionOutcomeUnknown:
            # The row may exist, so the file stays; if it does not, `outrider db check` finds the file.
            raise
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.storage.remove([artifact.id])
            raise
        return artifact

    async def get(self, uri: str, workspace: str | None = None) -> Artifact:
        """Return the artifact with that URI or bare id. Raises NotFound, even if only another workspace has it."""
        from sqlalchemy import select

        from outrider.core.tables import artifacts

        query = select(artifacts).where(artifacts.c.id == to_storable_text(uri.removeprefix(ARTIFACT_URI_PREFIX), 200))
        if workspace:
            query = query.where(artifacts.c.workspace == to_storable_text(workspace, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound(f"no artifact {uri[:200]!r}", hint="it may have expired; make it again")
        return Artifact(**row)

    async def list_recent(
        self, limit: int = 50, session: str | None = None, workspace: str | None = None
    ) -> list[Artifact]:
        """Return the newest artifacts first, of one session or of all."""
        from sqlalchemy import select

        from outrider.core.tables import artifacts

        query = select(artifacts).order_by(artifacts.c.created_at.desc()).limit(limit)
        if session is not None:
            query = query.where(artifacts.c.session == to_storable_text(session, 200))
        if workspace:
            query = query.where(artifacts.c.workspace == to_storable_text(workspace, 200))
        async with self._database.read() as connection:
            return [Artifact(**row) for row in (await connection.execute(query)).mappings()]

    async def list_batch(
        self,
        *,
        pictures: bool | None = None,
        session: str = "",
        text: str = "",
        workspace: str | None = None,
        after: str = "",
        limit: int = 50,
    ) -> "Batch[Artifact]":
        """Return one batch of the list, newest first.

        Args:
            pictures: Only images, or only other files; None for both.
            session: Only of this session; empty means all.
            text: Only with this in their name, in any case.
            workspace: Only of this workspace; None means all.
            after: Cursor of the batch before; empty for the first.
            limit: Maximum number of artifacts.

        Raises:
            InvalidInput: `after` is not a cursor.
        """
        from sqlalchemy import select

        from outrider.core.keyset import build_batch, format_cursor, order_newest_first
        from outrider.core.tables import artifacts as table

        query = order_newest_first(select(table), table.c.created_at, table.c.id, after).limit(limit + 1)
        if pictures is not None:
            is_picture = table.c.mime_type.startswith("image/")
            query = query.where(is_picture if pictures else ~is_picture)
        if workspace is not None:
            query = query.where(table.c.workspace == to_storable_text(workspace, 200))
        if session:
            query = query.where(table.c.session == to_storable_text(session, 200))
        if text:
            query = query.where(table.c.name.icontains(to_storable_text(text, 255), autoescape=True))
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        return build_batch(
            rows, limit, lambda row: Artifact(**row), lambda row: format_cursor(row["created_at"], row["id"])
        )

    async def read_range(self, artifact: Artifact, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to before `stop`, fewer at the end. Raises NotFound if the file is gone."""
        with _translate_missing_file(artifact.uri):
            return await self.storage.read_range(artifact.id, start, stop)

    async def read(self, uri: str, workspace: str | None = None) -> tuple[Artifact, bytes]:
        """Return the artifact with its bytes. Raises NotFound like `get`, and if the file is gone."""
        artifact = await self.get(uri, workspace)
        with _translate_missing_file(uri):
            return artifact, await self.storage.read(artifact.id)

    async def stream(self, artifact: Artifact) -> AsyncGenerator[bytes]:
        """Yield the bytes in blocks. Raises NotFound if the file is gone."""
        with _translate_missing_file(artifact.uri):
            async for block in self.storage.stream(artifact.id):
                yield block

    async def delete_expired(self) -> int:
        """Delete artifacts older than the retention, and return their number."""
        from sqlalchemy import delete

        from outrider.core.tables import artifacts

        is_expired = artifacts.c.created_at < time.time() - self._keep_seconds
        async with self._database.write() as connection:
            result = await connection.execute(delete(artifacts).where(is_expired).returning(artifacts.c.id))
            ids = result.scalars().all()
        await self.storage.remove(ids)
        return len(ids)


@contextmanager
def _translate_missing_file(uri: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotFound(f"the file of artifact {uri!r} is gone", hint="make it again") from None
