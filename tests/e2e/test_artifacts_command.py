"""`outrider artifacts` gives the user the files that tools have handed out."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from outrider.app import open_app
from outrider.core.context import Call
from outrider.settings import load
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("tables")]


def run_outrider(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = outrider_command.build_command("artifacts", *arguments)
    environ = os.environ | {"HOME": str(home)}
    return subprocess.run(
        command, cwd=home, env=environ, capture_output=True, text=True, timeout=PROCESS_TIMEOUT_S, check=False
    )


async def test_an_export_is_listed_and_saved_without_overwriting_files(home: Path):
    assert "no files have been handed out yet" in run_outrider(home).stdout
    async with open_app(load({"toolsets": ["workspace"]}, environ={}, home=home, workspace=home)) as app:
        await app.call("write_file", Call(), path="report.md", content="# Tea\n")
        made = await app.call("export_file", Call(), path="report.md", format="html", display_name="Tea")
    uri = made.meta["outrider/uri"]
    assert f"{uri}  Tea.html" in run_outrider(home).stdout
    listed = json.loads(run_outrider(home, "--json").stdout)
    assert [(each["name"], each["mime_type"], each["uri"]) for each in listed] == [("Tea.html", "text/html", uri)]
    assert run_outrider(home, uri).stdout == "Tea.html\n"
    assert "<h1>Tea</h1>" in (home / "Tea.html").read_text()
    again = run_outrider(home, uri)
    assert again.returncode == 2
    assert "the file Tea.html already exists" in again.stderr
    assert run_outrider(home, uri, "-o", "other.html").returncode == 0
    assert run_outrider(home, "outrider://artifacts/nope").returncode == 2
