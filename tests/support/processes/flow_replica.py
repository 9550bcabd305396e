"""A replica that runs due flows, forked by `fork_server.ForkServer`."""

import json
from pathlib import Path

import anyio

from outrider.app import open_app
from outrider.settings import load


async def run_due_flows(values: str) -> None:
    home = Path.cwd()
    async with open_app(load(json.loads(values), environ={}, home=home, workspace=home)) as app:
        print("open", flush=True)
        await app.run_schedules(opens_database=True)


def run(arguments: list[str]) -> None:
    """Run it with SETTINGS as JSON."""
    anyio.run(run_due_flows, *arguments)
