import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outrider.core.errors import InvalidInput
from outrider.settings import LoadedSettings, Settings, load

Read = Callable[..., LoadedSettings]
Write = Callable[[str, Any], Path]
SETTINGS_FILES = (".outrider/settings.json", ".outrider/web.json", ".outrider/keys.json", ".dogent/web.json")
BROKEN = {
    "{profile: brave}": ", line 1, column 2: ",
    '{"egress": {\n  "deny": ["evil.example"],\n}}': ", line 3, column 1: ",
    "": ", line 1, column 1: ",
    '{"search": ': ", line 1, column 12: ",
    "[1]": ": it must hold a JSON object",
    '"brave"': ": it must hold a JSON object",
    "null": ": it must hold a JSON object",
    "[" * 100_000: ": ",
}
SETTING_NAMES = st.sampled_from(
    [
        "search",
        "profiles",
        "providers",
        "profile",
        "order",
        "tools",
        "disable",
        "stakes",
        "egress",
        "deny",
        "allow",
        "data_dir",
        "serve",
        "port",
        "token",
        "boundary",
        "toolsets",
        "keep_days",
        "images_path",
        "brave",
        "a.b",
        "",
    ]
)
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just("~nobody-at-all/x")
JSON = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SETTING_NAMES, inner, max_size=4), max_leaves=9
)


@pytest.mark.parametrize("name", [name for name in SETTINGS_FILES if name.startswith(".outrider/")])
def test_a_malformed_file_is_an_error_with_line_and_column(read: Read, write_in_home: Write, name: str):
    for text, where in BROKEN.items():
        path = write_in_home(name, text)
        with pytest.raises(InvalidInput) as caught:
            read()
        before_comma = caught.value.message.replace("line 2, column 27", "line 3, column 1")  # Python 3.13 and later
        assert before_comma.startswith(f"{path}{where}")
        assert path.name in caught.value.hint


def test_a_malformed_settings_file_of_a_workspace_is_an_error(read: Read, write_in_workspace: Write):
    path = write_in_workspace(".outrider/settings.json", "{")
    with pytest.raises(InvalidInput) as caught:
        read()
    assert caught.value.message.startswith(f"{path}, line 1, column 2: ")


def test_a_malformed_file_of_dogent_is_left_out_with_a_warning(
    read: Read, write_in_home: Write, write_in_workspace: Write
):
    for text in BROKEN:
        paths = [write_in_home(".dogent/web.json", text), write_in_workspace(".dogent/dogent.json", text)]
        loaded = read()
        assert loaded.settings == Settings()
        assert [
            warning.startswith(f"{path} is ignored") for path, warning in zip(paths, loaded.warnings, strict=True)
        ] == [True, True]


def test_a_file_in_another_encoding_is_an_error(read: Read, home: Path, write_in_home: Write):
    path = write_in_home(".outrider/settings.json", "")
    path.write_bytes('{"images_path": "Bücher"}'.encode("latin-1"))
    with pytest.raises(InvalidInput, match="it is not UTF-8"):
        read()


def test_a_byte_order_mark_does_no_harm(read: Read, write_in_home: Write):
    write_in_home(".outrider/settings.json", '\ufeff{"keep_days": 3}')
    assert (read().settings.keep_days, read().warnings) == (3, ())


def test_a_folder_or_device_in_place_of_a_file_is_an_error(read: Read, home: Path, write_in_workspace: Write):
    link = write_in_workspace(".outrider/settings.json", "{}")
    link.unlink()
    link.symlink_to("/dev/zero")
    with pytest.raises(InvalidInput, match="it is not a file"):
        read()
    link.unlink()
    (home / ".outrider" / "settings.json").mkdir(parents=True)
    with pytest.raises(InvalidInput, match="it is not a file"):
        read()


@pytest.mark.parametrize("target", ["nowhere", "settings.json"])
def test_a_dangling_link_is_an_error_because_it_may_hide_restrictions(
    read: Read, write_in_workspace: Write, target: str
):
    link = write_in_workspace(".outrider/settings.json", "{}")
    link.unlink()
    link.symlink_to(target)
    with pytest.raises(InvalidInput, match="it links to a file that is missing"):
        read()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"serch": {}}, "no setting 'serch' (from {path}), did you mean 'search'?"),
        ({"tools": {"disabled": []}}, "no setting 'tools.disabled' (from {path}), did you mean 'disable'?"),
        ({"search": 5}, "search: Input should be a valid dictionary or instance of SearchSettings (from {path})"),
        ({"toolsets": "web"}, "toolsets: Input should be a valid list (from {path})"),
        ({"data_dir": 5}, "data_dir: must be the path of a folder (from {path})"),
        ({"data_dir": "~nobody-at-all/x"}, "data_dir: Could not determine home directory. (from {path})"),
        ({"data_dir": "a\0b"}, "data_dir: must be the path of a folder (from {path})"),
        ({"egress": {"ports": [99999]}}, "egress.ports: port 99999 is not between 1 and 65535 (from {path})"),
        ({"search": {"order": ["a", 5]}}, "search.order.1: Input should be a valid string (from {path})"),
    ],
)
def test_an_unknown_name_or_a_wrong_value_is_an_error_naming_its_file(
    read: Read, write_in_home: Write, content: Any, message: str
):
    write_in_home(".outrider/web.json", {"profiles": {"b": {"provider": "brave"}}})
    path = write_in_home(".outrider/settings.json", content)
    with pytest.raises(InvalidInput) as caught:
        read()
    assert caught.value.message == f"settings: {message.format(path=path)}"


