"""What the core's tests share: a database in a file, and generous patience for a busy machine."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from outrider.core.db import Database

settings.register_profile("core", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("core")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    """A real SQLite file of this test's own."""
    opened = Database.file(tmp_path / "data" / "outrider.db")
    yield opened
    await opened.close()
