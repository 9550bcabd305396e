"""Markdown is wrapped to the width of a terminal, and only Outrider writes control codes."""

import re

import click
from hypothesis import given
from hypothesis import strategies as st

from outrider.cli.terminal_text import format_markdown, measure_cells

HARBOUR_MARKDOWN = """# Harbour *notes*

The **harbour** was `dredged` in 1851, so that larger ships could [unload](https://example.com/grain).

- one
  1. two, which is long enough to be continued on another line
> quoted

```python
def f():
	return 1
```

| name | price |
|---|---:|
| 港は1851年に浚渫された | 3.50 |
| tea | 12 |
"""
SHOWN = """\
Harbour notes

The harbour was dredged in 1851, so that
larger ships could unload
(https://example.com/grain).

• one
  1. two, which is long enough to be
     continued on another line

▌ quoted

    def f():
        return 1

name                    price
─────────────────────────────
港は1851年に浚渫された   3.50
tea                        12"""


def test_a_page_is_laid_out_for_the_width_of_the_terminal():
    shown = format_markdown(HARBOUR_MARKDOWN, 40)
    assert click.unstyle(shown) == SHOWN
    assert "\x1b[1mharbour\x1b[0m" in shown
    assert "\x1b[36mdredged\x1b[0m" in shown


def test_cells_of_wide_tables_are_wrapped():
    table = "| a | b |\n|---|---|\n| " + "word " * 30 + "| 港は浚渫され、穀物を陸揚げできるようになった |"
    lines = click.unstyle(format_markdown(table, 50)).split("\n")
    assert max(map(measure_cells, lines)) <= 50
    assert "".join(lines).count("word") == 30


@given(st.text(alphabet="ab 港é\u0301\n#->|`*_[]()<!1.\t\x1b\x07\x9b&", max_size=120), st.integers(0, 60))
def test_no_text_breaks_the_layout_or_sends_control_characters(text: str, width: int):
    shown = format_markdown(text, width)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", re.sub(r"\x1b\[[\d;]*m", "", shown))
    assert set(re.findall(r"[ab港é]", text)) <= set(shown) | set("ab港é" if re.search(r"[\[<!`&]", text) else "")


def test_hostile_markdown_is_laid_out():
    wide = "|" + "a|" * 400 + "\n|" + "-|" * 400 + "\n|" + "b|" * 400
    for text in (">" * 9_000 + "a", "- " * 9_000 + "a", "[" * 900, "*a " * 900, wide, "港" * 9_000, "a" * 9_000):
        assert isinstance(format_markdown(text, 80), str)
    assert "deep" in format_markdown("> " * 40 + "deep", 80)
