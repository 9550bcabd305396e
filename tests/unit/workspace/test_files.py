"""Workspace files keep encoding and line ends, edits are exact, and concurrent calls lose nothing."""

import contextlib
import hashlib
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.workspace.edit import Replacement
from outrider.workspace.files import WorkspaceFiles


@pytest.fixture
def files(tmp_path: Path) -> WorkspaceFiles:
    return WorkspaceFiles(tmp_path / "workspace", max_bytes=10_000)


def put_file(files: WorkspaceFiles, path: str, data: bytes) -> None:
    files.jail.write(path, data)


def read_raw(files: WorkspaceFiles, path: str) -> bytes:
    return files.read_bytes(path)


def test_lines_are_read_by_number_with_the_whole_file_s_digest(files: WorkspaceFiles):
    put_file(files, "a.txt", b"one\ntwo\nthree\n")
    part = files.read("a.txt", 2, 9)
    assert (part.text, part.start, part.end, part.lines) == ("two\nthree\n", 2, 3, 3)
    assert part.sha256 == hashlib.sha256(b"one\ntwo\nthree\n").hexdigest()


@pytest.mark.parametrize(("start", "end"), [(3, 2), (4, None), (9, 12)])
def test_lines_that_do_not_exist_are_refused(files: WorkspaceFiles, start: int, end: int | None):
    put_file(files, "a.txt", b"one\ntwo\nthree\n")
    with pytest.raises(InvalidInput, match="start_line"):
        files.read("a.txt", start, end)


def test_an_empty_file_is_read_as_such(files: WorkspaceFiles):
    put_file(files, "empty", b"")
    assert (files.read("empty").text, files.read("empty").lines) == ("", 0)


@pytest.mark.parametrize(
    ("data", "added"),
    [
        ("grün\r\n".encode("utf-16"), "grün\r\nblau\r\n".encode("utf-16")),
        (b"\xef\xbb\xbfa\r\n", b"\xef\xbb\xbfa\r\nblau\r\n"),
        (b"a\rb\r", b"a\rb\rblau\r"),
        (b"\xfe\xff" + "grün\n".encode("utf-16-be"), b"\xfe\xff" + "grün\nblau\n".encode("utf-16-be")),
        (b"caf\xc3\xa9 \xff\xfe\n", b"caf\xc3\xa9 \xff\xfe\nblau\n"),
        ("caf\xe9 d\xe9j\xe0 vu\n".encode("latin-1"), "caf\xe9 d\xe9j\xe0 vu\nblau\n".encode("latin-1")),
    ],
)
def test_appending_keeps_encoding_and_line_ends(files: WorkspaceFiles, data: bytes, added: bytes):
    put_file(files, "a.txt", data)
    files.write("a.txt", "blau\n", append=True)
    assert read_raw(files, "a.txt") == added


def test_an_edit_keeps_every_byte_that_it_does_not_touch(files: WorkspaceFiles):
    put_file(files, "a.txt", b"eins\ncaf\xc3\xa9\nodd \xff byte\nend\n")
    change = files.replace_lines("a.txt", [Replacement(1, 1, "one")])
    files.replace_text("a.txt", "end", "Ende")
    assert read_raw(files, "a.txt") == b"one\ncaf\xc3\xa9\nodd \xff byte\nEnde\n"
    assert " odd \ufffd byte" in change.difference
    assert files.read("a.txt", 3, 3).text == "odd \ufffd byte\n"


def test_an_edit_that_would_lose_bytes_is_refused(files: WorkspaceFiles):
    torn = b"\xff\xfe" + "eins\nzwei\n".encode("utf-16-le") + b"\x00\xd8x"
    put_file(files, "a.txt", torn)
    for edit in (
        lambda: files.replace_lines("a.txt", [Replacement(1, 1, "one")]),
        lambda: files.replace_text("a.txt", "zwei", "two"),
        lambda: files.write("a.txt", "drei", append=True),
    ):
        with pytest.raises(InvalidInput, match="would lose them") as caught:
            edit()
        assert caught.value.code == "encoding"
    assert read_raw(files, "a.txt") == torn


