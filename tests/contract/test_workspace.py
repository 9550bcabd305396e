"""The contract of the file, search, import and export tools (toolset `workspace`)."""

import io
import json
import subprocess
import sys
import zipfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.types import EmbeddedResource, TextContent

from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused
from outrider.core.result import ImageBlock, LinkBlock, ResourceBlock
from outrider.settings import load
from support.apps import mcp_clients
from support.databases import sqlite

pytestmark = pytest.mark.anyio
MINE, OTHERS = Call(session="mine"), Call(session="others")
DOT = bytes.fromhex("89504e470d0a1a0a0000000d49484452") + bytes(20)


@asynccontextmanager
async def open_workspace_app(home: Path, **workspace: Any) -> Any:
    flags = {"toolsets": ["workspace"], "workspace": workspace}
    async with open_app(sqlite.prepare_database(load(flags, environ={}, home=home, workspace=home))) as app:
        yield app


@pytest.fixture
async def app(home: Path) -> Any:
    async with open_workspace_app(home) as made:
        yield made


async def call_for_text(app: App, tool: str, call: Call = MINE, **arguments: Any) -> str:
    return (await app.call(tool, call, **arguments)).text


def find_workspace_folder(home: Path) -> Path:
    """Return the only workspace on disk."""
    (place,) = (home / ".outrider/workspaces").iterdir()
    return place / "files"


async def test_a_file_is_written_appended_and_read_as_it_is(app: App):
    said = await call_for_text(app, "write_file", path="notes/a.txt", content="one\ntwo\n")
    assert said.startswith("Wrote 8 bytes to notes/a.txt (mode w, new file)")
    said = await call_for_text(app, "write_file", path="notes/a.txt", content="drei\n", mode="a")
    assert said.startswith("Appended 5 bytes to notes/a.txt (mode a)")
    assert "+drei" in said
    assert await call_for_text(app, "read_file", path="notes/a.txt") == "one\ntwo\ndrei\n"
    assert await call_for_text(app, "read_file", path="notes/a.txt", start_line=2, end_line=2) == "two\n"


async def test_lines_are_numbered_and_long_files_say_where_to_continue(app: App):
    await app.call("write_file", MINE, path="long.txt", content="".join(f"line {n}\n" for n in range(1, 101)))
    said = await call_for_text(app, "read_file", path="long.txt", numbered=True, max_chars=100)
    assert said.startswith(" 1\tline 1\n 2\tline 2\n")
    assert said.endswith("[… lines 1 to 13 of 100; continue with start_line=14]")
    rest = await app.call("read_file", MINE, path="long.txt", start_line=14, numbered=True)
    assert rest.text.startswith(" 14\tline 14\n")
    assert rest.text.endswith(f"[lines 14 to 100 of 100, sha256 {rest.meta['outrider/sha256'][:16]}]")


async def test_one_very_long_line_is_read_piece_by_piece(app: App):
    await app.call("write_file", MINE, path="one", content="ab" * 300)
    pieces, offset = "", 0
    while offset is not None:
        found = await app.call("read_file", MINE, path="one", max_chars=250, offset=offset)
        pieces += found.text.split("\n[…")[0]
        offset = found.meta.get("outrider/next_offset")
    assert pieces == "ab" * 300


async def test_an_empty_file_and_an_offset_past_the_end_are_reported(app: App):
    await app.call("write_file", MINE, path="empty", content="")
    await app.call("write_file", MINE, path="short", content="tea\n")
    assert await call_for_text(app, "read_file", path="empty") == "[the file is empty]"
    assert await call_for_text(app, "read_file", path="empty", numbered=True) == "[the file is empty]"
    with pytest.raises(InvalidInput, match=r"offset: 9 is past the end of the lines \(4 characters\)") as caught:
        await app.call("read_file", MINE, path="short", offset=9)
    assert caught.value.hint == "give one below 4"


