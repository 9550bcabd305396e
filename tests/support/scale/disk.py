"""Disks that can be filled, each of one cluster alone."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

FILL_CHUNK = bytes(65_536)


@dataclass(frozen=True)
class SmallDisk:
    """A small file system of its own."""

    folder: Path

    def fill_up(self) -> None:
        """Takes all that is left of it."""
        with (self.folder / "filler").open("wb", buffering=0) as file, suppress(OSError):
            while True:  # others write at the same time
                file.write(FILL_CHUNK)

    def free_space(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)


@contextmanager
def mount_disk(megabytes: int, label: str) -> Generator[SmallDisk | None]:
    """A disk of that size, or None where this user may mount none."""
    folder = Path(tempfile.mkdtemp(prefix="outrider-disk-"))
    size = f"size={megabytes}m,mode=1777"
    try:
        why = "it takes root" if os.geteuid() else _mount_tmpfs(folder, size)
        if why:
            print(f"NOT TRIED: a full disk under {label} ({why})")
            yield None
            return
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _mount_tmpfs(folder: Path, size: str) -> str:
    """Mounts it, or says why that cannot be."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False, capture_output=True, text=True
    )
    return done.stderr.strip() if done.returncode else ""
