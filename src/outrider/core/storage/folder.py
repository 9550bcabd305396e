"""Store artifacts in a local or shared folder."""

import hashlib
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

import anyio

from outrider.core.storage.storage import StorageItem, StoredFile, build_storage_error

ResultT = TypeVar("ResultT")
BLOCK_BYTES = 1 << 20
FOLDER_HINT = "check free space and permissions there; `outrider doctor` tests it"


class FolderStorage:
    """Files in `folder`, which is created for the first of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def location(self) -> str:
        """The folder's path."""
        return str(self.folder)

    async def put(self, name: str, source: BinaryIO) -> StoredFile:
        """Store a file, under another name until it is complete."""
        path = self._build_path(name)
        partial = path.with_suffix(".part")

        def write_file() -> StoredFile:
            digest, size = hashlib.sha256(), 0
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                with partial.open("wb") as file:
                    while block := source.read(BLOCK_BYTES):
                        digest.update(block)
                        size += file.write(block)
                partial.replace(path)
            except OSError as error:
                _remove_file(partial)
                raise build_storage_error(f"the file cannot be stored: {error.strerror}", FOLDER_HINT) from error
            return StoredFile(size, digest.hexdigest())

        return await anyio.to_thread.run_sync(write_file)

    async def read_range(self, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to before `stop`."""

        def read_part() -> bytes:
            with self._build_path(name).open("rb") as file:
                file.seek(start)
                return file.read(max(stop - start, 0))

        return await _run_file_read(read_part)

    async def read(self, name: str) -> bytes:
        """Return all bytes of the file."""
        return await _run_file_read(self._build_path(name).read_bytes)

    async def stream(self, name: str) -> AsyncGenerator[bytes]:
        """Yield the file in blocks."""
        file = await _run_file_read(lambda: self._build_path(name).open("rb"))
        try:
            while block := await _run_file_read(lambda: file.read(BLOCK_BYTES)):
                yield block
        finally:
            file.close()

    async def remove(self, names: Sequence[str]) -> None:
        """Remove files."""
        await anyio.to_thread.run_sync(lambda: [_remove_file(self.folder / Path(name).name) for name in names])

    async def iter_items(self) -> AsyncGenerator[StorageItem]:
        """Yield the files in the folder, incomplete ones too."""

        def list_items() -> list[StorageItem]:
            return [StorageItem(path.name, path.stat().st_mtime) for path in self.folder.iterdir() if path.is_file()]

        try:
            items = await anyio.to_thread.run_sync(list_items)
        except FileNotFoundError:
            return
        except OSError as error:
            raise build_storage_error(f"{self.folder} cannot be listed: {error.strerror}", FOLDER_HINT) from error
        for item in items:
            yield item

    def _build_path(self, name: str) -> Path:
        return self.folder / str(uuid.UUID(name))


async def _run_file_read(work: Callable[[], ResultT]) -> ResultT:
    """Run work on a file in a thread. Raises FileNotFoundError and Unavailable."""
    try:
        return await anyio.to_thread.run_sync(work)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise build_storage_error(f"the file cannot be read: {error.strerror}", FOLDER_HINT) from error


def _remove_file(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
