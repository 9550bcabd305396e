"""A folder of this machine, or one that several share."""

import hashlib
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import anyio

from outrider.core.errors import Unavailable
from outrider.core.storage.storage import StorageItem, StoredFile, build_storage_error

T = TypeVar("T")
BLOCK_BYTES = 1 << 20
FOLDER_HINT = "check free space and permissions there; `outrider doctor` tests it"


class FolderStorage:
    """Files in `folder`; it is made when the first of them is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.folder)

    async def put(self, name: str, source: BinaryIO) -> StoredFile:
        """Keeps a file, under another name until it is whole."""
        return await anyio.to_thread.run_sync(self._write_file, self._build_path(name), source)

    async def read_range(self, name: str, start: int, stop: int) -> bytes:
        """Some of its bytes."""
        return await _run_file_read(lambda: _read_file_range(self._build_path(name), start, stop))

    async def read(self, name: str) -> bytes:
        """All its bytes."""
        return await _run_file_read(self._build_path(name).read_bytes)

    async def stream(self, name: str) -> AsyncGenerator[bytes]:
        """All its bytes, a block at a time."""
        file = await _run_file_read(lambda: self._build_path(name).open("rb"))
        try:
            while block := await _run_file_read(lambda: file.read(BLOCK_BYTES)):
                yield block
        finally:
            file.close()

    async def remove(self, names: Sequence[str]) -> None:
        """Removes files."""
        await anyio.to_thread.run_sync(lambda: [_remove_file(self.folder / Path(name).name) for name in names])

    async def iter_items(self) -> AsyncGenerator[StorageItem]:
        """What the folder holds, half-written files too."""
        for item in await anyio.to_thread.run_sync(self._list_items):
            yield item

    def _list_items(self) -> list[StorageItem]:
        try:
            return [StorageItem(path.name, path.stat().st_mtime) for path in self.folder.iterdir() if path.is_file()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise build_storage_error(f"{self.folder} cannot be listed: {error.strerror}", FOLDER_HINT) from error

    def _build_path(self, name: str) -> Path:
        return self.folder / str(uuid.UUID(name))

    def _write_file(self, path: Path, source: BinaryIO) -> StoredFile:
        partial = path.with_suffix(".part")
        digest, size = hashlib.sha256(), 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                while block := source.read(BLOCK_BYTES):
                    digest.update(block)
                    size += file.write(block)
            partial.replace(path)
        except OSError as error:
            _remove_file(partial)
            raise build_storage_error(f"the file cannot be kept: {error.strerror}", FOLDER_HINT) from error
        return StoredFile(size, digest.hexdigest())


async def _run_file_read(work: Callable[[], T]) -> T:
    """Work on a file. Raises FileNotFoundError and Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unavailable(f"the file cannot be read: {error.strerror}", code="storage", hint=FOLDER_HINT) from error


def _read_file_range(path: Path, start: int, stop: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(max(stop - start, 0))


def _remove_file(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