async def test_a_line_that_is_too_long_names_a_tool_that_reads_it(app: App, home: Path):
    await app.call("write_file", MINE, path="x", content="")
    (find_workspace_folder(home) / "long").write_bytes(b"x" * 10_000_100 + b"\nlast\n")
    with pytest.raises(InvalidInput, match="has more than 10,000,000") as caught:
        await app.call("read_file", MINE, path="long", offset=10_000_000)
    assert "code tool" in caught.value.hint
    assert (
        await call_for_text(app, "read_file", path="long", start_line=2, numbered=True)
        == "2\tlast\n[lines 2 to 2 of 2]"
    )


async def test_pictures_are_returned_as_images_and_binary_files_refused(app: App, home: Path):
    await app.call("write_file", MINE, path="x", content="")
    (find_workspace_folder(home) / "dot.png").write_bytes(DOT)
    (find_workspace_folder(home) / "program").write_bytes(b"\x7fELF\0\0")
    found = await app.call("read_file", MINE, path="dot.png")
    assert found.content[1] == ImageBlock(DOT, "image/png")
    with pytest.raises(InvalidInput, match="is not a text file") as caught:
        await app.call("read_file", MINE, path="program")
    assert caught.value.code == "binary"


async def test_lines_are_replaced_by_their_old_numbers_with_a_diff_and_a_hash(app: App):
    await app.call("write_file", MINE, path="a.py", content="".join(f"{n}\n" for n in range(1, 10)))
    edits = [{"start_line": 3, "end_line": 5, "new_content": "drei\nvier"}, {"line_number": 9, "new_content": None}]
    found = await app.call("replace_lines_in_file", MINE, path="a.py", replacements=edits)
    assert await call_for_text(app, "read_file", path="a.py") == "1\n2\ndrei\nvier\n6\n7\n8\n"
    assert "-5" in found.text
    assert "+vier" in found.text
    digest = found.meta["outrider/sha256"]
    assert digest[:16] in found.text
    with pytest.raises(InvalidInput, match="has changed"):
        await app.call("replace_lines_in_file", MINE, path="a.py", replacements=edits[:1], expected_sha256="0" * 16)
    await app.call(
        "replace_text_in_file", MINE, path="a.py", old_text="drei", new_text="3", expected_sha256=digest[:16]
    )
    assert "3\nvier" in await call_for_text(app, "read_file", path="a.py")


@pytest.mark.parametrize(
    "edits",
    [
        [{"start_line": 1, "end_line": 2}, {"start_line": 2}],
        [{"start_line": 3}],
        [{"start_line": 2, "end_line": 1}],
        [{"start_line": 1, "expected_text": "other"}],
    ],
)
async def test_an_edit_that_does_not_fit_changes_nothing(app: App, edits: list[Any]):
    await app.call("write_file", MINE, path="a.py", content="a\nb\n")
    with pytest.raises(InvalidInput, match="replacements"):
        await app.call("replace_lines_in_file", MINE, path="a.py", replacements=edits)
    assert await call_for_text(app, "read_file", path="a.py") == "a\nb\n"


async def test_folders_are_listed_with_folders_first_and_filters(app: App):
    for path in ("b.txt", "a.py", ".env", "src/c.py"):
        await app.call("write_file", MINE, path=path, content="x")
    found = await app.call("list_directory", MINE)
    assert found.data["entries"] == [
        {"name": "src", "type": "directory", "size": None},
        {"name": "a.py", "type": "file", "size": 1},
        {"name": "b.txt", "type": "file", "size": 1},
    ]
    assert json.loads(found.text.split("\n", 1)[1]) == found.data["entries"]
    deep = await app.call("list_directory", MINE, recursive=True, pattern="*.py")
    assert [each["name"] for each in deep.data["entries"]] == ["src/c.py", "a.py"]
    assert ".env" in await call_for_text(app, "list_directory", show_hidden=True)


async def test_files_are_found_by_pattern_with_paths_inside(app: App):
    for path in ("a.py", "src/c.py", "src/deep/d.py"):
        await app.call("write_file", MINE, path=path, content="x")
    found = await app.call("search_files", MINE, pattern="*.py", path="src", max_depth=1)
    assert found.data["entries"] == [{"path": "src/c.py", "name": "c.py", "type": "file", "size": 1}]
    dirs = await app.call("search_files", MINE, pattern="d*", file_type="dir")
    assert [each["path"] for each in dirs.data["entries"]] == ["src/deep"]


