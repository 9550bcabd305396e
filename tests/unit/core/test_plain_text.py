"""Plain text of Markdown has its words and none of its marks."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.plain_text import render_plain_line

PLAIN_LINES = {
    "## The lamp ##\n\nA **lens** of *glass*.": "The lamp A lens of glass.",
    'See [the tower](https://x.example/a_(b)) and [more](/m "Title").': "See the tower and more.",
    "[![Ship](s.png)](https://x.example/) ahoy": "Ship ahoy",
    "[Ship][1] ahoy\n\n[1]: https://x.example/": "Ship ahoy",
    "Tides[^1] turn. <https://x.example/>": "Tides turn. https://x.example/",
    "| Port | Dues |\n| --- | ---: |\n| Rye | **4 \\| 5** |\n\nDone": "Port · Dues Rye · 4 | 5 Done",
    "- one\n  * two\n\n3. three\n- [x] done": "one two three done",
    "> quoted\n> > twice": "quoted twice",
    "A\n***\nB\n\nHeading\n=======": "A B Heading",
    "```python\n# no heading\nx = a ** b\n```\nafter": "# no heading x = a ** b after",
    "Call `f(**kwargs)` of ``a ` b``.": "Call f(**kwargs) of a ` b.",
    r"2 \* 3 \# \[no link\](x) snake_case_name \_\_init\_\_.py": "2 * 3 # [no link](x) snake_case_name __init__.py",
    "***both*** ~~gone~~ __strong__ _light_": "both gone strong light",
    "**a *b* c**": "a b c",
    "cut **off": "cut off",
    "off** cut [link](https://x.exam": "off cut link",
    "2 * 3 * 4 and C# and a | b": "2 * 3 * 4 and C# and a | b",
}


@pytest.mark.parametrize("markdown", PLAIN_LINES)
def test_words_are_kept_and_markup_is_removed(markdown: str):
    assert render_plain_line(markdown, 400) == PLAIN_LINES[markdown]


def test_a_line_is_cut_at_the_limit():
    assert render_plain_line("word " * 1000, 12) == "word word wo"


@pytest.mark.parametrize("mark", ["[", "![", "*", "**a", "`", "`a``", "_a", "[a](", "| ", "> ", "- ", "<http://", "\\"])
def test_endless_markup_takes_no_time(mark: str):
    started = time.process_time()
    render_plain_line(mark * 1_000_000, 400)
    assert time.process_time() - started < 0.5


@given(st.text(alphabet="ab*_`[]()|#>-\\ \n!~<", max_size=60))
def test_any_text_becomes_one_line(text: str):
    assert "\n" not in render_plain_line(text, 400)
