"""Files of SQLite with all tables: they are made once in a process, and then copied, which is forty times quicker."""

import asyncio
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from outrider.core.database.address import of_file
from outrider.settings import Loaded
from support.databases import postgres


def migrated(path: Path) -> Path:
    """Puts a file with all tables there, if there is none."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_tables())
    return path


def prepared(loaded: Loaded) -> Loaded:
    """The same settings, with the file that they lead to."""
    if not loaded.settings.database:
        migrated(loaded.settings.data_dir / "outrider.db")
    return loaded


def prepared_to_work(loaded: Loaded) -> Loaded:
    """The same settings, with that file and with the one beside it in which agents' attempts are noted."""
    if not loaded.settings.database:
        path = migrated(loaded.settings.data_dir / "outrider.db").with_suffix(".work.db")
        if not path.exists():
            path.write_bytes(_attempts())
    return loaded


@cache
def _attempts() -> bytes:
    from dbos import DBOS

    with tempfile.TemporaryDirectory(prefix="outrider-attempts-") as folder:
        path = Path(folder) / "attempts.db"
        DBOS.migrate(f"sqlite:///{path}")
        return path.read_bytes()


@cache
def _tables() -> bytes:
    folder = Path(tempfile.mkdtemp(prefix="outrider-tables-"))
    path = folder / "outrider.db"
    with ThreadPoolExecutor(1) as apart:  # the caller may have an event loop of its own
        apart.submit(asyncio.run, postgres.migrate(of_file(path))).result()
    found = path.read_bytes()
    shutil.rmtree(folder)
    return found
