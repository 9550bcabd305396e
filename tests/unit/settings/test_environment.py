from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from outrider.core.errors import InvalidInput
from outrider.settings import LoadedSettings, Settings
from outrider.settings.layers import load_environment, parse_text_value, set_value

Read = Callable[..., LoadedSettings]


class Inner(BaseModel):
    names: list[str] = []
    some: list[str] | None = None
    noted: Annotated[list[int], Field(description="with a note")] = []
    maybe: str | None = None
    text: str = ""
    kind: Literal["a", "b"] = "a"
    stakes: dict[str, str] = {}


class Outer(BaseModel):
    inner: Inner = Inner()


@pytest.mark.parametrize("field", ["names", "some", "noted"])
@pytest.mark.parametrize(
    ("text", "value"), [("a,b", ["a", "b"]), (" a ,, b\nc,", ["a", "b", "c"]), ('["a, b"]', ["a, b"])]
)
def test_a_list_is_separated_by_commas_or_is_json(field: str, text: str, value: list[str]):
    assert parse_text_value(text, Outer, ("inner", field)) == value


@pytest.mark.parametrize("field", ["text", "maybe"])
@pytest.mark.parametrize("text", ["a,b", "[a", '{"a": 1}', "[::1]"])
def test_text_settings_are_never_parsed_as_something_else(field: str, text: str):
    assert parse_text_value(text, Outer, ("inner", field)) == text


def test_an_object_is_json():
    assert parse_text_value('{"pay": "high"}', Outer, ("inner", "stakes")) == {"pay": "high"}
    assert parse_text_value('{"names": ["a"]}', Outer, ("inner",)) == {"names": ["a"]}


@pytest.mark.parametrize("text", ["[1", "{'a': 1}", "[" * 100_000])
def test_json_that_does_not_parse_names_the_setting(text: str):
    with pytest.raises(InvalidInput, match=r"^setting 'inner\.stakes' is not valid JSON: "):
        parse_text_value(text, Outer, ("inner", "stakes"))


def test_a_value_of_an_unknown_setting_stays_text():
    assert parse_text_value("a,b", Outer, ("other", "thing")) == "a,b"


def test_double_underscores_separate_levels(read: Read):
    environ = {
        "OUTRIDER_TOOLSETS": "web, browser",
        "OUTRIDER_TOOLS__DISABLE": "web_fetch",
        "OUTRIDER_TOOLS__STAKES": '{"web_search": "high"}',
        "OUTRIDER_SEARCH__KEYLESS": "false",
        "OUTRIDER_SEARCH__PROVIDERS__BRAVE__API_KEY": "k",
        "OUTRIDER_EGRESS__ALLOW": "intranet.example,localhost:3000",
        "OUTRIDER_SERVE__PORT": "0",
        "OUTRIDER_LOG_LEVEL": "debug",
        "OUTRIDER_BOUNDARY": "off",
        "PATH": "/bin",
    }
    settings = read(environ).settings
    assert settings.toolsets == ["web", "browser"]
    assert (settings.tools.disable, settings.tools.stakes) == (["web_fetch"], {"web_search": "high"})
    assert (settings.search.keyless, settings.search.providers) == (False, {"brave": {"api_key": "k"}})
    assert settings.egress.allow == ["intranet.example", "localhost:3000"]
    assert (settings.serve.port, settings.log_level, settings.boundary) == (0, "debug", False)


def test_a_whole_section_can_be_json_and_one_field_of_it_still_be_set(read: Read):
    environ = {"OUTRIDER_SEARCH": '{"profile": "a", "order": ["b"]}', "OUTRIDER_SEARCH__PROFILE": "c"}
    search = read(environ).settings.search
    assert (search.profile, search.order) == ("c", ["b"])


