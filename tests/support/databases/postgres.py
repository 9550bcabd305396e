"""Start a Postgres server on a socket in a folder; as root, `nobody` runs it."""

import asyncio
import os
import pwd
import re
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

START_TIMEOUT_S = 60.0  # seconds
FAST_OPTIONS = ("-F", "-c", "shared_buffers=16MB", "-c", "autovacuum=off")


def find_programs() -> Path | None:
    """Return the folder of the server's programs, if it is installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    here = shutil.which("initdb")
    return installed[-1].parent if installed else Path(here).resolve().parent if here else None


MISSING = "needs a Postgres server: apt-get install postgresql"
needs_postgres = pytest.mark.skipif(find_programs() is None, reason=MISSING)


def require_programs() -> Path:
    """Return the folder of the server's programs, or skip the test that asks."""
    return find_programs() or pytest.skip(MISSING)


@dataclass
class PostgresServer:
    """A server that can be stopped and started again.

    Attributes:
        folder: The folder of its socket and data.
        options: Options of its command line for the next start.
    """

    programs: Path
    folder: Path
    options: tuple[str, ...] = FAST_OPTIONS
    _process: Any = field(default=None, repr=False)
    _has_tables: bool = False

    @property
    def default_address(self) -> str:
        """Return the address of its first database."""
        return self.build_address("postgres")

    def build_address(self, name: str) -> str:
        """Return the address of one of its databases."""
        return f"postgresql+psycopg://outrider@/{name}?host={self.folder}"

    def create_database(self, template: str = "template1") -> str:
        """Create a database, empty or a copy of an unused one, and return its address."""
        name = f"t{uuid.uuid4().hex}"
        self.run_sql(f"CREATE DATABASE {name} TEMPLATE {template} {self._copy_strategy}")
        return self.build_address(name)

    @cached_property
    def _copy_strategy(self) -> str:
        """Return the option to copy databases as files, needed for speed since version 15."""
        said = subprocess.run([self.programs / "postgres", "-V"], check=True, capture_output=True, text=True).stdout
        return "STRATEGY file_copy" if int(re.findall(r"\d+", said)[0]) >= 15 else ""

    def drop_database(self, address: str) -> None:
        """Remove a database, even while it is used."""
        name = address.partition("@/")[2].partition("?")[0]
        self.run_sql(f"DROP DATABASE {name} WITH (FORCE)")

    def create_migrated_database(self) -> str:
        """Return the address of a new database with all tables, copied from another."""
        if not self._has_tables:
            self.run_sql("CREATE DATABASE tables")
            with ThreadPoolExecutor(1) as apart:  # the caller may have its own event loop
                apart.submit(asyncio.run, create_tables(self.build_address("tables"))).result()
            self._has_tables = True
        return self.create_database("tables")

    def run_sql(self, statement: str, name: str = "postgres") -> str:
        """Return the output of `psql`: one row per line, columns separated by a bar."""
        command = [self.programs / "psql", "-h", self.folder, "-U", "outrider", "-d", name, "-AtXqc", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd="/").stdout.strip()

    def start(self, *options: str) -> None:
        """Start it and wait until it answers."""
        command = [self.programs / "postgres", "-D", self.folder / "data", "-k", self.folder, "-h", ""]
        whole: list[Any] = [*command, *self.options, *options]
        self._process = subprocess.Popen(whole, **_build_popen_options(self.folder))
        end = time.monotonic() + START_TIMEOUT_S
        ready = [self.programs / "pg_isready", "-h", self.folder, "-q"]
        while subprocess.run(ready, check=False).returncode != 0:
            assert time.monotonic() < end
            time.sleep(0.02)

    @property
    def is_alive(self) -> bool:
        """Return whether it has not ended by itself."""
        return self._process is not None and self._process.poll() is None

    def stop(self, signal_number: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all sessions, SIGQUIT is a crash, SIGTERM waits for clients."""
        if self._process is not None:
            self._process.send_signal(signal_number)
            self._process.wait()
            self._process = None


async def create_tables(address: str) -> None:
    """Create all tables."""
    from outrider.core.database.database import Database

    database = Database(address)
    async with database.read():
        pass
    await database.close()


@contextmanager
def start_server(programs: Path, parent: Path | None = None, *options: str) -> Generator[PostgresServer]:
    """Start a new server, with its folder in `parent` and further options of its command line."""
    folder = Path(tempfile.mkdtemp(prefix="outrider-pg-", dir=parent))
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    subprocess.run(
        [programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "outrider", "-E", "UTF8", "--locale=C", "-N"],
        check=True,
        **_build_popen_options(folder),
    )
    server = PostgresServer(programs, folder, (*FAST_OPTIONS, *options))
    try:
        server.start()
        yield server
    finally:
        server.stop(signal.SIGQUIT)  # its data is no longer needed
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def start_empty_database(programs: Path) -> Generator[str]:
    """Start a new server; yield the address of its empty database."""
    with start_server(programs) as server:
        yield server.default_address


def _build_popen_options(folder: Path) -> dict[str, Any]:
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        owner = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    return {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **owner}
