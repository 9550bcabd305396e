"""The `outrider` command with its imports already done, for tests that are not about how it starts."""

import sys
import warnings
from pathlib import Path

from outrider.__main__ import main
from support.processes import prefork

PRELOADED_MODULES = (
    "outrider.cli.*",
    "outrider.app.*",
    "outrider.agents.*",
    "outrider.pages.*",
    "outrider.toolsets.*",
    "outrider.serve.*",
    "outrider.dashboard.*",
    "aiosqlite",
    "alembic.command",
    "psycopg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
)


def build_command(*arguments: str | Path) -> list[str]:
    """Build a command that does what `outrider ARGUMENTS` does, in a forked process."""
    return prefork.build_command("support.processes.outrider_command", *arguments)


def run(arguments: list[str]) -> None:
    """Run the command line, with warnings as errors."""
    warnings.simplefilter("error")
    sys.argv = ["outrider", *arguments]
    main()
