"""What a place for artifacts can do."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from outrider.core.errors import Unavailable


@dataclass(frozen=True)
class StoredFile:
    """What was written: its size in bytes and its SHA-256 in hexadecimal digits."""

    size: int
    sha256: str


@dataclass(frozen=True)
class StorageItem:
    """One thing in a storage: its name, and when it was written, in seconds since the epoch."""

    name: str
    at: float


class Storage(Protocol):
    """Files by name; a name is a UUID's text, and a file is there whole or not at all.

    What fails raises Unavailable with code `storage`; what is not there FileNotFoundError.
    """

    @property
    def location(self) -> str:
        """Where it is, for people; never with a secret."""
        ...

    async def put(self, name: str, source: BinaryIO) -> StoredFile:
        """Keeps what the open file still holds, of any size, a block at a time."""
        ...

    async def read_range(self, name: str, start: int, stop: int) -> bytes:
        """The bytes from `start` up to and without `stop`; fewer at the end."""
        ...

    async def read(self, name: str) -> bytes:
        """All its bytes."""
        ...

    def stream(self, name: str) -> AsyncGenerator[bytes]:
        """All its bytes, a block at a time."""
        ...

    async def remove(self, names: Sequence[str]) -> None:
        """Removes what is there of these; what cannot be removed is left, and no error."""
        ...

    def iter_items(self) -> AsyncGenerator[StorageItem]:
        """All that is there, what is only half written among it."""
        ...


def build_storage_error(message: str, hint: str) -> Unavailable:
    """The failure of a storage."""
    return Unavailable(message, code="storage", hint=hint)
