"""Large things that do not belong into a model's context: files in a storage, referenced by an address.

Never a row without its file: the file is whole before the row is written, and the row is gone before the file is.
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

if TYPE_CHECKING:
    from outrider.core.keyset import Batch

ARTIFACT_URI_PREFIX = "outrider://artifacts/"


@dataclass(frozen=True)
class Artifact:
    """A kept file: `uri` is how hosts read it, `size` is in bytes, `created_at` in seconds since the epoch."""

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
    """Keeps files for `keep_seconds`, with a row each in the database.

    Args:
        storage: Where the files are; a path means that folder.
        database: Where the rows are.
        keep_seconds: How long.
    """

    def __init__(self, storage: "Storage | Path", database: Database, *, keep_seconds: float) -> None:
        self.storage: Storage = FolderStorage(storage) if isinstance(storage, Path) else storage
        self._database = database
        self._keep_seconds = keep_seconds
        self.dashboard_url = ""  # below which people find them in the dashboard, while there is one

    def build_artifact_url(self, uri: str) -> str:
        """Where a person can open an artifact in a web browser; empty while there is no dashboard."""
        return (
            f"{self.dashboard_url.rstrip('/')}/files/{uri.removeprefix(ARTIFACT_URI_PREFIX)}"
            if self.dashboard_url
            else ""
        )

    def build_session_url(self, session: str) -> str:
        """Where a person can look at the pictures of a session; empty while there is no dashboard."""
        name = quote(session, safe="")
        return f"{self.dashboard_url.rstrip('/')}/library/screenshots?session={name}" if self.dashboard_url else ""

    async def save(self, data: bytes, *, name: str, mime_type: str, session: str, call: Call | None = None) -> Artifact:
        """Keeps the bytes; the file is complete before anybody can learn of it.

        Args:
            data: The bytes.
            name: Its file name.
            mime_type: What it is.
            session: In which it is listed.
            call: For whom it is made; calls of other workspaces will not find it.

        Raises Unavailable when it cannot be written (full disk, no permission); nothing is left behind.
        """
        return await self.save_file(BytesIO(data), name=name, mime_type=mime_type, session=session, call=call)

    async def save_file(
        self, source: BinaryIO, *, name: str, mime_type: str, session: str, call: Call | None = None
    ) -> Artifact:
        """Keeps what an open file still holds, of any size. Otherwise as `save`."""
        from outrider.core.tables import artifacts

        key = str(uuid.uuid4())
        stored = await self.storage.put(key, source)
        kept = Artifact(
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
            row = dict(vars(kept))
            await self._database.run_transaction(lambda each: each.execute(artifacts.insert(), [row]), write=True)
        except (
            TransactionOutcomeUnknown
        ):  # the row may be there, so the file stays; if it is not, `outrider db check` finds the file
            raise
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.storage.remove([kept.id])
            raise
        return kept

    async def get(self, uri: str, workspace: str | None = None) -> Artifact:
        """The artifact of that address (or bare id). Raises NotFound, also for another workspace's if one is named."""
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
        """The newest artifacts first, of one session or of all."""
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
        """The newest artifacts first, a part at a time.

        Args:
            pictures: Only what was saved as an image, or only the rest.
            session: Only of this one; empty means all.
            text: Only with this in their name, whatever its case.
            workspace: Only of this one; None means all.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
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
        """Its bytes from `start` up to and without `stop`; fewer at the end. Raises NotFound when the file is gone."""
        with _translate_missing_file(artifact.uri):
            return await self.storage.read_range(artifact.id, start, stop)

    async def read(self, uri: str, workspace: str | None = None) -> tuple[Artifact, bytes]:
        """The artifact with its bytes; otherwise as `get`. Raises NotFound, also when the file is gone."""
        kept = await self.get(uri, workspace)
        with _translate_missing_file(uri):
            return kept, await self.storage.read(kept.id)

    async def stream(self, artifact: Artifact) -> AsyncGenerator[bytes]:
        """Its bytes, a block at a time. Raises NotFound when the file is gone."""
        with _translate_missing_file(artifact.uri):
            async for block in self.storage.stream(artifact.id):
                yield block

    async def delete_expired(self) -> int:
        """Removes what is older than the retention; returns how many files went."""
        from sqlalchemy import delete

        from outrider.core.tables import artifacts

        old = artifacts.c.created_at < time.time() - self._keep_seconds
        async with self._database.write() as connection:
            gone = (await connection.execute(delete(artifacts).where(old).returning(artifacts.c.id))).scalars().all()
        await self.storage.remove(gone)
        return len(gone)


@contextmanager
def _translate_missing_file(uri: str) -> Generator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotFound(f"the file of artifact {uri!r} is gone", hint="make it again") from None
