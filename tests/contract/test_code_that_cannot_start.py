"""If code cannot be started, the answer gives the reason and a remedy, and is not a bug (contracts 1.1)."""

from pathlib import Path

import pytest

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.settings import load
from outrider.workspace.sandbox.seccomp import is_supported
from support.databases import sqlite

pytestmark = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")


async def test_a_private_home_runs_code_or_names_the_user_who_cannot_enter(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    flags = {"toolsets": ["workspace"], "tools": {"stakes": {"*": "never_ask"}}}
    async with open_app(sqlite.prepare_database(load(flags, environ={}, home=tmp_path, workspace=tmp_path))) as app:
        try:
            ran = await app.call("execute_shell", Call(session="mine"), command="echo $((6 * 7))")
        except NotConfigured as error:  # for root without namespaces, whose code runs as another user
            told, remedy = error.code, error.hint
        else:
            told, remedy = "", "none is needed"
            assert ran.data["stdout"] == "42\n"
        assert told in ("", "private_folder", "no_isolation")
        assert remedy
        assert told == await read_doctor_findings(app, tmp_path)


async def read_doctor_findings(app: App, home: Path) -> str:
    """Reads the findings of `outrider doctor` about code before any has run."""
    try:
        await app.processes.sandbox.require_backend()
        await app.processes.sandbox.check_folder(home / ".outrider" / "workspaces")
    except NotConfigured as error:
        return error.code
    return ""
