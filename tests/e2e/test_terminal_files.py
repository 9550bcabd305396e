"""Files between the browser and the directory in which a person works."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from support.apps import loopback_app, shared_process
from support.apps.terminal import Terminal
from support.fakes import http_servers
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
UPLOAD_HTML = """<!doctype html><title>../Harbour: report</title>
<input type=file onchange="files[0].text().then((text) => say.textContent = text)">
<a href="/visitors.csv" download>Visitors</a><button>Nothing</button><p id=say>
<input type=button value=Later onclick="setTimeout(() => document.querySelector('a').click(), 1500)">"""
CSV = (200, {"content-type": "text/csv"}, b"month,visitors\nMay,4120\n")


@pytest.fixture(scope="module")
async def terminal(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Terminal]:
    async with AsyncExitStack() as stack:
        user = stack.enter_context(shared_process.start_host_user(tmp_path_factory.mktemp("home")))
        pages = loopback_app.build_page_site({"/page": UPLOAD_HTML, "/visitors.csv": CSV})
        yield Terminal(user, await stack.enter_async_context(http_servers.serve_app(pages)))


@pytest.fixture
async def folder(terminal: Terminal) -> Path:
    await terminal.read("browser", "open", f"{terminal.site_url}/page")
    return terminal.user.home / "project"


async def test_documents_and_downloads_are_saved_in_the_current_directory(terminal: Terminal, folder: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        printed = await terminal.read("browser", "pdf")
        await terminal.read("browser", "pdf", "--output", "report.pdf")
        downloads = [await terminal.read("browser", "download", "text=Visitors") for _ in range(2)]
        named = await terminal.read("browser", "download", "text=Visitors", "--output", "may.csv")
        none = await terminal.run("browser", "download", "button")
    paths = [folder / text.splitlines()[-1] for text in (printed, *downloads)]
    assert [path.parent for path in paths] == [folder / ".outrider" / "output"] * 3
    assert all((folder / path).read_bytes().startswith(b"%PDF") for path in (paths[0], "report.pdf"))
    assert {path.read_bytes() for path in (*paths[1:], folder / "may.csv")} == {CSV[2]}
    assert paths[1] != paths[2]
    assert named.splitlines()[-1] == "may.csv"
    assert (none.returncode, b"no download has ended" in none.stderr) == (1, True)


async def test_a_download_that_begins_after_the_click_is_waited_for(terminal: Terminal, folder: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        await terminal.read("browser", "download", "button=Later", "--output", "later.csv")
    assert (folder / "later.csv").read_bytes() == CSV[2]


async def test_only_files_of_the_directory_are_uploaded(terminal: Terminal, folder: Path):
    (folder / "notes.txt").write_text("first")
    (terminal.user.home / "private.txt").write_text("private")
    (folder / "link.txt").unlink(missing_ok=True)
    (folder / "link.txt").symlink_to(terminal.user.home / "private.txt")
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        await terminal.read("browser", "upload", "input", "notes.txt")
        first = await terminal.read("browser", "wait", "first")
        (folder / "notes.txt").write_text("second")
        await terminal.read("browser", "run", "-", text="upload input ./notes.txt\nwait second\n")
        for path in ("../private.txt", str(terminal.user.home / "private.txt"), "link.txt", "missing.txt"):
            refused = await terminal.run("browser", "upload", "input", path)
            assert (refused.returncode, b"paths:" in refused.stderr) in {(2, True), (5, True)}, refused.stderr
        shown = await terminal.read("browser", "read")
    assert "first" in first
    assert "private" not in shown


async def test_invalid_steps_are_named_with_their_line(terminal: Terminal):
    cases = {
        'snapshot\nfill e1 "no end\n': "line 2: No closing quotation",
        "fil e1 x\n": "no step 'fil'; did you mean fill",
    }
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        for text, reason in cases.items():
            ended = await terminal.run("browser", "run", "-", text=text)
            assert (ended.returncode, reason in ended.stderr.decode()) == (2, True), ended.stderr


async def test_scripts_run_in_the_open_page_where_they_are_allowed(terminal: Terminal, folder: Path):
    allowed = 'tools.stakes={"inject_javascript": "never_ask"}'
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        refused = await terminal.run("browser", "eval", "document.title")
        shown = await terminal.read("browser", "eval", "document.title", "--set", allowed)
    assert refused.returncode == 5
    assert folder.is_dir()
    assert "Harbour: report" in shown
