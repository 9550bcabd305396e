"""Directories of people who must show who they are: what tools saved there goes like artifacts do."""

import time
from contextlib import suppress
from pathlib import Path

import anyio

from outrider.app.app import App


async def sweep_identity_data(app: App) -> None:
    """Forgets what is older than the settings keep of the audit, of counters and of saved files. Raises Unavailable."""
    seconds_per_day = 86_400
    chosen = app.loaded.settings
    if chosen.identity.is_enabled or chosen.identity.quotas.has_limits:
        await app.identity().audit.delete_expired(chosen.identity.audit_days)
        await anyio.to_thread.run_sync(delete_old_files, chosen.data_dir / "people", chosen.keep_days * seconds_per_day)


def delete_old_files(folder: Path, seconds: float) -> int:
    """Removes files that nobody has changed for so long, and empty directories; returns how many files. Blocking."""
    gone, oldest = 0, time.time() - seconds
    for path in sorted(folder.rglob("*"), reverse=True):  # what is inside comes before what it is in
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            elif path.lstat().st_mtime < oldest:
                path.unlink()
                gone += 1
    return gone
