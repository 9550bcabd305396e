import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from outrider.settings import LoadedSettings
from outrider.settings.load import SECRET_MASK

Read = Callable[..., LoadedSettings]
Write = Callable[[str, Any], Path]
API_KEY = "sk-4f9a77c1"


def list_shown(loaded: LoadedSettings) -> dict[str, str]:
    return {name: value for name, value, _ in loaded.list_rows()}


@pytest.mark.parametrize(
    "field", ["api_key", "apiKey", "token", "password", "pass", "secret", "subscription", "folder_id", "headers"]
)
@pytest.mark.parametrize(
    "value", [API_KEY, {"deep": API_KEY}, [API_KEY], [{"a": {"b": API_KEY}}]], ids=["text", "object", "list", "mixed"]
)
def test_possible_credentials_are_masked(read: Read, write_in_home: Write, field: str, value: Any):
    write_in_home(".outrider/web.json", {"profiles": {"b": {"provider": "brave", field: value}}})
    write_in_home(".outrider/keys.json", {"brave": {field: value}})
    rows = list_shown(read())
    assert API_KEY not in json.dumps(rows)
    assert SECRET_MASK in rows.values()


def test_a_bare_key_and_a_profile_that_is_only_a_string_are_masked(read: Read, write_in_home: Write):
    write_in_home(".outrider/keys.json", {"brave": API_KEY})
    write_in_home(".outrider/settings.json", {"search": {"profiles": {"odd": API_KEY}}})
    rows = list_shown(read())
    assert rows["search.providers.brave.api_key"] == rows["search.profiles.odd"] == SECRET_MASK


def test_fields_next_to_a_credential_are_shown(read: Read, write_in_home: Write):
    profile = {"provider": "searxng", "endpoint": "https://s.example/search", "timeout_s": 5, "user_agent": "me"}
    write_in_home(".outrider/web.json", {"profiles": {"s": profile}})
    rows = list_shown(read())
    assert {name: rows[f"search.profiles.s.{name}"] for name in profile} == {
        name: json.dumps(value) for name, value in profile.items()
    }


def test_a_server_token_is_masked_and_an_empty_one_is_not(read: Read):
    assert list_shown(read({"OUTRIDER_SERVE__TOKEN": API_KEY}))["serve.token"] == SECRET_MASK
    assert list_shown(read())["serve.token"] == '""'


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("database", f"postgresql+asyncpg://me:{API_KEY}@db.example/outrider"),
        ("database", f"postgresql+asyncpg://me:a@b{API_KEY}@db.example/outrider"),
        ("database", f"postgresql+asyncpg://db.example/outrider?user=me&password={API_KEY}"),
        ("egress.proxy", f"http://me:{API_KEY}@proxy.example:3128"),
        ("search.profiles.s.endpoint", f"https://s.example/search?key={API_KEY}&x=1"),
    ],
)
def test_a_password_inside_an_address_is_masked(read: Read, name: str, address: str):
    value = list_shown(read({f"OUTRIDER_{name.replace('.', '__').upper()}": address}))[name]
    assert API_KEY not in value
    assert SECRET_MASK in value


@pytest.mark.parametrize(("name", "value"), [("search.keyless", "true"), ("keep_days", "30.0"), ("database", '""')])
def test_settings_that_only_sound_secret_are_shown(read: Read, name: str, value: str):
    assert list_shown(read())[name] == value


def test_neither_a_repr_nor_an_error_of_the_search_settings_shows_keys(read: Read, write_in_home: Write):
    write_in_home(".outrider/keys.json", {"brave": API_KEY})
    assert API_KEY not in repr(read().settings)
