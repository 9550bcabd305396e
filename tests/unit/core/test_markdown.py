"""Pieces of Markdown join to the whole text, and each is well-formed."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outrider.core.markdown import cut_markdown, find_markdown_frame

CODE = "Before.\n\n```python\n" + "".join(f"print({n})\n" for n in range(60)) + "```\n\nAfter."
TABLE_MARKDOWN = (
    "Ships.\n\n| Year | Ships |\n| --- | --- |\n" + "".join(f"| {1900 + n} | {n * 7} |\n" for n in range(60)) + "\nEnd."
)
PARTS = st.lists(
    st.sampled_from(
        [
            "A line.",
            "",
            "```",
            "```python",
            "~~~~",
            "````",
            "| a | b |\n| --- | --- |",
            "| 1 | 2 |",
            "- ```sh",
            "x" * 90,
            "é́",
        ]
    ),
    max_size=40,
).map("\n".join)


def cut_with_shown(markdown: str, limit: int) -> list[tuple[str, str]]:
    """Cut Markdown and return each piece with its shown form."""
    found, offset = [], 0
    while True:
        piece, shown = cut_markdown(markdown, limit, offset)
        found.append((piece.text, shown))
        if piece.next_offset is None:
            return found
        offset = piece.next_offset


def test_code_that_is_cut_is_fenced_in_every_piece():
    shown = [each for _, each in cut_with_shown(CODE, 200)]
    assert len(shown) > 2
    assert all(each.count("```") % 2 == 0 for each in shown)
    assert all(each.startswith("```python\n") for each in shown[1:-1])


def test_rows_cut_from_a_table_keep_its_header():
    shown = [each for _, each in cut_with_shown(TABLE_MARKDOWN, 200)]
    assert len(shown) > 2
    assert all(each.startswith("| Year | Ships |\n| --- | --- |\n| 19") for each in shown[1:-1])


@given(PARTS, st.integers(min_value=1, max_value=300))
def test_pieces_join_to_the_whole_and_none_exceeds_the_limit(markdown: str, limit: int):
    found = cut_with_shown(markdown, limit)
    assert "".join(text for text, _ in found) == markdown
    assert all(len(shown) <= max(limit, len(text)) and len(text) <= limit for text, shown in found)


@given(PARTS, st.integers(min_value=60, max_value=300))
def test_a_framed_piece_contains_the_piece(markdown: str, limit: int):
    assert all(text in shown for text, shown in cut_with_shown(markdown, limit))


def test_text_and_whole_blocks_need_no_frame():
    assert find_markdown_frame("One.\n\nTwo.", 0, 4).wrap("One.") == "One."
    assert find_markdown_frame(CODE, 0, len(CODE)).wrap("") == ""
    assert not re.match(r"\|", find_markdown_frame(TABLE_MARKDOWN, 0, 30).before)
