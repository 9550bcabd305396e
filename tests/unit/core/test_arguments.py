import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, field_validator

from outrider.core.arguments import parse_arguments, read_arguments, validate_arguments
from outrider.core.errors import InvalidInput

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)


class Place(BaseModel, extra="forbid"):
    city: str


class Search(BaseModel, extra="forbid"):
    query: str = Field(min_length=1, description="What to look for")
    count: Annotated[int, Field(ge=1, le=10)] = 5
    places: list[Place] = []

    @field_validator("query")
    @classmethod
    def _not_blank(cls, query: str) -> str:
        if not query.strip():
            raise ValueError("is blank")
        return query


def read_outcome(function: Callable[..., Any], *given: object) -> Any:
    try:
        return function(*given)
    except InvalidInput as error:
        return error


def expect_refusal(arguments: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        validate_arguments(Search, "find", arguments)
    return caught.value


@given(st.dictionaries(st.text(), JSON))
def test_an_object_and_its_json_text_are_parsed_alike(arguments: dict[str, Any]):
    assert parse_arguments(arguments) == parse_arguments(json.dumps(arguments)) == arguments


@pytest.mark.parametrize("nothing", ["", "  \n", None, 7, True, b"{}", 3j, {}, "{}"], ids=repr)
def test_empty_or_unusable_values_mean_no_arguments(nothing: object):
    assert parse_arguments(nothing) == {}


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ("[1]", "array"),
        ("null", "null"),
        ("7", "number"),
        ("1.5", "number"),
        ("true", "boolean"),
        ('"query"', "string"),
        ([1], "array"),
        ((), "array"),
    ],
)
def test_json_that_is_not_an_object_is_named_and_refused(arguments: object, kind: str):
    with pytest.raises(InvalidInput, match=f"^the arguments are a JSON {kind}$") as caught:
        parse_arguments(arguments)
    assert caught.value.hint == "send a JSON object"


@pytest.mark.parametrize("garbage", ["{", "{'query': 'tea'}", "query=tea", '{"query": "tea"', "[" * 100_000])
def test_invalid_json_is_refused_with_a_remedy(garbage: str):
    with pytest.raises(InvalidInput, match=r"^the arguments are not valid JSON: ") as caught:
        parse_arguments(garbage)
    assert caught.value.hint == "send a JSON object"


def test_a_parse_error_names_its_position():
    with pytest.raises(InvalidInput, match="line 1 column 11"):
        parse_arguments('{"query": tea}')


@given(st.text())
def test_any_text_is_parsed_as_an_object_or_refused_with_a_hint(text: str):
    found = read_outcome(parse_arguments, text)
    assert isinstance(found, dict) or found.hint == "send a JSON object"


def test_valid_arguments_become_the_model_with_its_defaults():
    assert validate_arguments(Search, "find", '{"query": "tea", "count": "3"}') == Search(query="tea", count=3)


def test_a_missing_field_is_named_with_its_description():
    error = expect_refusal({})
    assert error.message == "find: query: is required"
    assert error.hint == "add 'query' (What to look for)"
    assert error.details == {"fields": ["query"]}


def test_an_unknown_parameter_is_answered_with_the_nearest_one():
    error = expect_refusal({"query": "tea", "cuont": 3})
    assert error.message == "find: cuont: no such parameter"
    assert error.hint == "did you mean 'count'?"


def test_an_unknown_parameter_that_resembles_none_is_answered_with_all_of_them():
    assert expect_refusal({"query": "tea", "zzz": 3}).hint == "the parameters are query, count, places"


def test_a_tool_without_parameters_says_so():
    class Nothing(BaseModel, extra="forbid"): ...

    with pytest.raises(InvalidInput) as caught:
        validate_arguments(Nothing, "now", {"zone": "utc"})
    assert caught.value.hint == "this tool takes no parameters"


def test_a_wrong_value_is_named_with_the_reason_the_value_and_the_field_to_correct():
    error = expect_refusal({"query": "tea", "count": -1})
    assert error.message == "find: count: Input should be greater than or equal to 1 (got -1)"
    assert error.hint == "correct 'count'"


