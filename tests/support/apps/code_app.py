"""Open an app with the code tools, in a home folder that sandboxed code can enter."""

import tempfile
import zipfile
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.result import Result
from outrider.settings import load
from support.databases import sqlite
from support.timeouts import EVENT_TIMEOUT_S


@contextmanager
def make_home() -> Generator[Path]:
    """Create a home folder that every user, and so sandboxed code, can enter."""
    with tempfile.TemporaryDirectory(prefix="outrider-home-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@asynccontextmanager
async def open_code_app(home: Path, **settings: Any) -> AsyncGenerator[App]:
    """Open the app; skip the test without a sandbox."""
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}} | settings
    async with open_app(sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))) as app:
        if (await app.processes.sandbox.detect_isolation()).backend is None:
            pytest.skip("needs a sandbox: apt-get install bubblewrap, or a kernel with Landlock")
        yield app


async def run_python(app: App, code: str, session: str = "mine", **more: Any) -> Result:
    return await app.call("execute_python", Call(session=session), **more | {"code": code})


async def run_shell(app: App, command: str, session: str = "mine", **more: Any) -> Result:
    return await app.call("execute_shell", Call(session=session), **more | {"command": command})


async def cancel_once_begun(app: App, run: Callable[[App, str], Coroutine[Any, Any, Any]], code: str) -> None:
    """Cancels a call as soon as its code has written the file `begun` into the workspace."""
    begun = app.workspaces.ensure_workspace(Call(session="mine")).directory / "begun"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, app, code)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not begun.exists():
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


async def skip_without_pip(app: App, home: Path) -> None:
    python = await app.processes.sandbox.resolve_python(home)
    has_pip = await anyio.run_process([str(python.executable), "-m", "pip", "--version"], check=False)
    if has_pip.returncode:
        pytest.skip(f"needs pip for {python.executable}: apt-get install python3-pip")


def build_wheel(folder: Path, name: str) -> None:
    """Build a package with one value."""
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "VALUE = 42\n")
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