async def test_long_lists_are_cut_and_say_so(app: App, home: Path):
    await app.call("write_file", MINE, path="x", content="")
    for number in range(900):
        (find_workspace_folder(home) / f"file-{number:04}.txt").touch()
    found = await app.call("list_directory", MINE)
    assert found.data["count"] == 901
    assert 100 < len(found.data["entries"]) < 400
    assert "narrow it" in found.data["note"]


async def test_lines_are_found_in_a_file_a_text_and_a_folder(app: App):
    await app.call("write_file", MINE, path="src/a.py", content="import os\nprint(os)\n")
    await app.call("write_file", MINE, path="b.txt", content="os\n")
    assert (await app.call("grep", MINE, pattern="OS", path="src/a.py", ignore_case=True)).data == {
        "count": 2, "matches": ["import os", "print(os)"], "more": False,
    }  # fmt: skip
    numbered = await app.call("grep", MINE, pattern="^two", input="one\ntwo\n", line_numbers=True)
    assert numbered.data["matches"] == [{"line": 2, "text": "two"}]
    tree = await app.call("grep", MINE, pattern=r"\bos\b", path=".", glob="*.py", context=1, max_matches=1)
    assert tree.data["matches"] == [{"path": "src/a.py", "line": 1, "text": "import os", "after": ["print(os)"]}]
    assert tree.data["more"] is True
    for wrong in ({}, {"path": ".", "input": "x"}):
        with pytest.raises(InvalidInput, match="exactly one"):
            await app.call("grep", MINE, pattern="x", **wrong)


async def test_a_file_in_an_old_encoding_is_searched_by_its_letters(app: App, home: Path):
    await app.call("write_file", MINE, path="x", content="")
    (find_workspace_folder(home) / "old.txt").write_bytes("Das Café in der Straße\nnichts\n".encode("latin-1"))
    assert (await app.call("grep", MINE, pattern="Café.*Straße$", path="old.txt")).data["count"] == 1


async def test_imports_come_from_allowed_folders_alone(home: Path, tmp_path: Path):
    source = tmp_path / "allowed/in.csv"
    source.parent.mkdir()
    source.write_text("a,b\n")
    async with open_workspace_app(home) as app:
        with pytest.raises(Refused, match=r"not inside an allowed folder"):
            await app.call("import_file", MINE, src_abs_path=str(source), dest_rel_path="in.csv")
    async with open_workspace_app(home, import_roots=[str(source.parent)]) as app:
        said = await call_for_text(app, "import_file", src_abs_path=str(source), dest_rel_path="data/in.csv")
        assert said.startswith("Imported 4 bytes to data/in.csv")
        assert await call_for_text(app, "read_file", path="data/in.csv") == "a,b\n"


async def test_a_workspace_s_own_settings_allow_no_import(home: Path):
    (home / "project/.outrider").mkdir(parents=True)
    (home / "project/.outrider/settings.json").write_text('{"workspace": {"import_roots": ["/"]}}')
    loaded = load({}, environ={}, home=home, workspace=home / "project")
    assert loaded.settings.workspace.import_roots == []
    assert any("import_roots" in warning for warning in loaded.warnings)


async def test_sessions_people_and_workspaces_see_only_their_own_files(app: App):
    await app.call("write_file", MINE, path="a.txt", content="mine")
    for stranger in (OTHERS, Call(session="mine", workspace="w"), Call(session="mine", identity="eve@example.org")):
        with pytest.raises(NotFound):
            await app.call("read_file", stranger, path="a.txt")
        assert (await app.call("list_directory", stranger)).data["entries"] == []


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "link/x", "hard", "a\u202eb", "pipe"])
async def test_no_path_escapes_through_any_tool(app: App, home: Path, path: str):
    import os

    await app.call("write_file", MINE, path="inner.txt", content="x")
    root = find_workspace_folder(home)
    (root.parent / "secret").write_text("secret")
    (root / "link").symlink_to("..")
    (root / "hard").hardlink_to(root.parent / "secret")
    os.mkfifo(root / "pipe")
    for tool, arguments in (
        ("read_file", {"path": path}),
        ("replace_text_in_file", {"path": path, "old_text": "secret", "new_text": "x"}),
        ("grep", {"path": path, "pattern": "."}),
        ("export_file", {"path": path}),
        ("export_zip", {"files": [path]}),
        ("import_file", {"src_abs_path": str(root.parent / "secret"), "dest_rel_path": "in"}),
    ):
        with pytest.raises(OutriderError) as caught:
            await app.call(tool, MINE, **arguments)
        assert str(root.parent) not in caught.value.message.replace(str(arguments.get("src_abs_path")), "")
    assert (root.parent / "secret").read_text() == "secret"


