from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput
from outrider.settings import LoadedSettings, Settings, load
from outrider.settings.layers import flatten_values, set_value

Read = Callable[..., LoadedSettings]
Write = Callable[[str, Any], Path]
FILE = ".outrider/settings.json"


def build_nested(name: str, value: Any) -> dict[str, Any]:
    for part in reversed(name.split(".")):
        value = {part: value}
    return value


ALLOWED = {
    "images_path": "./pictures",
    "boundary": True,
    "tools.disable": ["web_fetch"],
    "egress.deny": ["tracker.example"],
    "search.profile": "brave",
    "search.order": ["brave"],
    "search.disabled": ["brave"],
    "search.per_domain": 1,
    "models.default": ["mine"],
    "pages.robots": "respect",
}
EVERY = [".".join(place) for place, _ in flatten_values(Settings().model_dump(mode="json"))]


@pytest.mark.parametrize(("name", "value"), ALLOWED.items(), ids=ALLOWED)
def test_a_workspace_may_choose_and_narrow(read: Read, write_in_workspace: Write, name: str, value: Any):
    path = write_in_workspace(FILE, build_nested(name, value))
    loaded = read()
    assert loaded.warnings == ()
    values = loaded.settings.model_dump()
    assert dict(flatten_values(values))[tuple(name.split("."))] == value
    assert loaded.origins[tuple(name.split("."))].endswith(str(path))


def test_a_workspace_may_set_nothing_else(subtests: pytest.Subtests, read: Read, write_in_workspace: Write):
    for value in [["evil"], "evil", True]:
        for name in [name for name in EVERY if name not in ALLOWED] + ["search.providers.brave.api_key"]:
            with subtests.test(name=name, value=value):
                path = write_in_workspace(FILE, build_nested(name, value))
                loaded = read()
                assert loaded.settings == Settings()
                assert loaded.warnings == (
                    f"{path}: {name!r} is ignored: a workspace may not set it; use ~/.outrider/settings.json",
                )


@pytest.mark.parametrize("name", ["tools", "search", "egress", "search.providers", "unknown", "tools.stakes.web_fetch"])
def test_a_section_or_unknown_name_in_a_workspace_is_ignored_with_a_warning(
    read: Read, write_in_workspace: Write, name: str
):
    write_in_workspace(FILE, build_nested(name, "evil"))
    loaded = read()
    assert loaded.settings == Settings()
    assert f"{name!r} is ignored" in loaded.warnings[0]


def test_a_dotted_name_does_not_set_the_nested_setting(read: Read, write_in_workspace: Write):
    write_in_workspace(FILE, {"tools.disable": ["web_fetch"], "search": {"profile": "brave"}})
    loaded = read()
    assert (loaded.settings.tools.disable, loaded.settings.search.profile) == ([], "brave")
    assert "'tools.disable' is ignored" in loaded.warnings[0]


@pytest.mark.parametrize(
    "value", [False, 0, 0.0, "false", "off", "no", "0", "f", "n", "FALSE", None, "on", [], {}], ids=repr
)
def test_a_workspace_cannot_turn_the_boundary_off(read: Read, write_in_workspace: Write, value: Any):
    write_in_workspace(FILE, {"boundary": value})
    loaded = read()
    assert loaded.settings.boundary
    assert "'boundary' is ignored" in loaded.warnings[0]


def test_a_workspace_can_turn_the_boundary_on_again(read: Read, write_in_home: Write, write_in_workspace: Write):
    write_in_home(FILE, {"boundary": False})
    write_in_workspace(FILE, {"boundary": True})
    assert read().settings.boundary


