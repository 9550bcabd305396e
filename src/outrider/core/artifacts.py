"""Large things that do not belong into a model's context: files on disk, referenced by an address."""

import hashlib
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import anyio

from outrider.core.context import Call
from outrider.core.db import Database, storable
from outrider.core.errors import NotFound, Unavailable

if TYPE_CHECKING:
    from outrider.core.keyset import Batch

SCHEME = "outrider://artifacts/"
BLOCK = 1 << 20


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
        return SCHEME + self.id


class Artifacts:
    """Keeps files under `folder` for `keep_seconds`, with a row each in the database."""

    def __init__(self, folder: Path, database: Database, *, keep_seconds: float) -> None:
        self._folder = folder
        self._database = database
        self._keep_seconds = keep_seconds
        self.web_address = ""  # below which people find them in the dashboard, while there is one

    def address(self, uri: str) -> str:
        """Where a person can open an artifact in a web browser; empty while there is no dashboard."""
        return f"{self.web_address.rstrip('/')}/files/{uri.removeprefix(SCHEME)}" if self.web_address else ""

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
        return await self.copy(BytesIO(data), name=name, mime_type=mime_type, session=session, call=call)

    async def copy(
        self, source: BinaryIO, *, name: str, mime_type: str, session: str, call: Call | None = None
    ) -> Artifact:
        """Keeps what an open file still holds, of any size. Otherwise as `save`."""
        from outrider.core.tables import artifacts

        key = str(uuid.uuid4())
        size, digest = await anyio.to_thread.run_sync(self._write, key, source)
        kept = Artifact(
            key,
            time.time(),
            storable(session, 200),
            storable(name, 255),
            storable(mime_type, 127),
            size,
            digest,
            storable(call.workspace, 200) if call and call.workspace else None,
            storable(call.identity, 200) if call and call.identity else None,
        )
        try:
            async with self._database.write() as connection:
                await connection.execute(artifacts.insert(), [vars(kept)])
        except BaseException:
            self._remove(kept.id)
            raise
        return kept

    async def get(self, uri: str, workspace: str | None = None) -> Artifact:
        """The artifact of that address (or bare id). Raises NotFound, also for another workspace's if one is named."""
        from sqlalchemy import select

        from outrider.core.tables import artifacts

        query = select(artifacts).where(artifacts.c.id == storable(uri.removeprefix(SCHEME), 200))
        if workspace:
            query = query.where(artifacts.c.workspace == storable(workspace, 200))
        async with self._database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise NotFound(f"no artifact {uri[:200]!r}", hint="it may have expired; make it again")
        return Artifact(**row)

    async def recent(self, limit: int = 50, session: str | None = None, workspace: str | None = None) -> list[Artifact]:
        """The newest artifacts first, of one session or of all."""
        from sqlalchemy import select

        from outrider.core.tables import artifacts

        query = select(artifacts).order_by(artifacts.c.created_at.desc()).limit(limit)
        if session is not None:
            query = query.where(artifacts.c.session == storable(session, 200))
        if workspace:
            query = query.where(artifacts.c.workspace == storable(workspace, 200))
        async with self._database.read() as connection:
            return [Artifact(**row) for row in (await connection.execute(query)).mappings()]

    async def listed(
        self, *, pictures: bool | None = None, session: str = "", text: str = "", after: str = "", limit: int = 50
    ) -> "Batch[Artifact]":
        """The newest artifacts first, a part at a time.

        Args:
            pictures: Only what was saved as an image, or only the rest.
            session: Only of this one; empty means all.
            text: Only with this in their name, whatever its case.
            after: Where the part begins, from the part before.
            limit: How many.

        Raises:
            InvalidInput: `after` is no place in the list.
        """
        from sqlalchemy import select

        from outrider.core.keyset import batch, mark, newest
        from outrider.core.tables import artifacts as table

        query = newest(select(table), table.c.created_at, table.c.id, after).limit(limit + 1)
        if pictures is not None:
            is_picture = table.c.mime_type.startswith("image/")
            query = query.where(is_picture if pictures else ~is_picture)
        if session:
            query = query.where(table.c.session == storable(session, 200))
        if text:
            query = query.where(table.c.name.icontains(storable(text, 255), autoescape=True))
        async with self._database.read() as connection:
            rows = list((await connection.execute(query)).mappings())
        return batch(rows, limit, lambda row: Artifact(**row), lambda row: mark(row["created_at"], row["id"]))

    async def part(self, artifact: Artifact, start: int, stop: int) -> bytes:
        """Its bytes from `start` up to and without `stop`; fewer at the end. Raises NotFound when the file is gone."""
        return await self._or_gone(artifact.uri, lambda: _part(self._path(artifact.id), start, stop))

    async def read(self, uri: str, workspace: str | None = None) -> tuple[Artifact, bytes]:
        """The artifact with its bytes; otherwise as `get`. Raises NotFound, also when the file is gone."""
        kept = await self.get(uri, workspace)
        return kept, await self._or_gone(uri, self._path(kept.id).read_bytes)

    async def _or_gone(self, uri: str, work: Callable[[], bytes]) -> bytes:
        try:
            return await anyio.to_thread.run_sync(work)
        except FileNotFoundError:
            raise NotFound(f"the file of artifact {uri!r} is gone", hint="make it again") from None
        except OSError as error:
            raise Unavailable(f"artifact {uri!r} cannot be read: {error.strerror}", code="storage") from error

    async def sweep(self) -> int:
        """Removes what is older than the retention; returns how many files went."""
        from sqlalchemy import delete

        from outrider.core.tables import artifacts

        old = artifacts.c.created_at < time.time() - self._keep_seconds
        async with self._database.write() as connection:
            gone = (await connection.execute(delete(artifacts).where(old).returning(artifacts.c.id))).scalars().all()
        for name in gone:
            self._remove(name)
        return len(gone)

    def _remove(self, name: str) -> None:
        with suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / str(uuid.UUID(name))

    def _write(self, name: str, source: BinaryIO) -> tuple[int, str]:
        """Writes the file; returns its size in bytes and its SHA-256."""
        path = self._path(name)
        partial = path.with_suffix(".part")
        digest, size = hashlib.sha256(), 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                while block := source.read(BLOCK):
                    digest.update(block)
                    size += file.write(block)
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            raise Unavailable(f"the file cannot be kept: {error.strerror}", code="storage") from error
        return size, digest.hexdigest()


def _part(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(max(stop - start, 0))
