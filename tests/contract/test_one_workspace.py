"""A file name from any tool means the same file to every other tool of the session."""

import os
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from outrider.app import open_app
from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.settings import load
from outrider.workspace.sandbox.seccomp import is_supported
from support.apps import loopback_app
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.website import PIXEL_PNG
from support.results import read_error, read_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
]
PROJECT_OWNER = 4_242  # if we are root, because root must not own any of it
TIDES_HTML = """<!doctype html><title>Tides</title><h1>Tides</h1><p>High water is at noon.</p>
<a id=report href=/report.csv download>Report</a>
<input type=file multiple onchange="out.textContent = [...this.files].map(f => f.name + ' ' + f.size).join(', ')">
<output id=out></output>"""
CSV = b"day,metres\nMonday,3.1\n"
TIDES_SITE = loopback_app.build_page_site(
    {
        "/": TIDES_HTML,
        "/fox.png": (200, {"content-type": "image/png"}, PIXEL_PNG),
        "/report.csv": (200, {"content-type": "text/csv", "content-disposition": "attachment"}, CSV),
    }
)


@pytest.fixture
def shared_home() -> Generator[Path]:
    """A home with a project that every user can enter: as root, code runs as `nobody`."""
    with tempfile.TemporaryDirectory(prefix="outrider-home-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        project = Path(folder) / "project"
        project.mkdir()
        if os.geteuid() == 0:
            os.chown(project, PROJECT_OWNER, PROJECT_OWNER)
        yield Path(folder)


class WorkspaceClient:
    """A client of an app, the folder of its files, and a site."""

    def __init__(self, client: Client, folder: Path, site_url: str) -> None:
        self.client, self.folder, self.site_url = client, folder, site_url

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Calls a tool that must not fail."""
        result = await self.client.call_tool(tool, arguments)
        assert not result.is_error, (tool, arguments, read_text(result))
        return result


class Person:
    """Answers questions, and remembers them."""

    def __init__(self, *, agrees: bool) -> None:
        self.agrees = agrees
        self.questions: list[str] = []

    async def answer(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.questions.append(params.message)
        return ElicitResult(action="accept", content={"allow": True}) if self.agrees else ElicitResult(action="decline")


@asynccontextmanager
async def open_workspace(
    shared_home: Path, person: Person | None = None, /, **workspace: Any
) -> AsyncGenerator[WorkspaceClient]:
    """Open an app whose tools ask the person when necessary; without a person they never ask."""
    async with http_servers.serve_app(TIDES_SITE) as site_url:
        flags = loopback_app.build_loopback_settings("http://127.0.0.1:1", site_url, ()) | {
            "workspace": workspace,
            "tools": {"stakes": {} if person else {"*": "never_ask"}},
        }
        loaded = load(flags, environ={}, home=shared_home, workspace=shared_home / "project")
        async with (
            open_app(sqlite.prepare_database(loaded)) as app,
            Client(app.build_server(), elicitation_callback=person.answer if person else None) as client,
        ):
            yield WorkspaceClient(client, app.workspaces.ensure_workspace(Call()).directory, site_url)


async def make_files(at: WorkspaceClient) -> tuple[str, list[str]]:
    """Let each tool that can create a file create one; return a browser session and the file names."""
    picture = await at.call("web_fetch", url=f"{at.site_url}/fox.png", filename="fox.png")
    opened = await at.call("createSession", url=at.site_url)
    session = opened.structured_content["sessionId"]
    source = await at.call("extractPageContent", sessionId=session, saveRawHtml=True)
    printed = await at.call("takeScreenshot", sessionId=session, mode="pdf")
    await at.call("clickElement", sessionId=session, selector="#report")
    downloads = ""
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        while "done" not in downloads:
            downloads = read_text(await at.call("readLogs", sessionId=session, kind="downloads"))
    await at.call("write_file", path="up.txt", content="hello")
    ran = await at.call("execute_python", code="open('made.txt', 'w').write('by code')")
    exported = await at.call("export_file", path="up.txt", format="html")
    return session, [
        read_text(picture).splitlines()[0].removeprefix("Saved image to: "),
        source.structured_content["raw_html_path"],
        read_text(printed).removeprefix("Saved ").partition(",")[0],
        downloads.partition("bytes, ")[2].partition(",")[0],
        "up.txt",
        ran.structured_content["files_changed"][0]["path"],
        read_text(exported).partition(") to ")[2].partition(". The user")[0],
    ]


@pytest.mark.parametrize("directory", ["", "."])
@pytest.mark.nightly
async def test_a_file_named_by_any_tool_is_available_to_all_others(shared_home: Path, directory: str):
    async with open_workspace(shared_home, directory=directory) as at:
        session, names = await make_files(at)
        assert names[0] == "images/fox.png"
        assert names[2:6] == ["downloads/Tides.pdf", "downloads/report.csv", "up.txt", "made.txt"]
        assert (
            at.folder == shared_home / "project" if directory else at.folder.is_relative_to(shared_home / ".outrider")
        )
        for name in names:
            size = (at.folder / name).stat().st_size
            found = await at.call("search_files", pattern=Path(name).name)
            ran = await at.call("execute_shell", command=f"wc -c < '{name}'")
            uploaded = await at.call("uploadFiles", sessionId=session, selector="input", paths=[name])
            exported = await at.call("export_file", path=name)
            stored = await at.call("addContent", file_url=name)
            assert name in [entry["path"] for entry in found.structured_content["entries"]]
            assert ran.structured_content["stdout"].strip() == str(size)
            # An outline marks text that looks like a reference, and a random name may contain one.
            assert f"{Path(name).name} {size}" in read_text(uploaded).replace("\\", "")
            assert f"{size:,} bytes" in read_text(exported)
            assert stored.structured_content
            if not name.endswith(".pdf"):
                await at.call("read_file", path=name)
        zipped = await at.call("export_zip", files=names)
        await at.call("closeSession", sessionId=session)
    assert f"{len(names)} files" in read_text(zipped)


async def test_reading_tools_ask_before_they_save_a_file_in_a_project(shared_home: Path):
    person = Person(agrees=True)
    async with open_workspace(shared_home, person, directory=".") as at:
        offered = {tool.name: tool.annotations for tool in (await at.client.list_tools()).tools}
        shown = await at.call("web_fetch", url=f"{at.site_url}/fox.png")
        assert not any((shared_home / "project").iterdir())
        assert person.questions == []
        await at.call("web_fetch", url=f"{at.site_url}/fox.png", mode="image")
        await at.call("navigateToUrl", url=at.site_url)
        await at.call("extractPageContent", saveRawHtml=True)
        await at.call("takeScreenshot", mode="pdf")
    assert [block.type for block in shown.content] == ["text", "image"]
    assert "Not saved" in read_text(shown)
    assert all(offered[name].read_only_hint for name in ("web_fetch", "extractPageContent", "takeScreenshot"))
    assert len(person.questions) == 3
    assert "images/" in person.questions[0]
    saved = {file.parent.name for file in (shared_home / "project").rglob("*.*") if file.is_file()}
    assert saved == {"images", "extracted-content", "downloads"}


async def test_a_declined_write_leaves_the_project_unchanged(shared_home: Path):
    person = Person(agrees=False)
    async with open_workspace(shared_home, person, directory=".") as at:
        refused = await at.client.call_tool("web_fetch", {"url": f"{at.site_url}/fox.png", "output_dir": "pictures"})
    assert "did not allow" in read_error(refused)["message"]
    assert len(person.questions) == 1
    assert not any((shared_home / "project").iterdir())


async def test_code_may_change_project_files_and_their_owner_stays_the_same(shared_home: Path):
    owner = (shared_home / "project").stat().st_uid
    async with open_workspace(shared_home, directory=".") as at:
        await at.call("write_file", path="mine.txt", content="old")
        ran = await at.call("execute_shell", command="cat mine.txt; echo new > mine.txt; mkdir sub; echo a > sub/a")
    assert ran.structured_content["stdout"] == "old"
    assert (shared_home / "project" / "mine.txt").read_text() == "new\n"
    for name in ("", "mine.txt", "sub", "sub/a"):
        assert (shared_home / "project" / name).stat().st_uid == owner


async def test_no_path_or_link_escapes_a_project(shared_home: Path):
    (shared_home / "secret.txt").write_text("the secret")
    (shared_home / "project" / "link.txt").symlink_to("../secret.txt")
    (shared_home / "project" / "images").symlink_to("..")
    async with open_workspace(shared_home, directory=".") as at:
        opened = await at.call("createSession", url=at.site_url)
        session = opened.structured_content["sessionId"]
        refused: list[tuple[str, dict[str, Any]]] = [
            ("read_file", {"path": "link.txt"}),
            ("read_file", {"path": "../secret.txt"}),
            ("write_file", {"path": "link.txt", "content": "x"}),
            ("export_file", {"path": "link.txt"}),
            ("addContent", {"file_url": "link.txt"}),
            ("uploadFiles", {"sessionId": session, "selector": "input", "paths": ["link.txt"]}),
            ("uploadFiles", {"sessionId": session, "selector": "input", "paths": [str(shared_home / "secret.txt")]}),
            ("web_fetch", {"url": f"{at.site_url}/fox.png"}),
        ]
        for tool, arguments in refused:
            error = read_error(await at.client.call_tool(tool, arguments))
            assert error["code"] == "outside", (tool, arguments, error)
        await at.call("closeSession", sessionId=session)
    assert (shared_home / "secret.txt").read_text() == "the secret"
    assert not list(shared_home.glob("*.png"))


async def test_protected_paths_are_written_only_in_session_folders_or_if_the_settings_allow_it(
    shared_home: Path,
):
    hook = {"path": ".git/hooks/pre-commit", "content": "#!/bin/sh"}
    (shared_home / "project" / "downloads").symlink_to(".git/hooks")
    (shared_home / "project" / ".git" / "hooks").mkdir(parents=True)
    async with open_workspace(shared_home, directory=".") as at:
        error = read_error(await at.client.call_tool("write_file", hook))
        opened = await at.call("createSession", url=at.site_url)
        printing = {"sessionId": opened.structured_content["sessionId"], "mode": "pdf"}
        saved = await at.client.call_tool("takeScreenshot", printing)
        await at.call("closeSession", sessionId=opened.structured_content["sessionId"])
    assert (error["code"], "workspace.protected" in error["hint"]) == ("protected", True)
    assert read_error(saved)["code"] == "protected"
    assert not list((shared_home / "project" / ".git" / "hooks").iterdir())
    for settings in ({"directory": ""}, {"directory": ".", "protected": [".hg"]}):
        async with open_workspace(shared_home, **settings) as at:
            await at.call("write_file", **hook)


async def test_downloads_obey_the_protected_paths_of_the_settings(shared_home: Path):
    (shared_home / "project" / "downloads").symlink_to("shared")
    (shared_home / "project" / "shared").mkdir()
    for protected, state in ([".hg"], "done"), (["shared"], "failed"):
        async with open_workspace(shared_home, directory=".", protected=protected) as at:
            await at.call("createSession", url=at.site_url)
            await at.call("clickElement", selector="#report")
            downloads = "coming"
            with anyio.fail_after(SCENARIO_TIMEOUT_S):
                while "coming" in downloads:
                    downloads = read_text(await at.call("readLogs", kind="downloads"))
            await at.call("closeSession")
        assert state in downloads, (protected, downloads)
    assert len(list((shared_home / "project" / "shared").iterdir())) == 1


async def test_two_sessions_share_a_project_and_nothing_else(shared_home: Path):
    for directory, is_shared in (("", False), (".", True)):
        async with open_workspace(shared_home, directory=directory) as at:
            await at.client.call_tool("write_file", {"path": "a.txt", "content": "x"}, meta={"session_id": "one"})
            read = await at.client.call_tool("read_file", {"path": "a.txt"}, meta={"session_id": "two"})
            assert read.is_error is not is_shared


@pytest.mark.parametrize(
    ("directory", "more", "problem"),
    [
        ("missing", {}, "is not a folder"),
        ("..", {}, "keys and data of Outrider are in it"),
        ("/", {}, "keys and data of Outrider are in it"),
        (".", {"identity": {"tokens": True}}, "people sign in here"),
    ],
)
async def test_a_folder_that_may_not_be_shared_is_refused_at_the_start(
    shared_home: Path, directory: str, more: dict[str, Any], problem: str
):
    flags = {"workspace": {"directory": directory}, "data_dir": str(shared_home / ".outrider")} | more
    loaded = load(flags, environ={}, home=shared_home, workspace=shared_home / "project")
    with pytest.raises(NotConfigured, match=rf"workspace\.directory: .*{problem}"):
        async with open_app(sqlite.prepare_database(loaded)):
            pass
