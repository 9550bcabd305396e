"""Create SQLite files with all tables once per process and copy them, for speed."""

import asyncio
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from outrider.core.database.address import build_sqlite_url
from outrider.settings import LoadedSettings
from support.databases import postgres


def create_migrated_file(path: Path) -> Path:
    """Create a file with all tables, unless it exists."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_build_tables_file())
    return path


def prepare_database(loaded: LoadedSettings) -> LoadedSettings:
    """Create the database of these settings, and return the settings."""
    if not loaded.settings.database:
        create_migrated_file(loaded.settings.data_dir / "outrider.db")
    return loaded


def prepare_work_databases(loaded: LoadedSettings) -> LoadedSettings:
    """Create the database of these settings and that of agents' attempts, and return the settings."""
    if not loaded.settings.database:
        path = create_migrated_file(loaded.settings.data_dir / "outrider.db").with_suffix(".work.db")
        if not path.exists():
            path.write_bytes(_build_attempts_file())
    return loaded


@cache
def _build_attempts_file() -> bytes:
    from dbos import DBOS

    with tempfile.TemporaryDirectory(prefix="outrider-attempts-") as folder:
        path = Path(folder) / "attempts.db"
        DBOS.migrate(f"sqlite:///{path}")
        return path.read_bytes()


@cache
def _build_tables_file() -> bytes:
    folder = Path(tempfile.mkdtemp(prefix="outrider-tables-"))
    path = folder / "outrider.db"
    with ThreadPoolExecutor(1) as apart:  # the caller may have its own event loop
        apart.submit(asyncio.run, postgres.create_tables(build_sqlite_url(path))).result()
    found = path.read_bytes()
    shutil.rmtree(folder)
    return found
