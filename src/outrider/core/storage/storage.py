"""The protocol of storages for artifacts."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from outrider.core.errors import Unavailable


@dataclass(frozen=True)
class StoredFile:
    """The size of a written file in bytes, and its SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True)
class StorageItem:
    """The name of a stored file, and its time of writing in seconds since the epoch."""

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
