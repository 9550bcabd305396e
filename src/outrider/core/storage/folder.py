"""A folder of this machine, or one that several share."""

import hashlib
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import anyio

from outrider.core.errors import Unavailable
from outrider.core.storage.storage import Item, Stored, unusable

T = TypeVar("T")
BLOCK = 1 << 20
HINT = "check free space and permissions there; `outrider doctor` tests it"


class FolderStorage:
    """Files in `folder`; it is made when the first of them is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def place(self) -> str:
        """The folder's path."""
        return str(self.folder)

    async def put(self, name: str, source: BinaryIO) -> Stored:
        """Keeps a file, under another name until it is whole."""
        return await anyio.to_thread.run_sync(self._write, self._path(name), source)

    async def part(self, name: str, start: int, stop: int) -> bytes:
        """Some of its bytes."""
        return await _readable(lambda: _part(self._path(name), start, stop))

    async def read(self, name: str) -> bytes:
        """All its bytes."""
        return await _readable(self._path(name).read_bytes)

    async def stream(self, name: str) -> AsyncGenerator[bytes]:
        """All its bytes, a block at a time."""
        file = await _readable(lambda: self._path(name).open("rb"))
        try:
            while block := await _readable(lambda: file.read(BLOCK)):
                yield block
        finally:
            file.close()

    async def remove(self, names: Sequence[str]) -> None:
        """Removes files."""
        await anyio.to_thread.run_sync(lambda: [_removed(self.folder / Path(name).name) for name in names])

    async def items(self) -> AsyncGenerator[Item]:
        """What the folder holds, half-written files too."""
        for item in await anyio.to_thread.run_sync(self._items):
            yield item

    def _items(self) -> list[Item]:
        try:
            return [Item(path.name, path.stat().st_mtime) for path in self.folder.iterdir() if path.is_file()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise unusable(f"{self.folder} cannot be listed: {error.strerror}", HINT) from error

    def _path(self, name: str) -> Path:
        return self.folder / str(uuid.UUID(name))

    def _write(self, path: Path, source: BinaryIO) -> Stored:
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
            _removed(partial)
            raise unusable(f"the file cannot be kept: {error.strerror}", HINT) from error
        return Stored(size, digest.hexdigest())


async def _readable(work: Callable[[], T]) -> T:
    """Work on a file. Raises FileNotFoundError and Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable(f"the file cannot be read: {error.strerror}", code="storage", hint=HINT) from error


def _part(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(max(stop - start, 0))


def _removed(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
