"""Provide the key and cipher for state that leaves the process.

The cipher is the SDK's (AES-256-GCM).

Nothing of the SDK is imported before the first use, because most commands never need it.
"""

import logging
import secrets
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from outrider.core.private_file import create_private_file

if TYPE_CHECKING:
    from mcp.server.request_state import AESGCMRequestStateCodec

log = logging.getLogger(__name__)


class StateCodec:
    """Encrypt and decrypt state, with a key that is loaded at first use.

    Args:
        key: At least 32 bytes, the same for all replicas; empty uses this machine's key, created at first use.
        folder: The folder of this machine's key, which only its owner can read.
    """

    def __init__(self, key: str, folder: Path) -> None:
        self._key = key
        self._folder = folder

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> "AESGCMRequestStateCodec":
        from mcp.server.request_state import AESGCMRequestStateCodec

        return AESGCMRequestStateCodec([self._key or load_machine_key(self._folder)])


def load_machine_key(folder: Path, name: str = "state.key") -> str:
    """Return this machine's key from a file in the folder.

    It is temporary if the file cannot be written.

    The key is created at first use.
    """
    path = folder / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            create_private_file(path, secrets.token_hex(32))
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        log.warning("the key is lost when this process ends, because %s cannot be written (%s)", path, error.strerror)
        return secrets.token_hex(32)
