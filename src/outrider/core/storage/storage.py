"""The protocol of storages for artifacts, and copying between two of them."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Protocol

from outrider.core.errors import Unavailable


@dataclass(frozen=True)
class StoredFile:
    """The size of a written file in bytes, and its SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True)
class StorageItem:
    """A stored file's name and its time in epoch seconds.

    The time is that of writing.
    """

    name: str
    at: float


class Storage(Protocol):
    """Files by name; a name is a UUID's text, and only complete files are visible.

    Failures raise Unavailable with code `storage`; missing files raise FileNotFoundError.
    """

    @property
    def location(self) -> str:
        """Folder or address for people, without secrets."""
        ...

    async def put(self, name: str, source: BinaryIO) -> StoredFile:
        """Store the rest of an open file of any size, in blocks."""
        ...

    async def read_range(self, name: str, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to before `stop`; fewer at the end."""
        ...

    async def read(self, name: str) -> bytes:
        """Return all bytes of the file."""
        ...

    def stream(self, name: str) -> AsyncGenerator[bytes]:
        """Yield the file in blocks."""
        ...

    async def remove(self, names: Sequence[str]) -> None:
        """Remove those of the files that exist; ignore those that cannot be removed."""
        ...

    def iter_items(self) -> AsyncGenerator[StorageItem]:
        """Yield all files, incomplete ones too."""
        ...


def build_storage_error(message: str, hint: str) -> Unavailable:
    """Return the error of a failed storage."""
    return Unavailable(message, code="storage", hint=hint)


class ArtifactTransfer:
    """Copies the files of rows of `artifacts`, except those that the target has already."""

    def __init__(self, source: Storage, target: Storage) -> None:
        self._source = source
        self._target = target
        self._target_names: set[str] | None = None

    async def copy_files(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the rows whose files are in the target now; the others' files are gone. Raises Unavailable."""
        if self._target_names is None:
            self._target_names = {item.name async for item in self._target.iter_items()}
        return [
            row for row in rows if row["id"] in self._target_names or await self._copy_file(row, self._target_names)
        ]

    async def _copy_file(self, row: dict[str, Any], target_names: set[str]) -> bool:
        name = row["id"]
        with SpooledTemporaryFile(max_size=8 << 20) as file:  # a larger file is buffered on disk
            try:
                async for block in self._source.stream(name):
                    file.write(block)
            except FileNotFoundError:
                return False
            file.seek(0)
            stored = await self._target.put(name, file)  # ty: ignore[invalid-argument-type]
        if stored.sha256 != row["sha256"]:
            await self._target.remove([name])
            raise Unavailable(
                f"the file of artifact {name} does not match its row: {stored.size} bytes instead of {row['size']}",
                code="storage",
                hint="the source is damaged: restore it, or remove that artifact",
            )
        target_names.add(name)
        return True
