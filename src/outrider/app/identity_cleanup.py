"""Delete old audit records, counters and files of authenticated people."""

import time
from contextlib import suppress
from pathlib import Path

import anyio

from outrider.app.app import App


async def sweep_identity_data(app: App) -> None:
    """Delete audit records, counters and files that are older than the settings keep them. Raises Unavailable."""
    seconds_per_day = 86_400
    settings = app.loaded.settings
    if settings.identity.is_enabled or settings.identity.quotas.has_limits:
        await app.identity().audit.delete_expired(settings.identity.audit_days)
        folder, max_age_s = settings.data_dir / "people", settings.keep_days * seconds_per_day
        await anyio.to_thread.run_sync(delete_old_files, folder, max_age_s)


def delete_old_files(folder: Path, seconds: float) -> int:
    """Delete files not changed for so many seconds, and empty folders; returns the number of files. Blocking."""
    deleted, oldest = 0, time.time() - seconds
    for path in sorted(folder.rglob("*"), reverse=True):  # contents before their folders
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            elif path.lstat().st_mtime < oldest:
                path.unlink()
                deleted += 1
    return deleted
