"""Line numbers of an edit are those before it, and only the named lines change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput
from outrider.workspace.edit import Replacement, apply_replacements, build_diff, split_lines

FIVE_LINES = "one\ntwo\nthree\nfour\nfive\n"


def test_several_replacements_use_the_original_line_numbers():
    found = apply_replacements(FIVE_LINES, [Replacement(4, 4, "4a\n4b"), Replacement(1, 2, "first"), Replacement(5, 5)])
    assert found == "first\nthree\n4a\n4b\n"


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [(0, 1, "lines 0 to 1"), (6, 6, "in a file of 5"), (3, 2, "lines 3 to 2"), (2, 9, "lines 2 to 9")],
)
def test_lines_that_do_not_exist_are_refused(start: int, end: int, message: str):
    with pytest.raises(InvalidInput, match=message):
        apply_replacements(FIVE_LINES, [Replacement(start, end, "x")])


def test_overlaps_are_refused():
    with pytest.raises(InvalidInput, match="line 2 is replaced twice"):
        apply_replacements(FIVE_LINES, [Replacement(1, 2, "x"), Replacement(2, 3, "y")])


def test_a_guard_refuses_lines_with_other_content():
    assert apply_replacements(FIVE_LINES, [Replacement(2, 2, "zwei", expected="two")]).startswith("one\nzwei\n")
    with pytest.raises(InvalidInput, match="contain 'two'"):
        apply_replacements(FIVE_LINES, [Replacement(2, 2, "zwei", expected="deux")])


@pytest.mark.parametrize(
    ("text", "newline", "expected"),
    [
        ("a\r\nb\r\n", "\r\n", "a\r\nX\r\n"),
        ("a\nb", "\n", "a\nX"),
        ("a\rb", "\r", "a\rX"),
        ("b\fc\nb", "\n", "b\fc\nX"),
        ("10%\r50%\nb\n", "\n", "10%\r50%\nX\n"),
        ("a\r\nb\nc\r\n", "\r\n", "a\r\nX\nc\r\n"),
    ],
)
def test_line_ends_and_a_missing_final_one_are_kept(text: str, newline: str, expected: str):
    assert apply_replacements(text, [Replacement(2, 2, "X")], newline) == expected


def test_a_diff_names_the_file_and_is_bounded():
    assert build_diff("a\nb\n", "a\nc\n", "x.txt").splitlines()[:2] == ["--- a/x.txt", "+++ b/x.txt"]
    long = build_diff("", "".join(f"{n}\n" for n in range(5_000)), "x.txt")
    assert "more lines of difference" in long
    assert long.count("\n") <= 401


@given(
    st.lists(st.text("ab\u2028\f", max_size=4), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.data(),
)
def test_untouched_lines_stay_byte_for_byte(lines: list[str], newline: str, ended: bool, data: st.DataObject):
    text = newline.join(lines) + (newline if ended else "")
    before = split_lines(text)
    assert "".join(before) == text
    if not before:
        return
    start = data.draw(st.integers(1, len(before)))
    end = data.draw(st.integers(start, len(before)))
    new = data.draw(st.lists(st.text("xy", min_size=1, max_size=3), max_size=3))
    after = split_lines(apply_replacements(text, [Replacement(start, end, "\n".join(new))], newline))
    plain = [line.rstrip("\r\n") for line in after]
    assert plain == [line.rstrip("\r\n") for line in [*before[: start - 1], *new, *before[end:]]]
    assert after[: start - 1] == before[: start - 1] or start - 1 == len(after)
