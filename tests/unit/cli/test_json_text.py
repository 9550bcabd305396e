"""Members of JSON text are set and removed, and the rest stays unchanged."""

import json

from hypothesis import given
from hypothesis import strategies as st

from outrider.cli.hosts.json_text import parse_json, remove_member, set_member

KEYS = st.sampled_from(["mcpServers", "a", 'q"}', "//", ",]", "é"])
VALUES = st.recursive(
    st.none() | st.integers(-9, 9) | st.sampled_from(['// "', "/*", ",}", "\\", "\n"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
SERVERS = st.fixed_dictionaries({}, optional={"mcpServers": st.dictionaries(KEYS, VALUES, max_size=3), "a": VALUES})
PATH = ("mcpServers", "outrider")


@given(SERVERS, st.sampled_from([None, 2, 4, "\t"]), st.booleans())
def test_setting_and_removing_a_member_restores_the_text(values, indent, crlf):
    text = json.dumps(values, indent=indent, ensure_ascii=False)
    text = text.replace("\n", "\r\n") if crlf else text
    changed = set_member(text, PATH, {"command": "x"})
    expected = values | {"mcpServers": values.get("mcpServers", {}) | {"outrider": {"command": "x"}}}
    assert parse_json(changed, comments=False) == expected
    assert parse_json(changed, comments=True) == expected
    assert set_member(changed, PATH, {"command": "x"}) == changed
    if "mcpServers" in values:
        assert remove_member(changed, PATH) == text


def test_comments_and_trailing_commas_are_not_part_of_the_values():
    text = '{ // "a": 1\n "b": "// no", /* , */ "c": [1, /* } */ 2,],\n}'
    assert parse_json(text, comments=True) == {"b": "// no", "c": [1, 2]}
    assert remove_member(text, ("b",)) == '{ // "a": 1 /* , */ "c": [1, /* } */ 2,],\n}'
