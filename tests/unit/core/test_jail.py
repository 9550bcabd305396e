"""Nothing outside the workspace can be read, written, created or listed, by any path or link."""

import os
import subprocess
import sys
import textwrap
import threading
from contextlib import suppress
from pathlib import Path
from shutil import rmtree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused
from outrider.core.jail import PROTECTED_PATHS, Jail

OUTSIDE_BYTES = b"the secret"


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    (tmp_path / "secret.txt").write_bytes(OUTSIDE_BYTES)
    made = Jail(tmp_path / "workspace")
    made.write("notes/a.txt", b"alpha")
    return made


def read_file(jail: Jail, path: str) -> bytes:
    with jail.open_descriptor(path) as descriptor:
        return os.read(descriptor, 1_000)


def test_a_file_is_read_written_and_listed_by_its_path(jail: Jail):
    jail.write("deep/er/b.txt", b"beta")
    assert read_file(jail, "notes/a.txt") == b"alpha"
    assert [entry.path for entry in jail.list()] == ["deep", "notes"]
    assert [entry.path for entry in jail.walk()] == ["deep", "deep/er", "deep/er/b.txt", "notes", "notes/a.txt"]
    assert jail.get_entry("deep/er/b.txt").size == 4


@pytest.mark.parametrize("path", ["../secret.txt", "notes/../../secret.txt", "/etc/passwd", "./../secret.txt", ".."])
def test_paths_outside_the_jail_are_refused(jail: Jail, path: str):
    with pytest.raises(Refused):
        read_file(jail, path)
    with pytest.raises(Refused):
        jail.write(path, b"x")
    with pytest.raises(Refused):
        jail.list(path)


@pytest.mark.parametrize("path", ["", "a\0b", "a\u202eb", "a\nb", "a\u200bb", "x" * 1_001])
def test_paths_with_invisible_characters_are_refused(jail: Jail, path: str):
    with pytest.raises(InvalidInput):
        jail.write(path, b"x")


@pytest.mark.parametrize("target", ["../secret.txt", "../../workspace/../secret.txt", "/etc/passwd", "link"])
def test_a_link_to_the_outside_is_not_followed(jail: Jail, target: str):
    (jail.root / "link").symlink_to(target)
    with pytest.raises(Refused):
        read_file(jail, "link")
    with pytest.raises(Refused):
        jail.write("link", b"mine")
    assert (jail.root.parent / "secret.txt").read_bytes() == OUTSIDE_BYTES


def test_a_folder_linked_to_the_outside_is_refused(jail: Jail):
    (jail.root / "out").symlink_to("..")
    for attempt in (
        lambda: read_file(jail, "out/secret.txt"),
        lambda: jail.write("out/x", b"x"),
        lambda: jail.list("out"),
    ):
        with pytest.raises(Refused):
            attempt()
    assert "out/secret.txt" not in [entry.path for entry in jail.walk()]


def test_links_inside_are_followed(jail: Jail):
    (jail.root / "notes/link").symlink_to("../notes/a.txt")
    (jail.root / "folder").symlink_to("notes")
    assert read_file(jail, "notes/link") == b"alpha"
    assert read_file(jail, "folder/a.txt") == b"alpha"
    jail.write("folder/b.txt", b"beta")
    assert (jail.root / "notes/b.txt").read_bytes() == b"beta"


def test_a_folder_with_outside_links_is_listed_with_the_links_themselves(jail: Jail):
    jail.write("other/b.txt", b"beta")
    (jail.root / "notes/x").symlink_to("../other/b.txt")
    assert [entry.name for entry in jail.list("notes")] == ["a.txt", "x"]
    (jail.root / "notes/x").unlink()
    (jail.root / "notes/x").symlink_to("/etc")
    assert [entry.name for entry in jail.list("notes")] == ["a.txt", "x"]


def test_a_link_to_a_file_outside_is_not_overwritten(jail: Jail):
    (jail.root / "link").symlink_to("../secret.txt")
    with pytest.raises(Refused):
        jail.write("link", b"x")
    assert (jail.root.parent / "secret.txt").read_bytes() == OUTSIDE_BYTES


def test_a_hard_link_to_a_file_outside_is_not_read_or_written_through(jail: Jail):
    os.link(jail.root.parent / "secret.txt", jail.root / "hard")
    with pytest.raises(Refused, match="hard link"):
        read_file(jail, "hard")
    jail.write("hard", b"mine")
    assert (jail.root.parent / "secret.txt").read_bytes() == OUTSIDE_BYTES


PROTECTED = """
.git .git/hooks/pre-commit sub/.GIT/config .git./config GIT~1/config .git::$INDEX/config .EnvRC ./.vscode/tasks.json
.github/Workflows/x.yml code/.github/workflows/x.yml hooks/pre-commit ci/x.yml up/.git/config
"""


def test_protected_files_are_neither_written_nor_deleted(jail: Jail):
    for made in (".git/hooks", ".github/workflows", "sub"):
        jail.make_directory(made)
    jail.write(".git/config", b"alpha")
    links = {"hooks": ".git/hooks", "ci": "sub/../.github/workflows", "up": "sub/..", "named": ".envrc"}
    for name, target in links.items():
        (jail.root / name).symlink_to(target)
    before = [entry.path for entry in jail.walk()]
    guarded = Jail(jail.root, PROTECTED_PATHS)
    for path in PROTECTED.split():
        for write in (guarded.write, guarded.add_file):
            with pytest.raises(Refused, match="protected"):
                write(path, b"x")
        for change in (guarded.make_directory, guarded.remove):
            with pytest.raises((Refused, NotFound)):
                change(path)
    with pytest.raises(Refused, match="protected"):
        guarded.write("named", b"x")
    assert [entry.path for entry in jail.walk()] == before
    assert read_file(guarded, ".git/config") == b"alpha"


