"""Every test runs in a home of its own, without the keys and settings of whoever runs it."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.databases import postgres, sqlite

# Properties are about results, never about speed: a busy machine must not fail them.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE", "SSL_CERT_DIR")


def pytest_collection_finish() -> None:
    """What has been collected stays until the end: looking for garbage among it would cost each test its time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, which is also the working directory."""
    for name in set(os.environ) - set(KEPT_VARIABLES) - {name for name in os.environ if name.startswith("PYTEST")}:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tables(home: Path) -> Path:
    """The home's database, which has its tables already: to make them costs a process half a second."""
    return sqlite.create_migrated_file(home / ".outrider" / "outrider.db")


@pytest.fixture(scope="session")
def server() -> Generator[postgres.PostgresServer]:
    """One Postgres for all tests of this process: each takes databases of its own, and who stops it starts it again."""
    programs = postgres.find_programs()
    if programs is None:
        pytest.skip("Postgres is not installed here")
    with postgres.start_server(programs) as made:
        yield made
