"""Disks that can be filled up, each for a single cluster."""

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
    """A small separate file system."""

    folder: Path

    def fill_up(self) -> None:
        """Use up its free space."""
        with (self.folder / "filler").open("wb", buffering=0) as file, suppress(OSError):
            while True:  # others write at the same time
                file.write(FILL_CHUNK)

    def free_space(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)


@contextmanager
def mount_disk(megabytes: int, label: str) -> Generator[SmallDisk | None]:
    """Mount a disk of that size; return None if this user may not mount one."""
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
    """Mount it, or return the reason why that is impossible."""
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=False, capture_output=True, text=True
    )
    return done.stderr.strip() if done.returncode else ""
