"""Both engines find the same lines, no pattern hangs, and searches stay in the workspace."""

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput, Refused
from outrider.core.jail import Jail
from outrider.workspace.search.grep import GrepLine, GrepQuery, GrepResult, find_ripgrep, grep_text, grep_tree
from outrider.workspace.search.pattern import compile_pattern

pytestmark = pytest.mark.anyio
needs_ripgrep = pytest.mark.skipif(find_ripgrep() is None, reason="needs ripgrep: apt-get install ripgrep")
ENGINES = list(dict.fromkeys([find_ripgrep(), None]))  # only Python if ripgrep is missing
TEXT_FILES = {
    "a.txt": b"foo\r\nbar foo\r\n\r\nlast",
    "sub/b.py": "déjà vu\nFOO(1)\n\tfoo\x1c\n²½ ſ K\n".encode(),
    "sub/deep/c.md": "日本 foo 語\n[a] {b} $5 ^x\n".encode(),
    "utf16.txt": "foo\nzwei\n".encode("utf-16"),
    "binary": b"foo\nfoo\0foo\n",
    ".hidden/d.txt": b"foo\n",
    "log": b"10%\r50%\rfoo\nfoo\r\r\n",
}


@pytest.fixture(scope="module")
def jail(tmp_path_factory: pytest.TempPathFactory) -> Jail:
    made = Jail(tmp_path_factory.mktemp("grep"))
    for path, data in TEXT_FILES.items():
        made.write(path, data)
    return made


def list_places(found: GrepResult) -> list[tuple[str, int]]:
    return [(line.path, line.number) for line in found.lines]


@pytest.fixture(params=ENGINES, ids=["ripgrep" if rg else "python" for rg in ENGINES])
def rg(request: pytest.FixtureRequest) -> str | None:
    return request.param


async def test_lines_are_found_by_path_and_number_below_a_folder(jail: Jail, rg: str | None):
    found = await grep_tree(jail, ".", GrepQuery("foo", ripgrep_path=rg))
    assert list_places(found) == [
        ("a.txt", 1), ("a.txt", 2), ("log", 1), ("log", 2), ("sub/b.py", 3), ("sub/deep/c.md", 1), ("utf16.txt", 1),
    ]  # fmt: skip
    assert found.lines[1] == GrepLine("a.txt", 2, "bar foo", 4)
    assert not found.has_more


async def test_folder_glob_hidden_names_and_context_are_respected(jail: Jail, rg: str | None):
    assert list_places(await grep_tree(jail, "sub", GrepQuery("foo", ripgrep_path=rg))) == [
        ("sub/b.py", 3),
        ("sub/deep/c.md", 1),
    ]
    for glob in ("*.{py,md}", "sub/**/*", "!*.txt"):
        wanted = await grep_tree(jail, ".", GrepQuery("(?i)foo", glob=glob, ripgrep_path=rg))
        assert {path for path, _ in list_places(wanted)} - {"log"} == {"sub/b.py", "sub/deep/c.md"}
    assert (".hidden/d.txt", 1) in list_places(
        await grep_tree(jail, ".", GrepQuery("foo", hidden=True, ripgrep_path=rg))
    )
    assert list_places(await grep_tree(jail, ".", GrepQuery("foo", glob=".hidden/*", ripgrep_path=rg))) == [
        (".hidden/d.txt", 1)
    ]
    around = (await grep_tree(jail, ".", GrepQuery("^bar", context=1, ripgrep_path=rg))).lines[0]
    assert (around.before, around.after) == (("foo",), ("",))


async def test_only_the_first_matches_are_returned_and_more_are_indicated(jail: Jail, rg: str | None):
    found = await grep_tree(jail, ".", GrepQuery("foo", max_lines=3, ripgrep_path=rg))
    assert (list_places(found), found.has_more) == ([("a.txt", 1), ("a.txt", 2), ("log", 1)], True)


async def test_the_first_of_very_many_matches_are_returned_in_order(tmp_path: Path, rg: str | None):
    jail = Jail(tmp_path / "many")
    for number in range(70):
        jail.write(f"d{number % 7}/{number:03}.txt", b"foo\n" * 200)
    found = await grep_tree(jail, ".", GrepQuery("foo", max_lines=150, ripgrep_path=rg))
    assert list_places(found) == [("d0/000.txt", number) for number in range(1, 151)]
    assert found.has_more


@needs_ripgrep
@pytest.mark.parametrize(
    "pattern",
    ["foo$", "^$", "f.o", "[^a-f]o", r"\w+ \w", r"\bvu\b", r"[\s\S]u", r"\s$", "[[a]f?", "o{2}", r"(o)\1", "é", "k",
     r"x|^.{0,2}$", r"\d", r"\(1\)", "(?<=r )foo", r"[\]{}]", r"\$\d", "foo.", "%.*f", r"[^\n]$", r"foo\r?$", r"\x66o",
     r"(?P<a>f)(?:o)+?", "{b}", r"\W\w", r"[\W]", r"[^\S]", r"[a\-z]", "语|語", "(?i)déJÀ"],
)  # fmt: skip
@pytest.mark.parametrize("ignore_case", [False, True])
async def test_both_engines_find_the_same(jail: Jail, pattern: str, ignore_case: bool):
    ours, other = [
        await grep_tree(jail, ".", GrepQuery(pattern, ignore_case, hidden=True, ripgrep_path=engine))
        for engine in ENGINES
    ]
    assert ours == other