def test_a_workspace_cannot_lift_the_rule_to_respect_robots(
    read: Read, write_in_home: Write, write_in_workspace: Write
):
    write_in_home(FILE, {"pages": {"robots": "respect"}})
    write_in_workspace(FILE, {"pages": {"robots": "ignore"}})
    loaded = read()
    assert loaded.settings.pages.robots == "respect"
    assert "'pages.robots' is ignored" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("name", "mine", "theirs", "both"),
    [
        ("tools.disable", ["web_fetch"], ["web_search", "web_fetch"], ["web_fetch", "web_search"]),
        ("egress.deny", ["a.example"], [], ["a.example"]),
        ("search.disabled", ["bing"], ["brave"], ["bing", "brave"]),
    ],
)
def test_disabled_items_of_a_workspace_are_added_to_the_users(
    read: Read,
    write_in_home: Write,
    write_in_workspace: Write,
    name: str,
    mine: list[str],
    theirs: list[str],
    both: list[str],
):
    home = write_in_home(FILE, build_nested(name, mine))
    path = write_in_workspace(FILE, build_nested(name, theirs))
    loaded = read()
    place = tuple(name.split("."))
    assert dict(flatten_values(loaded.settings.model_dump()))[place] == both
    assert loaded.origins[place] == f"{home} and {path}"


@pytest.mark.parametrize("theirs", [None, "x", 5, {}, {"a": 1}, [5]], ids=repr)
def test_invalid_workspace_values_never_lift_the_users_restrictions(
    read: Read, write_in_home: Write, write_in_workspace: Write, theirs: Any
):
    write_in_home(FILE, {"tools": {"disable": ["web_fetch"]}})
    write_in_workspace(FILE, {"tools": {"disable": theirs}})
    try:
        assert "web_fetch" in read().settings.tools.disable
    except InvalidInput as error:
        assert "tools.disable" in error.message  # noqa: PT017


def test_an_invalid_list_of_the_user_stays_an_error(read: Read, write_in_home: Write, write_in_workspace: Write):
    home = write_in_home(FILE, {"tools": {"disable": "web_fetch"}})
    write_in_workspace(FILE, {"tools": {"disable": ["web_search"]}})
    with pytest.raises(InvalidInput, match=r"tools\.disable: Input should be a valid list") as caught:
        read()
    assert str(home) in caught.value.message


def test_environment_variables_replace_the_workspaces_list(read: Read, write_in_workspace: Write):
    write_in_workspace(FILE, {"tools": {"disable": ["web_fetch"]}})
    assert read({"OUTRIDER_TOOLS__DISABLE": "web_search"}).settings.tools.disable == ["web_search"]


VALUES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["x", "off", "ignore", "*"]) | st.just([])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.dictionaries(st.sampled_from(EVERY), VALUES | st.lists(VALUES, max_size=2), max_size=6))
def test_no_workspace_setting_ever_widens_access(
    write_in_home: Write, write_in_workspace: Write, home: Path, workspace: Path, content: dict[str, Any]
):
    mine = {"tools": {"disable": ["web_fetch"]}, "egress": {"deny": ["a.example"]}, "pages": {"robots": "respect"}}
    write_in_home(FILE, mine)
    merged: dict[str, Any] = {}
    for name, value in content.items():
        set_value(merged, tuple(name.split(".")), value)
    write_in_workspace(FILE, merged)
    try:
        after = load(environ={}, home=home, workspace=workspace).settings
    except InvalidInput as error:
        assert str(workspace) in error.message  # noqa: PT017
        return
    assert set(after.tools.disable) >= {"web_fetch"}
    assert set(after.egress.deny) >= {"a.example"}
    assert (after.boundary, after.pages.robots) == (True, "respect")
    chosen = {"images_path": after.images_path}
    for section in ("search", "tools", "egress", "models"):
        chosen[section] = getattr(after, section)
    assert after.models.model_copy(update={"default": None}) == Settings().models.model_copy(update={"default": None})
    assert after.model_copy(update=chosen | {"pages": Settings().pages}) == Settings().model_copy(update=chosen)
    assert (after.egress.allow, after.egress.ports, after.egress.only) == ([], [80, 443], False)
    assert (after.tools.enable, after.tools.stakes) == (["all"], {})
    assert (after.search.profiles, after.search.providers, after.search.keyless) == ({}, {}, True)