def test_a_validators_own_message_is_reported():
    assert expect_refusal({"query": " "}).message == 'find: query: is blank (got " ")'


def test_a_field_inside_another_is_named_by_its_path():
    assert expect_refusal({"query": "tea", "places": [{"city": []}]}).details == {"fields": ["places[0].city"]}


def test_every_wrong_field_is_named_at_once():
    error = expect_refusal({"count": "many", "a:b": 1})
    assert error.details == {"fields": ["query", "count", "a:b"]}
    assert all(part in error.message for part in ("query: is required", "count: ", "a:b: no such parameter"))


def test_long_values_and_long_names_are_cut():
    error = expect_refusal({"query": "tea", "count": "9" * 10_000, "n" * 10_000: 1})
    assert "… (10002 characters)" in error.message
    assert "… (10000 characters)" in error.message
    assert len(error.message) < 600


def test_a_lone_surrogate_is_shown_escaped():
    error = expect_refusal({"query": "tea", "count": "\ud800"})
    assert "\\ud800" in error.message
    assert json.dumps(error.to_dict(), ensure_ascii=False).encode()


def test_a_value_that_is_not_json_is_named_by_its_type():
    endless: dict[str, Any] = {}
    endless["self"] = endless
    assert "(got dict)" in expect_refusal({"query": "tea", "count": endless}).message
    assert "(got dict)" in expect_refusal({"query": "tea", "count": {(1, 2): 3}}).message


@given(st.dictionaries(st.sampled_from(["query", "count", "places", "other"]) | st.text(), JSON))
def test_any_arguments_are_accepted_or_refused_with_fields_and_a_hint(arguments: dict[str, Any]):
    found = read_outcome(validate_arguments, Search, "find", arguments)
    assert isinstance(found, Search) or (found.hint and found.details["fields"])


class Box(BaseModel, extra="forbid"):
    urls: list[str] = []
    place: Place | None = None
    options: dict[str, int] = {}


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"urls": "https://a.example"}, {"urls": ["https://a.example"]}),
        ({"urls": '["a", "b"]'}, {"urls": ["a", "b"]}),
        ({"urls": "[not json"}, {"urls": ["[not json"]}),
        ({"urls": "[1]"}, {"urls": ["1"]}),
        ({"urls": 5}, {"urls": ["5"]}),
        ({"place": '{"city": "Linz"}'}, {"place": {"city": "Linz"}}),
        ({"options": '{"a": 1}', "urls": "x"}, {"options": {"a": 1}, "urls": ["x"]}),
    ],
)
def test_lists_and_objects_may_be_json_text_and_a_list_a_single_item(sent: Any, expected: Any):
    assert validate_arguments(Box, "open", sent) == Box.model_validate(expected)


@pytest.mark.parametrize("sent", [{"urls": [None]}, {"place": "Linz"}, {"options": "[1]"}])
def test_a_value_that_cannot_be_converted_is_refused_as_sent(sent: dict[str, Any]):
    with pytest.raises(InvalidInput) as caught:
        validate_arguments(Box, "open", sent)
    assert [field.partition("[")[0] for field in caught.value.details["fields"]] == list(sent)
    assert "(got " in caught.value.message


class Options(BaseModel, extra="forbid"):
    top_n: int = 10
    mime_type: list[str] = []


class LineEdit(BaseModel, extra="forbid"):
    start_line: int
    new_content: str | None = None


class Lookup(BaseModel, extra="forbid"):
    query: str
    num_results: int = 5
    mode: Literal["web", "fullPage"] = "web"
    sessionId: str | None = None  # noqa: N815 - as the tools publish it
    urls: list[str] | None = None
    after: list[int] | None = None
    options: Options | None = None
    replacements: list[LineEdit] | None = None