def test_all_mistakes_are_reported_at_once(read: Read, write_in_home: Write):
    write_in_home(".outrider/settings.json", {"keep_days": 0, "names": "x", "zzz": 1})
    with pytest.raises(InvalidInput) as caught:
        read()
    assert all(name in caught.value.message for name in ("keep_days: ", "names: ", "'zzz'"))


@pytest.mark.parametrize("profiles", [5, "x", [1], None, True])
def test_profiles_that_are_not_an_object_are_ignored_with_a_warning(read: Read, write_in_home: Write, profiles: Any):
    path = write_in_home(".outrider/web.json", {"profiles": profiles})
    assert read().settings.search.profiles == {}
    assert read().warnings == (f"{path}: 'profiles' is not an object; it is ignored",)


@pytest.mark.parametrize("name", [".outrider/web.json", ".dogent/web.json"])
def test_a_profile_that_is_not_an_object_is_left_out_with_a_warning(read: Read, write_in_home: Write, name: str):
    path = write_in_home(name, {"profiles": {"good": {"provider": "brave"}, "bad": "brave"}})
    assert read().settings.search.profiles == {"good": {"provider": "brave"}}
    assert read().warnings == (f"{path}: profile 'bad' is not an object; it is ignored",)


def test_unrelated_settings_of_dogent_are_ignored(read: Read, write_in_home: Write, write_in_workspace: Write):
    write_in_home(".dogent/web.json", {"version": 1})
    write_in_workspace(".dogent/dogent.json", {"profile": "gpt", "images_path": "./pics", "web_profile": 5})
    loaded = read()
    assert (loaded.settings.images_path, loaded.settings.search.profile, loaded.warnings) == ("./pics", "", ())


@pytest.mark.parametrize(
    ("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True), (0o644, True)]
)
def test_keys_that_others_can_read_are_a_warning_with_the_remedy(
    read: Read, write_in_home: Write, mode: int, warned: bool
):
    path = write_in_home(".outrider/keys.json", {"brave": "k"})
    path.chmod(mode)
    loaded = read()
    assert loaded.settings.search.providers == {"brave": {"api_key": "k"}}
    assert loaded.warnings == ((f"{path} can be read by others; run: chmod 600 {path}",) if warned else ())


def test_a_home_that_is_a_file_is_an_empty_home(tmp_path: Path):
    (tmp_path / "file").touch()
    assert load(environ={}, home=tmp_path / "file", workspace=tmp_path / "none").warnings == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(SETTING_NAMES, JSON, max_size=5),
    st.sampled_from(SETTINGS_FILES),
    st.dictionaries(SETTING_NAMES, JSON, max_size=4),
)
def test_any_content_of_any_file_is_read_or_refused(
    write_in_home: Write, home: Path, workspace: Path, content: Any, name: str, other: Any
):
    for each in SETTINGS_FILES:
        write_in_home(each, {})
    write_in_home(name, content)
    (workspace / ".outrider").mkdir(exist_ok=True)
    (workspace / ".outrider" / "settings.json").write_text(json.dumps(other))
    try:
        loaded = load(environ={}, home=home, workspace=workspace)
    except InvalidInput as error:
        assert str(home) in error.message or str(workspace) in error.message  # noqa: PT017
    else:
        assert loaded.list_rows()


def test_very_deeply_nested_json_does_not_crash(read: Read, write_in_workspace: Write):
    write_in_workspace(".outrider/settings.json", '{"search": ' * 900 + "1" + "}" * 900)
    assert len(read().warnings) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="needs a user other than root, who may read everything")
def test_a_file_that_may_not_be_read_is_an_error(read: Read, write_in_home: Write):
    write_in_home(".outrider/settings.json", {}).chmod(0)
    with pytest.raises(InvalidInput, match="Permission denied"):
        read()


def test_a_removed_setting_is_ignored_with_a_warning(read: Read, write_in_home: Write):
    path = write_in_home(".outrider/settings.json", {"agents": {"width": 4, "runs": 7}, "content": {"open_indexes": 3}})
    loaded = read({"OUTRIDER_AGENTS__STREAM_MS": "50", "OUTRIDER_CODE__CPU_S": "60"})
    assert loaded.settings.agents.runs == 7
    assert loaded.warnings == (
        f"{path}: 'agents.width' is ignored: its value is fixed now; remove the setting",
        f"{path}: 'content.open_indexes' is ignored: its value is fixed now; remove the setting",
        "environment: 'agents.stream_ms' is ignored: its value is fixed now; remove the setting",
        "environment: 'code.cpu_s' is ignored: its value is always 600 now; remove the setting",
    )


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"workspace": {"keep_days": 9}}, "no setting 'workspace.keep_days' (from {path}), use keep_days"),
        ({"pages": {"seconds": 9}}, "no setting 'pages.seconds' (from {path}), use pages.timeout_s"),
        ({"browser": {"cdp_url": "chrome"}}, "no setting 'browser.cdp_url' (from {path}), did you mean 'cdp_urls'?"),
        ({"browser": {"idle_seconds": 9}}, "no setting 'browser.idle_seconds' (from {path}), did you mean 'idle_s'?"),
        (
            {"identity": {"quotas": {"person": {"runs": 3}}}},
            "no setting 'identity.quotas.person' (from {path}), use identity.quotas.people with the name *",
        ),
    ],
)
def test_a_renamed_setting_is_an_error_that_names_the_new_one(
    read: Read, write_in_home: Write, setting: dict[str, Any], told: str
):
    path = write_in_home(".outrider/settings.json", setting)
    with pytest.raises(InvalidInput) as error:
        read()
    assert told.format(path=path) in error.value.message
