"""Open an app, or three replicas of it that are called in turns."""

import itertools
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

from outrider.app import App, open_app
from outrider.settings import load
from support.databases import sqlite

REPLICA_COUNT_FILE = "replicas"  # a file in the home's `.outrider` with their number


class RoundRobinApp:
    """Sends each call to the next replica."""

    def __init__(self, apps: Sequence[App]) -> None:
        self.apps, self._next = apps, itertools.cycle(apps)

    async def call(self, *arguments: Any, **named: Any) -> Any:
        return await next(self._next).call(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.apps[0], name)


@asynccontextmanager
async def open_replicated_app(home: Path, settings: dict[str, Any]) -> AsyncGenerator[App]:
    """Open the app of that home directory, or its replicas, each with its own folder."""
    folder = home / ".outrider"
    count = int((folder / REPLICA_COUNT_FILE).read_text()) if (folder / REPLICA_COUNT_FILE).exists() else 0
    folders: list[dict[str, Any]] = [{"data_dir": str(folder / str(number))} for number in range(count)] or [{}]
    async with AsyncExitStack() as stack:
        apps = []
        for own in folders:
            loaded = load(settings | own, environ={}, home=home, workspace=home)
            apps.append(await stack.enter_async_context(open_app(sqlite.prepare_database(loaded))))
        yield cast("App", RoundRobinApp(apps)) if len(apps) > 1 else apps[0]