async def test_a_full_workspace_is_reported_and_no_file_is_half_written(home: Path):
    async with open_workspace_app(home, max_bytes=1_000) as app:
        await app.call("write_file", MINE, path="a.txt", content="x" * 900)
        with pytest.raises(Refused, match="of 1,000 bytes") as caught:
            await app.call("write_file", MINE, path="b.txt", content="x" * 200)
        assert caught.value.code == "quota"
        assert [each["name"] for each in (await app.call("list_directory", MINE)).data["entries"]] == ["a.txt"]


async def test_unused_workspaces_are_deleted(home: Path):
    async with open_workspace_app(home) as app:
        await app.call("write_file", MINE, path="a.txt", content="x")
        assert app.workspaces.purge_unused() == 0
        import os

        os.utime(find_workspace_folder(home).parent / "used", (0, 0))
        assert app.workspaces.purge_unused() == 1
        assert (await app.call("list_directory", MINE)).data["entries"] == []


async def test_an_exported_file_is_a_copy_a_card_and_a_link(app: App):
    await app.call("write_file", MINE, path="src/report.md", content="# Findings\n")
    found = await app.call("export_file", MINE, path="src/report.md", display_name="Q3: <all>", description="A & B")
    card, link = found.content[1], found.content[2]
    assert isinstance(card, ResourceBlock)
    assert isinstance(link, LinkBlock)
    assert card.uri.startswith("ui://export/file/")
    assert card.mime_type == "text/html"
    assert card.fields["title"] == link.name == "Q3_ _all_.md"
    facts = card.fields["annotations"]
    assert set(facts) == {"export_type", "file_count", "download_path", "created_at"}
    assert facts["download_path"].startswith("exports/files/report_20")
    assert "A &amp; B" in card.text
    kept, data = await app.artifacts.read(link.uri)
    assert (kept.mime_type, data) == ("text/markdown", b"# Findings\n")
    assert await call_for_text(app, "read_file", path=facts["download_path"]) == "# Findings\n"


async def test_an_export_may_be_converted(app: App):
    await app.call("write_file", MINE, path="t.csv", content="a,b\n1,2\n")
    found = await app.call("export_file", MINE, path="t.csv", format="json")
    _, data = await app.artifacts.read(found.meta["outrider/uri"])
    assert json.loads(data) == [{"a": "1", "b": "2"}]
    await app.call("write_file", MINE, path="p.html", content="<main><h1>Tea</h1><p>Green tea is mild.</p></main>")
    page = await app.call("export_file", MINE, path="p.html", format="md")
    assert b"Green tea is mild." in (await app.artifacts.read(page.meta["outrider/uri"]))[1]