PIECES = st.sampled_from(
    ["a", "b", "é", ".", "^", "$", r"\w", r"\W", r"\s", r"\S", r"\d", "[ab]", "[^ab]", r"[\w-]", r"[^\s]", "a*", "b+?",
     "(?:ab)?", "(a|b)", r"\.", " ", "-", "A", "x{1,2}", "|", r"\x61", r"[\x09-\x20]", r"[^\W]"]
)  # fmt: skip
LETTERS = st.text("abABé日.- \t\rx", max_size=12)


@needs_ripgrep
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=5).map("".join), st.lists(LETTERS, min_size=1, max_size=40), st.booleans())
async def test_both_engines_find_the_same_in_any_text(pattern: str, lines: list[str], ignore_case: bool):
    text = "\n".join(lines)
    ours, other = [await grep_text(text, GrepQuery(pattern, ignore_case, ripgrep_path=engine)) for engine in ENGINES]
    assert ours == other


@pytest.mark.parametrize("pattern", ["foo", r"\w+\s", "[a-z]+", "a|b", "^x.*y$", r"(?P<n>\d{2,})", r"[^\]]"])
def test_common_patterns_are_left_to_ripgrep(pattern: str):
    assert compile_pattern(pattern).rust is not None


@pytest.mark.parametrize("pattern", ["(?=a)", r"(a)\1", "(?<!a)b", "a\r", "(?s).", r"\N{BULLET}"])
def test_patterns_that_rust_lacks_are_left_to_python(pattern: str):
    assert compile_pattern(pattern).rust is None


async def test_a_wrong_pattern_or_glob_is_reported(jail: Jail):
    for pattern in ("(", "*a", "[z-a]", "a{2,1}"):
        with pytest.raises(InvalidInput, match="pattern"):
            await grep_text("a", GrepQuery(pattern))


async def test_an_endless_pattern_is_stopped_at_the_time_limit():
    with pytest.raises(InvalidInput, match=r"timed out after 0\.5 s") as caught:
        await grep_text("a" * 40 + "b", GrepQuery("(a|a)*$(?<=c)", timeout_s=0.5))
    assert caught.value.code == "timeout"


async def test_text_with_unusual_characters_is_searched(rg: str | None):
    found = await grep_text("\ufeffone\0\nt\ud800wo\r\n\u2028three", GrepQuery("[nto]", context=1, ripgrep_path=rg))
    assert [line.number for line in found.lines] == [1, 2, 3]
    assert found.lines[1].text == "t\ud800wo"


async def test_links_to_the_outside_are_not_followed_even_if_swapped_during_the_search(tmp_path: Path, rg: str | None):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.txt").write_text("secret\n")
    jail = Jail(tmp_path / "workspace")
    jail.write("inner/x.txt", b"harmless\n")
    (jail.root / "decoy").symlink_to("../outside")
    with pytest.raises(Refused):
        await grep_tree(jail, "decoy", GrepQuery("secret", ripgrep_path=rg))
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for old, new in (("inner", "aside"), ("decoy", "inner"), ("inner", "decoy"), ("aside", "inner")):
                (jail.root / old).rename(jail.root / new)

    thread = threading.Thread(target=exchange)
    thread.start()
    seen: set[str] = set()
    try:
        for _ in range(15):
            seen |= {
                line.text for line in (await grep_tree(jail, ".", GrepQuery("secret|harmless", ripgrep_path=rg))).lines
            }
    finally:
        stop.set()
        thread.join()
    assert "secret" not in seen


@needs_ripgrep
async def test_a_line_of_many_megabytes_is_searched_and_a_longer_one_is_refused(tmp_path: Path):
    jail, search = Jail(tmp_path), GrepQuery("needle", ripgrep_path=find_ripgrep())
    (tmp_path / "long").write_bytes(b"x" * 60_000_000 + b"needle\n")
    (found,) = (await grep_tree(jail, ".", search)).lines
    assert (found.number, found.column) == (1, 60_000_000)
    (tmp_path / "long").write_bytes(b"x" * 120_000_000 + b"needle\n")
    with pytest.raises(InvalidInput, match="longer than 50,000,000 bytes"):
        await grep_tree(jail, ".", search)


@needs_ripgrep
async def test_a_pattern_that_is_too_large_for_ripgrep_is_left_to_python():
    found = await grep_text("aaa\n", GrepQuery("(?:a{1000}){60000}|aaa$", ripgrep_path=find_ripgrep()))
    assert [line.text for line in found.lines] == ["aaa"]
