import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outrider.settings import LoadedSettings, Settings, load
from outrider.settings.layers import flatten_values

Read = Callable[..., LoadedSettings]
Write = Callable[[str, Any], Path]
SETTING = "search.profile"


def find_row(loaded: LoadedSettings, name: str) -> tuple[str, str]:
    """The value and the origin of one setting, as `outrider config show` prints them."""
    return {name: (value, origin) for name, value, origin in loaded.list_rows()}[name]


def test_the_strongest_source_wins_and_each_value_knows_its_origin(
    read: Read, write_in_home: Write, write_in_workspace: Write, workspace: Path
):
    assert find_row(read(), SETTING) == ('""', "default")
    place = write_in_workspace(".dogent/dogent.json", {"web_profile": "dogent", "profile": "some-model"})
    assert find_row(read(), SETTING) == ('"dogent"', str(place))
    place = write_in_home(".outrider/settings.json", {"search": {"profile": "home"}})
    assert find_row(read(), SETTING) == ('"home"', str(place))
    place = write_in_workspace(".outrider/settings.json", {"search": {"profile": "workspace"}})
    assert find_row(read(), SETTING) == ('"workspace"', str(place))
    environ = {"OUTRIDER_SEARCH__PROFILE": "environment"}
    assert find_row(read(environ), SETTING) == ('"environment"', "environment")
    assert find_row(read(environ, search={"profile": "flag"}), SETTING) == ('"flag"', "command line")


def test_merged_values_apply_to_the_settings_and_not_only_their_rows(read: Read, write_in_home: Write):
    write_in_home(".outrider/settings.json", {"search": {"profile": "home", "per_domain": 9}, "toolsets": ["web"]})
    settings = read({"OUTRIDER_SEARCH__PROFILE": "environment"}).settings
    assert (settings.search.profile, settings.search.per_domain, settings.toolsets) == ("environment", 9, ["web"])


def test_profiles_of_all_files_are_merged_field_by_field(read: Read, write_in_home: Write):
    dogent = write_in_home(
        ".dogent/web.json", {"profiles": {"b": {"provider": "brave", "api_key": "old", "timeout_s": 5}}}
    )
    ours = write_in_home(".outrider/web.json", {"profiles": {"b": {"api_key": "new"}, "s": {"provider": "searxng"}}})
    keys = write_in_home(".outrider/keys.json", {"brave": "k1", "google_cse": {"api_key": "k2", "cse_id": "c"}})
    loaded = read({"OUTRIDER_SEARCH__PROFILES__B__TIMEOUT_S": "7"})
    assert loaded.settings.search.profiles == {
        "b": {"provider": "brave", "api_key": "new", "timeout_s": "7"},
        "s": {"provider": "searxng"},
    }
    assert loaded.settings.search.providers == {
        "brave": {"api_key": "k1"},
        "google_cse": {"api_key": "k2", "cse_id": "c"},
    }
    assert find_row(loaded, "search.profiles.b.provider") == ('"brave"', str(dogent))
    assert find_row(loaded, "search.profiles.s.provider") == ('"searxng"', str(ours))
    assert find_row(loaded, "search.profiles.b.timeout_s") == ('"7"', "environment")
    assert find_row(loaded, "search.providers.google_cse.cse_id") == ('"c"', str(keys))


def test_a_profile_may_have_a_dot_in_its_name(read: Read, write_in_home: Write):
    write_in_home(".outrider/web.json", {"profiles": {"my.search": {"provider": "brave", "timeout_s": 3}}})
    loaded = read()
    assert loaded.settings.search.profiles == {"my.search": {"provider": "brave", "timeout_s": 3}}
    assert find_row(loaded, "search.profiles.my.search.timeout_s")[0] == "3"


@pytest.mark.parametrize("template", ["replace-me", "REPLACE WITH YOUR KEY", "", "  ", None])
def test_an_unfilled_template_does_not_hide_a_real_value(read: Read, write_in_home: Write, template: str | None):
    write_in_home(".dogent/web.json", {"profiles": {"b": {"provider": "brave", "api_key": "real"}}})
    write_in_home(".outrider/web.json", {"profiles": {"b": {"provider": "brave", "api_key": template}}})
    write_in_home(".outrider/keys.json", {"tavily": "real"})
    write_in_home(".outrider/settings.json", {"search": {"providers": {"tavily": {"api_key": template}}}})
    search = read().settings.search
    assert search.profiles["b"]["api_key"] == search.providers["tavily"]["api_key"] == "real"


def test_a_template_is_kept_if_there_is_nothing_better(read: Read, write_in_home: Write):
    write_in_home(".outrider/web.json", {"profiles": {"b": {"api_key": "replace-me"}}})
    assert read().settings.search.profiles == {"b": {"api_key": "replace-me"}}


def test_placeholder_like_values_outside_of_credentials_are_kept(read: Read, write_in_workspace: Write):
    write_in_workspace(".outrider/settings.json", {"images_path": "./pictures", "search": {"profile": "brave"}})
    settings = read(images_path="./replaced", search={"profile": ""}).settings
    assert (settings.images_path, settings.search.profile) == ("./replaced", "")


def test_an_empty_section_overrides_nothing(read: Read, write_in_home: Write):
    write_in_home(".outrider/web.json", {"profiles": {"b": {"provider": "brave"}}})
    write_in_home(".outrider/settings.json", {"search": {}, "tools": {"stakes": {}}, "egress": {}})
    assert read(search={"profiles": {}}).settings.search.profiles == {"b": {"provider": "brave"}}


def test_every_setting_has_a_row(read: Read):
    names = {".".join(place) for place, _ in flatten_values(Settings().model_dump(mode="json"))}
    assert {name for name, _, _ in read().list_rows()} == names
    assert {origin for _, _, origin in read().list_rows()} == {"default"}


def test_empty_settings_are_the_defaults(read: Read, home: Path):
    assert read().settings == Settings()
    assert read().warnings == ()
    assert read().settings.database_url == f"sqlite+aiosqlite:///{home / '.outrider' / 'outrider.db'}"


def test_data_is_stored_in_the_given_home(workspace: Path):
    loaded = load(environ={}, home=workspace, workspace=workspace)
    assert loaded.settings.data_dir == workspace / ".outrider"
    assert find_row(loaded, "data_dir")[1] == "default"


def test_without_arguments_the_process_environment_and_home_are_read(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OUTRIDER_KEEP_DAYS", "3")
    assert load().settings.keep_days == 3
    assert load().settings.data_dir == home / ".outrider"
    assert load().environ is os.environ


def test_settings_of_a_home_used_as_workspace_are_not_restricted(home: Path, write_in_home: Write):
    write_in_home(".outrider/settings.json", {"serve": {"port": 1234}})
    loaded = load(environ={}, home=home, workspace=home)
    assert (loaded.settings.serve.port, loaded.warnings) == (1234, ())