async def test_a_zip_is_whole_or_an_error_that_names_what_is_missing(app: App):
    await app.call("write_file", MINE, path="a.txt", content="a" * 100_000)
    await app.call("write_file", MINE, path="sub/b.txt", content="b")
    notices: list[Any] = []

    async def progress(done: float, total: float | None, message: str, data: Any = None) -> None:
        notices.append((done, total, message, data))

    found = await app.call("export_zip", Call(session="mine", progress=progress), files=["a.txt", "sub"])
    _, data = await app.artifacts.read(found.meta["outrider/uri"])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.namelist() == ["a.txt", "sub/b.txt"]
    assert found.meta["outrider/path"].startswith("exports/packages/workspace_export_20")
    assert notices[-1][:2] == (2, 2)
    with pytest.raises(InvalidInput, match=r"no\.txt.*nor/this") as caught:
        await app.call("export_zip", MINE, files=["a.txt", "no.txt", "nor/this"], package_name="../../evil")
    assert caught.value.code == "incomplete"
    packages = await app.call("list_directory", MINE, path="exports/packages")
    assert packages.data["count"] == 1


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_unprintable_file_names_do_not_end_the_connection(home: Path, era: str):
    import os

    async with (
        open_workspace_app(home) as app,
        mcp_clients.connect_client(app.build_server("workspace"), era) as client,
    ):
        await client.call_tool("write_file", {"path": "x/inner.txt", "content": "needle\n"})
        root = os.fsencode(find_workspace_folder(home))
        os.mkdir(root + b"/odd\xfe")  # noqa: PTH102 - of bytes
        for name in (b"/odd\xfe/in.txt", b"/a\xff.txt", "/evil\u202egnp.exe".encode()):
            Path(os.fsdecode(root + name)).write_text("needle\n")
        listed = await client.call_tool("list_directory", {"recursive": True})
        found = await client.call_tool("search_files", {"pattern": "*"})
        lines = await client.call_tool("grep", {"path": ".", "pattern": "needle"})
        stands = await client.read_resource("context://workspace")
    names = {"x", "x/inner.txt", "odd\\udcfe", "a\\udcff.txt", "evil\\u202egnp.exe"}
    assert {each["name"] for each in listed.structured_content["entries"]} == names
    assert {each["path"] for each in found.structured_content["entries"]} == names
    assert {each["path"] for each in lines.structured_content["matches"]} == {"x/inner.txt"}
    assert "inner.txt" in stands.contents[0].text


@pytest.mark.parametrize("era", mcp_clients.PROTOCOL_VERSIONS)
async def test_results_have_the_shapes_of_the_contract(home: Path, era: str):
    async with (
        open_workspace_app(home) as app,
        mcp_clients.connect_client(app.build_server("workspace"), era) as client,
    ):
        await client.call_tool("write_file", {"path": "a.txt", "content": "x\n"})
        read = await client.call_tool("read_file", {"path": "a.txt"})
        assert isinstance(read.content[0], TextContent)
        assert (read.content[0].text, read.structured_content) == ("x\n", None)
        found = await client.call_tool("export_zip", {"files": ["a.txt"]})
        card = found.content[1]
        assert isinstance(card, EmbeddedResource)
        assert str(card.resource.uri).startswith("ui://export/zip/")
        wrong = await client.call_tool("read_file", {"path": "../x"})
        assert wrong.is_error


@pytest.mark.nightly
async def test_many_concurrent_sessions_stay_separate_and_lose_nothing(app: App):
    async def work(number: int) -> None:
        mine = Call(session=f"s{number % 8}")
        await app.call("write_file", mine, path="log.txt", content=f"{number}\n", mode="a")
        found = await app.call("grep", mine, pattern=f"^{number}$", path=".")
        assert found.data["count"] == 1

    async with anyio.create_task_group() as tasks:
        for number in range(48):
            tasks.start_soon(work, number)
    for session in range(8):
        lines = (await call_for_text(app, "read_file", Call(session=f"s{session}"), path="log.txt")).split()
        assert sorted(map(int, lines)) == list(range(session, 48, 8))


FULL = """
import resource, sys
from pathlib import Path
from outrider.core.errors import Unavailable
from outrider.workspace.files import WorkspaceFiles
files = WorkspaceFiles(Path(sys.argv[1]) / "w")
files.write("kept.txt", "kept")
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
try:
    files.write("kept.txt", "x" * 5_000)
except Unavailable as error:
    print(error.code, files.read("kept.txt").text, [entry.name for entry in files.list(hidden=True)])
"""


def test_a_full_disk_is_a_clear_error_and_the_old_file_stays(tmp_path: Path):
    ran = subprocess.run([sys.executable, "-c", FULL, tmp_path], capture_output=True, text=True, check=False)
    assert ran.stdout == "storage kept ['kept.txt']\n", ran.stderr
