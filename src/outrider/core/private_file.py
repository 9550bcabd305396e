"""Create files that only their owner can read."""

import os
import secrets
from pathlib import Path


def create_private_file(path: Path, text: str) -> None:
    """Create a file that is complete as soon as others see it.

    Raises:
        FileExistsError: The path is taken, even by a link that leads nowhere.
        OSError: The folder cannot be written, or the disk is full. Nothing is left behind.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.link(draft, path)
    finally:
        draft.unlink()