@given(st.binary(max_size=80).filter(lambda data: b"\0" not in data))
def test_lines_next_to_an_edit_keep_their_bytes_or_nothing_is_written(data: bytes):
    with tempfile.TemporaryDirectory() as folder:
        files = WorkspaceFiles(Path(folder) / "w")
        put_file(files, "a", b"x\n" + data)
        with contextlib.suppress(InvalidInput):
            files.replace_lines("a", [Replacement(1, 1, "y")])
            assert read_raw(files, "a") == b"y\n" + data
            return
        assert read_raw(files, "a") == b"x\n" + data


def test_text_is_found_across_mixed_line_ends(files: WorkspaceFiles):
    put_file(files, "a.txt", b"a\r\nb\nc\r\n")
    files.replace_text("a.txt", "b\nc", "d\ne")
    assert read_raw(files, "a.txt") == b"a\r\nd\ne\r\n"


def test_a_large_file_s_encoding_is_detected_wherever_the_probe_ends(files: WorkspaceFiles):
    files.jail.root.mkdir()
    (files.jail.root / "big").write_bytes(b"x" + "ü".encode() * 6_000)
    assert files.read("big").text == "x" + "ü" * 6_000
    (files.jail.root / "marked").write_bytes(b"\xfe\xff" + ("ü" * 6_000).encode("utf-16-be"))
    assert files.read("marked").text == "ü" * 6_000


def test_a_read_only_file_is_not_changed(files: WorkspaceFiles):
    files.write("a.txt", "kept\n")
    (files.jail.root / "a.txt").chmod(0o444)
    with pytest.raises(Refused, match="read-only"):
        files.write("a.txt", "new\n")
    assert read_raw(files, "a.txt") == b"kept\n"


@pytest.mark.parametrize("path", ["folder/", ".outrider-notes", "a/.outrider-notes"])
def test_reserved_names_are_refused(files: WorkspaceFiles, path: str):
    with pytest.raises(InvalidInput, match="path"):
        files.write(path, "x")


def test_appending_characters_that_an_old_encoding_lacks_converts_the_file(files: WorkspaceFiles):
    put_file(files, "a.txt", "d\xe9j\xe0 vu, caf\xe9\n".encode("latin-1"))
    files.write("a.txt", "日本\n", append=True)
    assert read_raw(files, "a.txt").decode() == "d\xe9j\xe0 vu, caf\xe9\n日本\n"


def test_a_binary_file_is_refused_for_reading_and_may_be_overwritten(files: WorkspaceFiles):
    put_file(files, "a.bin", b"\x7fELF\0\0\0")
    with pytest.raises(InvalidInput, match="is not a text file") as caught:
        files.read("a.bin")
    assert caught.value.code == "binary"
    assert files.write("a.bin", "text").size == 4


def test_a_write_returns_the_difference(files: WorkspaceFiles):
    first = files.write("new/a.txt", "one\ntwo\n")
    second = files.write("new/a.txt", "one\n2\n")
    assert (first.created, first.difference) == (True, "")
    assert "-two\n+2" in second.difference


def test_edits_by_line_number_and_by_text_change_nothing_else(files: WorkspaceFiles):
    put_file(files, "a.py", b"def a():\r\n    return 1\r\n")
    files.replace_lines("a.py", [Replacement(2, 2, "    return 2")])
    change = files.replace_text("a.py", "def a():\n    return 2", "def b():\n    return 3")
    assert read_raw(files, "a.py") == b"def b():\r\n    return 3\r\n"
    assert change.sha256 == hashlib.sha256(read_raw(files, "a.py")).hexdigest()


def test_a_missing_or_ambiguous_text_is_refused(files: WorkspaceFiles):
    put_file(files, "a.py", b"value = compute(1)\nother = 1\nother = 1\n")
    with pytest.raises(InvalidInput, match=r"closest line is 'value = compute\(1\)'"):
        files.replace_text("a.py", "value = compute( 1 )", "x")
    with pytest.raises(InvalidInput, match="occurs 2 times"):
        files.replace_text("a.py", "other = 1", "x")


def test_a_file_changed_since_it_was_read_is_not_edited(files: WorkspaceFiles):
    seen = files.write("a.txt", "one\n").sha256
    files.write("a.txt", "two\n")
    for edit in (
        lambda: files.write("a.txt", "three\n", expected=seen),
        lambda: files.replace_lines("a.txt", [Replacement(1, 1, "x")], expected=seen),
        lambda: files.replace_text("a.txt", "two", "x", expected=seen),
    ):
        with pytest.raises(InvalidInput, match="has changed"):
            edit()
    assert read_raw(files, "a.txt") == b"two\n"