def test_names_that_only_start_like_protected_ones_are_written(jail: Jail):
    guarded = Jail(jail.root, PROTECTED_PATHS)
    for path in (".gitignore", ".github/ISSUE_TEMPLATE.md", "workflows/a.yml", "git/config", ".env", "envrc"):
        guarded.write(path, b"x")
    guarded.remove(".gitignore")


def test_pipes_and_devices_are_not_files(jail: Jail):
    os.mkfifo(jail.root / "pipe")
    with pytest.raises(Refused, match="not a regular file"):
        read_file(jail, "pipe")
    with pytest.raises(Refused):
        jail.write("pipe", b"x")


def test_a_missing_file_or_a_folder_in_its_place_is_reported(jail: Jail):
    with pytest.raises(NotFound, match="does not exist"):
        read_file(jail, "nothing.txt")
    with pytest.raises(NotFound, match=r"'nothing.*' does not exist"):
        jail.list("nothing")
    with pytest.raises(InvalidInput, match="directory"):
        read_file(jail, "notes")
    with pytest.raises(InvalidInput):
        read_file(jail, "notes/a.txt/b")


def test_a_write_keeps_permissions_and_leaves_no_partial_file(jail: Jail):
    (jail.root / "run.sh").write_bytes(b"old")
    (jail.root / "run.sh").chmod(0o755)
    jail.write("run.sh", b"new")
    assert (jail.root / "run.sh").stat().st_mode & 0o777 == 0o755
    assert sorted(path.name for path in jail.root.iterdir()) == ["notes", "run.sh"]


def test_an_added_file_gets_a_free_name_and_replaces_nothing(jail: Jail, tmp_path: Path):
    (jail.root / "notes/a (1).txt").symlink_to("../../secret.txt")
    (tmp_path / "coming").write_bytes(b"large")
    assert jail.add_file("notes/a.txt", b"new") == "notes/a (2).txt"
    assert jail.add_file("new/b.txt", tmp_path / "coming") == "new/b.txt"
    (tmp_path / "coming").unlink()
    assert [read_file(jail, path) for path in ("notes/a.txt", "notes/a (2).txt", "new/b.txt")] == [
        b"alpha",
        b"new",
        b"large",
    ]
    with pytest.raises(InvalidInput, match="taken"):
        jail.add_file("notes/a.txt", b"x", iter([" (1)", " (2)"]))
    (jail.root / "out").symlink_to("..")
    with pytest.raises(Refused):
        jail.add_file("out/c.txt", b"x")
    assert not list(jail.root.rglob(".outrider-*"))
    assert (tmp_path / "secret.txt").read_bytes() == OUTSIDE_BYTES


def test_a_full_disk_is_reported_and_leaves_nothing_behind(tmp_path: Path):
    script = """
        import pathlib, resource, signal, sys
        from outrider.core.errors import Unavailable
        from outrider.core.jail import PROTECTED_PATHS, Jail
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            Jail(pathlib.Path(sys.argv[1])).add_file("a.png", bytes(5000))
        except Unavailable as error:
            print(error.message)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "full")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "a.png" in run.stdout
    assert list((tmp_path / "full").iterdir()) == []


def test_a_folder_constantly_swapped_with_a_link_leaks_nothing(jail: Jail):
    (jail.root / "notes/secret.txt").write_bytes(b"harmless")
    (jail.root / "decoy").symlink_to("..")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for old, new in (("notes", "aside"), ("decoy", "notes"), ("notes", "decoy"), ("aside", "notes")):
                (jail.root / old).rename(jail.root / new)

    thread = threading.Thread(target=exchange)
    thread.start()
    seen = set()
    try:
        for attempt in range(100_000):
            try:
                seen.add(read_file(jail, "notes/secret.txt"))
            except OutriderError as error:
                seen.add(error.code.encode())
            if attempt >= 1_000 and b"harmless" in seen:
                break
    finally:
        stop.set()
        thread.join()
    assert OUTSIDE_BYTES not in seen
    assert b"harmless" in seen


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.lists(st.sampled_from(["..", ".", "notes", "out", "a.txt", "", "/", "in", "\u2024\u2024"])).map("/".join)
)
def test_no_path_writes_outside_the_jail(jail: Jail, path: str):
    for name, target in (("out", ".."), ("in", "notes")):
        if not (jail.root / name).is_symlink():
            (jail.root / name).symlink_to(target)
    with suppress(OutriderError):
        jail.write(f"{path}/planted.txt", b"x")
    assert sorted(each.name for each in jail.root.parent.iterdir()) == ["home", "secret.txt", "workspace"]


def test_a_constantly_swapped_folder_lets_no_write_or_listing_out(jail: Jail):
    (jail.root / "decoy").symlink_to("..")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for old, new in (("notes", "aside"), ("decoy", "notes"), ("notes", "decoy"), ("aside", "notes")):
                try:
                    (jail.root / old).rename(jail.root / new)
                except OSError:  # a write has created the folder again while it was missing
                    rmtree(jail.root / new, ignore_errors=True)

    thread = threading.Thread(target=exchange)
    thread.start()
    listed: set[str] = set()
    try:
        for number in range(300):
            with suppress(OutriderError):
                jail.write(f"notes/planted-{number}.txt", b"x")
            with suppress(OutriderError):
                listed |= {entry.name for entry in jail.list("notes")}
            with suppress(OutriderError):
                listed |= {entry.name for entry in jail.walk()}
    finally:
        stop.set()
        thread.join()
    outside = {str(path.relative_to(jail.root.parent)) for path in jail.root.parent.rglob("*")}
    assert {path for path in outside if not path.startswith("workspace")} == {"home", "secret.txt"}
    assert "secret.txt" not in listed
