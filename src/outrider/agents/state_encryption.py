"""The cipher interface that runs use for private state."""

from typing import Protocol


class StateCipher(Protocol):
    """Encrypts bytes so that only processes with the same key can read them."""

    def seal(self, payload: bytes) -> str:
        """Return the bytes as encrypted text."""
        ...

    def unseal(self, token: str) -> bytes:
        """Return the decrypted bytes. Raises an error for text that was encrypted with another key."""
        ...
