"""Test the validation of identity settings."""

from typing import Any

import pytest
from pydantic import ValidationError

from outrider.identity.settings import IdentitySettings

GOOD: dict[str, Any] = {"issuer": "https://login.example", "resource": "https://tools.example/mcp"}


@pytest.mark.parametrize(
    ("oauth", "message"),
    [
        ({"issuer": "https://login.example"}, "`resource` is required"),
        (GOOD | {"issuer": "http://login.example"}, "`issuer` must begin with https://"),
        (GOOD | {"jwks_uri": "http://login.example/keys"}, "`jwks_uri` must begin with https://"),
    ],
)
def test_unsafe_settings_are_refused(oauth: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message):
        IdentitySettings.model_validate({"oauth": oauth})


def test_it_is_off_without_an_issuer():
    assert not IdentitySettings().is_enabled
    assert not IdentitySettings().quotas.has_limits
    assert IdentitySettings(tokens=True).is_enabled
    assert IdentitySettings.model_validate({"oauth": GOOD}).is_enabled
    assert IdentitySettings.model_validate({"quotas": {"people": {"ann": {"runs": 1}}}}).quotas.has_limits


def test_lists_may_be_written_as_one_text_as_in_the_environment():
    chosen = IdentitySettings.model_validate({"oauth": GOOD | {"scopes": "openid tools", "audiences": "a, b"}})
    assert (chosen.oauth.scopes, chosen.oauth.audiences) == (["openid", "tools"], ["a", "b"])
