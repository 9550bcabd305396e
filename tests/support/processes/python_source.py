"""`python -W error -c SOURCE` with the database's imports already done."""

import sys
import warnings

from support.processes import prefork

PRELOADED_MODULES = (
    "aiosqlite",
    "outrider.core.artifacts",
    "outrider.core.database.database",
    "outrider.core.rate_limiter",
    "outrider.core.semaphores",
    "psycopg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.ext.asyncio",
)


def build_command(source: str, *arguments: object) -> list[str]:
    """Build a command that runs Python source in a forked process."""
    return prefork.build_command("support.processes.python_source", source, *map(str, arguments))


def run(arguments: list[str]) -> None:
    """Run source as a program, with warnings as errors."""
    warnings.simplefilter("error")
    source, *rest = arguments
    sys.argv = ["-c", *rest]
    exec(source, {"__name__": "__main__"})
