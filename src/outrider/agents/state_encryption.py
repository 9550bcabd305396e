"""What the house's seal can do."""

from typing import Protocol


class StateCipher(Protocol):
    """Seals bytes so that only processes with the same key can read them."""

    def seal(self, payload: bytes) -> str:
        """The bytes as text that says nothing."""
        ...

    def unseal(self, token: str) -> bytes:
        """The bytes again. Raises for what was sealed under another key."""
        ...
