"""No answer makes a host fetch anything by itself."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.toolsets.run_agent.results import remove_images


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("![logo](https://e.example/?d=1)", "[logo](https://e.example/?d=1)"),
        ("a!![x][r]", "a[x][r]"),
        ("<img src=https://e.example/?d=1>", "&lt;img src=https://e.example/?d=1>"),
        ("<IMG/SRC=//e.example>", "&lt;IMG/SRC=//e.example>"),
        ("<p style='background:url(//e.example)'>", "&lt;p style='background:url(//e.example)'>"),
        ("``` not closed on a line ``` ![x](y)", "``` not closed on a line ``` [x](y)"),
        ("> ```\n> ![x](y)", "> ```\n> [x](y)"),
    ],
)
def test_markup_that_would_load_something_is_only_shown(text: str, shown: str):
    assert remove_images(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "See [tea](https://t.example) and <https://t.example/a>; 3 < 4, a <b and x != y! [Really](https://t.example).",
        "```html\n<img src='https://t.example/a.png'>\n![a](b)\n```\n",
        "~~~~\n![a](b)\n~~~\n<img>\n~~~~",
        "Tea is old :cite[abc]!",
    ],
)
def test_links_code_and_words_are_unchanged(text: str):
    assert remove_images(text) == text


@given(st.text(alphabet="![]()<>img /`~\n:h", max_size=60))
def test_no_picture_is_left_outside_of_code_and_a_second_run_changes_nothing(text: str):
    once = remove_images(text)
    assert remove_images(once) == once
    if "```" not in once and "~~~" not in once:
        assert not re.search(r"!\[|<img", once, re.IGNORECASE)
