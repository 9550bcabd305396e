"""An archive has every named file, and unpacks inside its folder on every system."""

import io
import ntpath
import os
import re
import tempfile
import unicodedata
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput
from outrider.core.jail import Jail
from outrider.workspace.archive import ArchiveMember, collect_members, deduplicate_names, sanitize_path, write_archive

PART = st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), min_size=1, max_size=12) | (
    st.sampled_from(["..", ".", "CON", "nul.txt", "a\\b", "C:x", "...", " ", "a.", "A.", "é", "e\u0301", "\\\\host\\x"])
)
PATH = st.lists(PART, min_size=1, max_size=4).map("/".join)


@pytest.fixture
def jail(tmp_path: Path) -> Jail:
    made = Jail(tmp_path / "workspace")
    for path in ("a.txt", "sub/b.txt", "sub/deep/c.txt", ".env", "exports/files/old.txt"):
        made.write(path, path.encode())
    return made


def pack_files(jail: Jail, wanted: list[ArchiveMember]) -> zipfile.ZipFile:
    target = io.BytesIO()
    write_archive(jail, wanted, target, lambda *_: None)
    return zipfile.ZipFile(target)


def is_reserved(part: str) -> bool:
    """Return whether Windows reserves the name."""
    find = getattr(ntpath, "isreserved", None)  # from Python 3.13 on, where the method of paths is deprecated
    return find(part) if find else PureWindowsPath(part).is_reserved()


def fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


@given(st.lists(PATH, max_size=20))
def test_names_are_unique_and_safe_on_every_system(paths: list[str]):
    names = deduplicate_names(map(sanitize_path, paths))
    assert len(names) == len(paths)
    assert len({fold_name(name) for name in names}) == len(names)
    for name in names:
        for kind in (PurePosixPath, PureWindowsPath):
            pure = kind(name)
            assert not pure.is_absolute()
            assert not pure.drive
            assert ".." not in pure.parts
            assert len(pure.parts) == len(name.split("/"))
        assert not any(is_reserved(part) for part in name.split("/"))
        assert not re.search(r'[\\:*?"<>|\0-\x1f]|[. ](/|$)', name)
        assert all(len(part.encode()) <= 255 for part in name.split("/"))


@given(st.dictionaries(st.text("aAé.\\: -", min_size=1, max_size=6), st.binary(max_size=300), min_size=1, max_size=8))
def test_packed_files_have_the_original_content(files: dict[str, bytes]):
    with tempfile.TemporaryDirectory() as folder:
        jail = Jail(Path(folder))
        kept = {name: data for name, data in files.items() if name not in (".", "..")}
        for name, data in kept.items():
            jail.write(name, data)
        if not kept:
            return
        with pack_files(jail, wanted := collect_members(jail, ["."])) as archive:
            assert archive.testzip() is None
            assert {each.path: archive.read(each.name) for each in wanted} == kept
            archive.extractall(Path(folder) / "out")
        unpacked = {str(path.relative_to(Path(folder) / "out")) for path in (Path(folder) / "out").rglob("*")}
        assert unpacked == {each.name for each in wanted}


def test_folders_include_everything_below_them_except_earlier_exports(jail: Jail):
    names = [each.name for each in collect_members(jail, ["sub", "a.txt", "sub/b.txt"])]
    assert sorted(names) == ["a.txt", "sub/b.txt", "sub/deep/c.txt"]
    assert sorted(each.name for each in collect_members(jail, ["."])) == [
        ".env",
        "a.txt",
        "sub/b.txt",
        "sub/deep/c.txt",
    ]
    assert [each.name for each in collect_members(jail, ["exports"])] == ["exports/files/old.txt"]


def test_everything_missing_or_unreadable_is_named(jail: Jail):
    (jail.root / "sub/out").symlink_to("/etc/passwd")
    (jail.root / "hard.txt").hardlink_to(jail.root / "a.txt")
    with pytest.raises(InvalidInput) as caught:
        collect_members(jail, ["nothing.txt", "sub", "../x", "hard.txt"])
    for name in ("nothing.txt", "sub/out", "../x", "hard.txt"):
        assert name in caught.value.message
    assert caught.value.code == "incomplete"


def test_links_inside_are_packed_as_their_targets(jail: Jail):
    (jail.root / "sub/link").symlink_to("../a.txt")
    with pack_files(jail, collect_members(jail, ["sub"])) as archive:
        assert archive.read("sub/link") == b"a.txt"


def test_an_empty_folder_cannot_be_packed(jail: Jail):
    jail.make_directory("empty")
    with pytest.raises(InvalidInput, match="0 files"):
        collect_members(jail, ["empty"])


def test_deeply_nested_files_are_packed_and_unnameable_paths_are_errors(jail: Jail):
    deep = "/".join(["x"] * 120)
    jail.write(f"deep/{deep}/f.txt", b"deep")
    assert [each.path for each in collect_members(jail, ["deep"])] == [f"deep/{deep}/f.txt"]
    odd = os.path.join(os.fsencode(jail.root), b"deep", b"odd\xfe")  # noqa: PTH118 - of bytes
    os.mkdir(odd)  # noqa: PTH102
    with pytest.raises(InvalidInput, match=r"deep/odd\\udcfe' contains invisible"):
        collect_members(jail, ["deep"])
