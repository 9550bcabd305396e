"""An app with the code tools, in a home that sandboxed code can enter."""

import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.result import Result
from outrider.settings import load
from support.databases import sqlite


@contextmanager
def make_home() -> Generator[Path]:
    """A home that every user can enter: code runs as another user where we are root."""
    with tempfile.TemporaryDirectory(prefix="outrider-home-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@asynccontextmanager
async def open_code_app(home: Path, **settings: Any) -> AsyncGenerator[App]:
    """The app. Skips the test where there is no sandbox."""
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}} | settings
    async with open_app(sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))) as app:
        if (await app.processes.sandbox.detect_isolation()).backend is None:
            pytest.skip("this machine has no sandbox")
        yield app


async def run_python(app: App, code: str, session: str = "mine", **more: Any) -> Result:
    return await app.call("execute_python", Call(session=session), **more | {"code": code})


async def run_shell(app: App, command: str, session: str = "mine", **more: Any) -> Result:
    return await app.call("execute_shell", Call(session=session), **more | {"command": command})