UNDERSTOOD: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"mode": None, "num_results": None, "zone": None}, {}, ""),
    ({"numResults": 3}, {"num_results": 3}, "numResults as num_results"),
    ({"session_id": "s"}, {"sessionId": "s"}, "session_id as sessionId"),
    ({"top_k": "3"}, {"num_results": 3}, "top_k as num_results"),
    ({"url": "a"}, {"urls": ["a"]}, "url as urls; urls as a list"),
    ({"limit": 3, "num_results": 3}, {"num_results": 3}, "limit as num_results"),
    ({"mode": "Full-Page"}, {"mode": "fullPage"}, "mode as fullPage"),
    ({"after": "1, 2"}, {"after": [1, 2]}, "after as a list"),
    ({"options": '{"topN": 3}'}, {"options": {"top_n": 3}}, "the JSON text of options; topN as top_n"),
    ({"mimeType": "text/*"}, {"options": {"mime_type": ["text/*"]}}, "mimeType as options.mime_type"),
    (
        {"edits": {"line": "3", "text": 7}},
        {"replacements": [{"start_line": 3, "new_content": "7"}]},
        "line as start_line; text as new_content; edits as replacements; replacements as a list",
    ),
]


def test_misnamed_or_misformatted_arguments_are_understood_and_the_changes_reported():
    for sent, expected, note in UNDERSTOOD:
        read = read_arguments(Lookup, "find", {"query": "tea"} | sent)
        assert read.model == Lookup.model_validate({"query": "tea"} | expected), sent
        if note:
            assert set(note.split("; ")) <= set(read.summary.removeprefix("Understood: ").split("; ")), sent
        else:
            assert read.summary == "", sent


def test_arguments_inside_a_wrapper_are_understood():
    for wrapped in ({"raw": '{"q": "tea"}'}, {"arguments": {"query": "tea"}}, {"input": '{"query": "tea"}'}):
        assert read_arguments(Lookup, "find", wrapped).arguments == {"query": "tea"}


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"limit": 3, "num_results": 4}, "limit and num_results both mean num_results", "send only num_results"),
    ({"mode": "video"}, "mode: Input should be 'web' or 'fullPage' (got \"video\")", "correct 'mode'"),
    (
        {"replacements": [{"startLine": "three"}]},
        "replacements[0].startLine: Input should be a valid integer",
        'send replacements like [{"start_line": 1, "new_content": "…"}]',
    ),
    ({"replacements": [{"start_line": 1, "colour": 2}]}, "replacements[0].colour: no such parameter", "start_line"),
    ({"sessions": ["a", "b"], "query": 4.5}, "sessions: Input should be a valid string", "correct 'sessionId'"),
    ({"colour": "red", "query": 4.5}, "colour: no such parameter", "sessionId"),
]


def test_a_real_mistake_stays_an_error_with_a_location_and_a_hint():
    for sent, message, hint in MISTAKES:
        with pytest.raises(InvalidInput) as caught:
            read_arguments(Lookup, "find", {"query": "tea"} | sent)
        assert message in caught.value.message, sent
        assert hint in caught.value.hint, sent


@given(st.dictionaries(st.sampled_from([*Lookup.model_fields, "limit", "raw", "topN"]) | st.text(), JSON))
def test_any_arguments_are_understood_or_refused_briefly_with_a_hint(arguments: dict[str, Any]):
    found = read_outcome(read_arguments, Lookup, "find", arguments)
    if isinstance(found, InvalidInput):
        assert found.hint
        assert len(found.message) + len(found.hint) < 1_000
    else:
        assert read_arguments(Lookup, "find", found.arguments).model == found.model


@pytest.mark.parametrize(
    ("places", "problem"),
    [
        ("x," * 500_000, "places"),
        (["x," * 500_000], r"places\[0\]"),
        (["x"] * 50_000, "50,000 values"),
        (["x"] * 200_000, "has 200,000 items"),
    ],
    ids=["a text", "a list of one text", "a long list", "an endless list"],
)
def test_thousands_of_wrong_values_are_reported_in_one_short_sentence(places: Any, problem: str):
    with pytest.raises(InvalidInput, match=problem) as raised:
        read_arguments(Search, "search", {"query": "tea", "places": places})
    assert len(raised.value.message) < 500