@pytest.mark.parametrize("empty", ["", "   "])
def test_an_empty_variable_is_ignored(read: Read, empty: str):
    environ = {"OUTRIDER_TOOLS__ENABLE": empty, "OUTRIDER_SERVE__PORT": empty, "OUTRIDER_DATA_DIR": empty}
    assert read(environ).settings == Settings()


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (
            "OUTRIDER_SERCH__PROFILE",
            "no setting 'serch' (from the variable OUTRIDER_SERCH__PROFILE), did you mean 'search'?",
        ),
        (
            "OUTRIDER_SEARCH__PROFIL",
            "no setting 'search.profil' (from the variable OUTRIDER_SEARCH__PROFIL), did you mean 'profile'?",
        ),
        ("OUTRIDER_XYZZY", "no setting 'xyzzy' (from the variable {variable})"),
        ("OUTRIDER_", "no setting '' (from the variable {variable})"),
        ("OUTRIDER_SERVE__PORT", "serve.port: Input should be a valid integer"),
        ("OUTRIDER_NAMES", "names: Input should be 'bare' or 'builtin' (from the variable {variable})"),
        ("OUTRIDER_SEARCH__PROVIDERS", "search.providers: Input should be a valid dictionary"),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_it(read: Read, variable: str, message: str):
    with pytest.raises(InvalidInput) as caught:
        read({variable: "x"})
    assert caught.value.message.startswith(f"settings: {message.format(variable=variable)}")
    assert variable in caught.value.message
    assert caught.value.code == "bad_settings"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"OUTRIDER_TOOLS__STAKES": "{pay"}, "OUTRIDER_TOOLS__STAKES: setting 'tools.stakes' is not valid JSON: "),
        (
            {"OUTRIDER_SEARCH": "x", "OUTRIDER_SEARCH__PROFILE": "y"},
            "OUTRIDER_SEARCH__PROFILE: setting 'search.profile': 'search' already has a plain value",
        ),
    ],
)
def test_a_variable_that_cannot_be_read_is_named(read: Read, environ: dict[str, str], message: str):
    with pytest.raises(InvalidInput) as caught:
        read(environ)
    assert caught.value.message.startswith(message)


def test_an_impossible_data_folder_is_named_with_its_variable(read: Read):
    with pytest.raises(InvalidInput) as caught:
        read({"OUTRIDER_DATA_DIR": "/dev/null/x"})
    assert "/dev/null is not one (from the variable OUTRIDER_DATA_DIR)" in caught.value.message
    with pytest.raises(InvalidInput, match=r"data_dir: .* file name too long \(from the variable OUTRIDER_DATA_DIR\)"):
        read({"OUTRIDER_DATA_DIR": f"/tmp/{'x' * 300}"})


def test_variables_of_other_programs_are_ignored():
    others = {"PATH": "x", "MY_OUTRIDER_X": "y", "outrider_names": "z", "OUTRIDER_FLOW_PASSWORD": "of a flow"}
    assert load_environment(others, Settings).values == {}


def test_flags_are_stored_at_the_path_they_name():
    values: dict[str, Any] = {}
    set_value(values, ("search", "profile"), "a")
    set_value(values, ("search", "order"), ["b"])
    assert values == {"search": {"profile": "a", "order": ["b"]}}
    with pytest.raises(InvalidInput, match="'profile' already has a plain value"):
        set_value(values, ("search", "profile", "deeper"), 1)


def test_an_error_names_the_setting_and_never_its_value(read: Read, home: Path):
    with pytest.raises(InvalidInput) as caught:
        read({"OUTRIDER_SEARCH__PROVIDERS__BRAVE": "sk-secret"}, serve={"token": ["sk-secret"]})
    variable = "(from the variable OUTRIDER_SEARCH__PROVIDERS__BRAVE)"
    assert f"search.providers.brave: Input should be a valid dictionary {variable}" in caught.value.message
    assert "serve.token: Input should be a valid string (from command line)" in caught.value.message
    assert "sk-secret" not in caught.value.message
