"""A root that a host offers becomes its session's workspace, if the settings say so."""

import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp.types import ElicitResult, ListRootsResult, Root
from pydantic import FileUrl

from outrider.app import open_app
from outrider.app.http_app import build_served_app
from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.settings import load
from support.apps.mcp_clients import HANDSHAKE_VERSION, NEWEST_VERSION, OLDEST_VERSION, connect_client
from support.databases import sqlite
from support.results import read_error, read_text

pytestmark = pytest.mark.anyio
ERAS = pytest.mark.parametrize("era", [NEWEST_VERSION, HANDSHAKE_VERSION, OLDEST_VERSION])


class Host:
    """A host with folders that a person has opened in it."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders
        self.times_asked = 0

    async def list_roots(self, _: Any) -> ListRootsResult:
        self.times_asked += 1
        return ListRootsResult(roots=[Root(uri=FileUrl(folder.as_uri())) for folder in self.folders])


@asynccontextmanager
async def open_host(
    home: Path, era: str, host: Host | None, directory: str = "roots", **settings: Any
) -> AsyncGenerator[tuple[Any, Client]]:
    """Open an app with that setting and a client, which offers the host's roots if there is a host."""
    flags: dict[str, Any] = {"toolsets": ["workspace", "planning"], "workspace": {"directory": directory}} | settings
    loaded = load(flags, environ={}, home=home, workspace=home)
    options: dict[str, Any] = {"list_roots_callback": host.list_roots} if host else {}
    async with (
        open_app(sqlite.prepare_database(loaded)) as app,
        connect_client(app.build_server(), era, **options) as client,
    ):
        yield app, client


async def write_note(client: Client, text: str = "x") -> None:
    written = await client.call_tool("write_file", {"path": "note.txt", "content": text})
    assert not written.is_error, read_text(written)


async def change_roots(client: Client) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        await client.session.send_roots_list_changed()  # ty: ignore[deprecated]


def make_folder(*parts: Path | str) -> Path:
    folder = Path(*parts)
    folder.mkdir(parents=True)
    return folder


@ERAS
async def test_the_first_usable_root_is_the_workspace_and_the_host_is_asked_once(home: Path, tmp_path: Path, era: str):
    project, other = make_folder(tmp_path, "my project"), make_folder(tmp_path, "other")
    host = Host(tmp_path / "missing", home, project, other)  # the home directory holds our own data
    async with open_host(home, era, host) as (app, client):
        await write_note(client)
        await write_note(client, "y")
        (project / "link.txt").symlink_to(other)
        escapes = [read_error(await client.call_tool("read_file", {"path": path})) for path in ("link.txt", "../other")]
        assert [error["code"] for error in escapes] == ["outside", "outside"]
        assert app.workspaces.find_workspace(Call()).is_project
    assert (project / "note.txt").read_text() == "y"
    assert host.times_asked == 1
    async with open_host(home, era, None) as (app, _):  # an agent that continues in the next process
        assert app.workspaces.find_workspace(Call()).directory == project


@ERAS
async def test_without_a_root_or_the_setting_the_session_keeps_its_own_folder(home: Path, tmp_path: Path, era: str):
    project = make_folder(tmp_path, "project")
    hosts = (None, "roots"), (Host(), "roots"), (Host(home), "roots"), (Host(project), "")
    for host, directory in hosts:
        async with open_host(home, era, host, directory) as (app, client):
            await write_note(client)
            workspace = app.workspaces.find_workspace(Call())
            assert (workspace.directory / "note.txt").is_relative_to(app.workspaces.folder)
            assert not workspace.is_project
    assert not list(project.iterdir())


@pytest.mark.parametrize("era", [HANDSHAKE_VERSION, OLDEST_VERSION])
async def test_opening_another_folder_moves_the_workspace_there(home: Path, tmp_path: Path, era: str):
    first, second = make_folder(tmp_path, "first"), make_folder(tmp_path, "second")
    host = Host(first)
    async with open_host(home, era, host) as (_, client):
        await write_note(client)
        host.folders = (second,)
        await change_roots(client)
        await write_note(client)
        host.folders = ()
        await change_roots(client)
        read = await client.call_tool("read_file", {"path": "note.txt"})
    assert read_error(read)["code"] == "not_found"
    assert [(folder / "note.txt").exists() for folder in (first, second)] == [True, True]


@ERAS
async def test_each_session_has_the_root_that_its_host_offered(home: Path, tmp_path: Path, era: str):
    first, second = make_folder(tmp_path, "first"), make_folder(tmp_path, "second")
    host = Host(first)
    async with open_host(home, era, host) as (_, client):
        for session, folder in (("one", first), ("two", second)):
            host.folders = (folder,)
            await client.call_tool("write_file", {"path": session, "content": "x"}, meta={"session_id": session})
    assert [path.name for folder in (first, second) for path in folder.iterdir()] == ["one", "two"]


async def test_consent_is_asked_for_after_the_roots(home: Path, tmp_path: Path):
    project = make_folder(tmp_path, "project")
    forms: list[str] = []

    async def allow(_: Any, params: Any) -> Any:
        forms.append(params.message)
        return ElicitResult(action="accept", content={"allow": True})

    host, stakes = Host(project), {"stakes": {"write_file": "high"}}
    loaded = {"toolsets": ["workspace"], "workspace": {"directory": "roots"}, "tools": stakes}
    async with open_app(sqlite.prepare_database(load(loaded, environ={}, home=home, workspace=home))) as app:
        options: Any = {"list_roots_callback": host.list_roots, "elicitation_callback": allow}
        async with connect_client(app.build_server(), NEWEST_VERSION, **options) as client:
            await write_note(client)
    assert (project / "note.txt").exists()
    assert len(forms) == host.times_asked == 1


async def test_a_server_refuses_folders_from_its_clients(home: Path):
    for settings, problem in (({}, "folders of the client's machine"), ({"identity": {"tokens": True}}, "people sign")):
        flags = {"workspace": {"directory": "roots"}, "data_dir": str(home / ".outrider")} | settings
        with pytest.raises(NotConfigured, match=problem):
            async with open_app(sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))) as app:
                build_served_app(app)
