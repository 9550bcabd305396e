"""Plain calls mean the same with and without the command line's libraries."""

import pytest

from outrider.cli.browser_steps import parse_step
from outrider.cli.shared_process import parse_arguments
from outrider.quick_call import QUICK_STEPS, parse_quick_call


@pytest.mark.parametrize("name", QUICK_STEPS)
def test_a_step_is_the_same_call_as_on_the_command_line(name: str):
    _, names, required, _ = QUICK_STEPS[name]
    for count in range(required, len(names) + 1):
        words = [name, *(f"word {number}" for number in range(count))]
        assert parse_quick_call(["browser", *words]) == parse_step(words)
    assert parse_quick_call(["browser", name, *["word"] * (len(names) + 1)]) is None
    assert not required or parse_quick_call(["browser", name]) is None


def test_arguments_are_the_same_as_on_the_command_line():
    for words in (["query=sqlite wal"], ["a=1", "b=x=y", "c="], []):
        assert parse_quick_call(["call", "web_search", *words]) == ("web_search", parse_arguments(tuple(words)))


def test_anything_else_is_left_to_the_full_command_line():
    cases = [
        [],
        ["call"],
        ["call", "--help", "web_search"],
        ["call", "web_search", "query=x", "--json"],
        ["call", "web_search", "-"],
        ["call", "web_search", '{"query": "x"}'],
        ["call", "web_search", "count:=3"],
        ["call", "web_search", "site=a", "site=b"],
        ["call", "web_search", "query"],
        ["browser"],
        ["browser", "--help"],
        ["browser", "install"],
        ["browser", "scroll", "down"],
        ["browser", "click", "e1", "--double"],
        ["search", "x"],
    ]
    assert [words for words in cases if parse_quick_call(words) is not None] == []