def test_large_files_are_refused_for_reading_and_writing(files: WorkspaceFiles):
    (files.jail.root).mkdir()
    (files.jail.root / "big").write_bytes(b"x" * 10_001)
    with pytest.raises(InvalidInput, match="10,001 bytes"):
        files.read_bytes("big")
    files.write("a.txt", "x" * 9_000)
    with pytest.raises(InvalidInput, match="content"):
        files.write("a.txt", "x" * 2_000, append=True)
    assert len(read_raw(files, "a.txt")) == 9_000


def test_the_requested_lines_of_an_oversized_file_are_read(files: WorkspaceFiles):
    files.jail.root.mkdir()
    (files.jail.root / "big").write_bytes(b"x" * 12_000 + b"\n" + b"".join(b"%d\n" % n for n in range(2, 5_000)))
    part = files.read("big", 2, 4)
    assert (part.text, part.start, part.end, part.lines, part.sha256) == ("2\n3\n4\n", 2, 4, None, "")
    assert len(files.read("big").text) == 10_000
    with pytest.raises(InvalidInput, match="past the end of the file \\(4999 lines\\)"):
        files.read("big", 6_000)
    assert (files.read("big", 4_990).end, files.read("big", 4_990).lines) == (4_999, 4_999)


def test_lists_filter_by_pattern_depth_and_hidden_names(files: WorkspaceFiles):
    for path in ("a.py", "b.txt", ".env", "src/c.py", "src/deep/d.py"):
        put_file(files, path, b"")
    assert [entry.path for entry in files.list()] == ["src", "a.py", "b.txt"]
    assert [entry.path for entry in files.list(hidden=True)] == ["src", ".env", "a.py", "b.txt"]
    assert [entry.path for entry in files.list(pattern="*.py", depth=9)] == ["src/deep/d.py", "src/c.py", "a.py"]
    assert [entry.path for entry in files.list("src")] == ["src/deep", "src/c.py"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", {"a.py", "src/c.py", "src/deep/d.py"}),
        ("src/*.py", {"src/c.py"}),
        ("src/**/*.py", {"src/c.py", "src/deep/d.py"}),
        ("*.{py,txt}", {"a.py", "b.txt", "src/c.py", "src/deep/d.py"}),
        ("nothing*", set()),
    ],
)
def test_searches_find_by_name_or_by_path(files: WorkspaceFiles, pattern: str, found: set[str]):
    for path in ("a.py", "b.txt", "src/c.py", "src/deep/d.py"):
        put_file(files, path, b"")
    assert {entry.path for entry in files.search(pattern, kind="file")} == found


def test_imports_come_only_from_allowed_folders(files: WorkspaceFiles, tmp_path: Path):
    allowed, other = tmp_path / "allowed", tmp_path / "other"
    for folder in (allowed, other):
        folder.mkdir()
        (folder / "x.txt").write_text("data")
    (allowed / "link").symlink_to(other / "x.txt")
    assert files.import_file(str(allowed / "x.txt"), "in.txt", [allowed]).size == 4
    for source in (other / "x.txt", allowed / "../other/x.txt", allowed / "link", Path("x.txt")):
        with pytest.raises(Refused):
            files.import_file(str(source), "out.txt", [allowed])
    with pytest.raises(NotFound, match="src_abs_path: 'missing' does not exist"):
        files.import_file(str(allowed / "missing"), "out.txt", [allowed])
    with pytest.raises(Refused, match=r"dest_rel_path: .*leads out"):
        files.import_file(str(allowed / "x.txt"), "../x", [allowed])
    (allowed / "large").write_bytes(b"x" * 30_000)
    change = files.import_file(str(allowed / "large"), "in.txt", [allowed])
    assert (change.size, change.created, change.sha256) == (30_000, False, hashlib.sha256(b"x" * 30_000).hexdigest())


def test_appends_at_the_same_time_lose_nothing(files: WorkspaceFiles):
    threads = [threading.Thread(target=files.write, args=("log", f"{n}\n"), kwargs={"append": True}) for n in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, files.read("log").text.split())) == list(range(30))
