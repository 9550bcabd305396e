"""Saved sign-ins."""

import json

import pytest

from outrider.browser.session.states import StateStore
from outrider.core.errors import InvalidInput, NotConfigured, NotFound
from support.timeouts import EVENT_TIMEOUT_S


async def open_signed_in(open_session, site):
    session = await open_session("/login")
    async with session.acquire_page() as page:
        script = """() => { document.querySelector('[name=user]').value = 'ada';
          document.querySelector('[name=password]').value = 'lovelace'; document.querySelector('button').click() }"""
        await page.evaluate_in("", script)
        assert await page.loading.wait_until(lambda: page.url.endswith("/account"), EVENT_TIMEOUT_S)
    return session


async def test_a_sign_in_is_saved_and_used_again(open_session, browsers, site):
    session = await open_signed_in(open_session, site)
    kept = await browsers.save_state(session, " Shop ")
    assert kept.state_id == "shop"
    assert kept.cookies == 1
    assert kept.origins == (site.here,)
    assert kept.path.stat().st_mode & 0o777 == 0o600
    assert "lovelace" not in kept.path.read_text()
    again = await open_session("/account", state_id="SHOP")
    async with again.acquire_page() as page:
        told = await page.evaluate_in("", "() => [document.querySelector('h1').textContent, localStorage.visits]")
    assert told == ["Hello, ada", "2"]


async def test_an_unknown_state_is_reported_before_anything_opens(open_session, browsers):
    before = len(browsers.list_sessions())
    with pytest.raises(NotFound, match="no saved state 'nobody'"):
        await open_session("/account", state_id="nobody")
    assert len(browsers.list_sessions()) == before


def test_states_are_listed_and_deleted(tmp_path):
    states = StateStore(tmp_path / "states")
    assert states.list_states() == []
    states.save(None, {"cookies": [], "origins": []})
    states.save("b-2", {"cookies": [{"name": "a", "value": "b"}], "origins": []})
    assert [(each.state_id, each.cookies) for each in states.list_states()] == [("b-2", 1), ("default", 0)]
    states.delete("B-2")
    assert [each.state_id for each in states.list_states()] == ["default"]
    with pytest.raises(NotFound):
        states.delete("b-2")


@pytest.mark.parametrize("name", ["../x", "a/b", "a b", "ä", "x" * 65, "a.b"])
def test_invalid_names_are_refused(tmp_path, name):
    with pytest.raises(InvalidInput, match="state_id"):
        StateStore(tmp_path).save(name, {})


def test_with_a_key_states_are_encrypted(tmp_path):
    state = {"cookies": [{"name": "secret", "value": "token"}], "origins": []}
    kept = StateStore(tmp_path, "a passphrase").save("x", state)
    assert kept.encrypted
    assert kept.cookies is None
    assert "token" not in kept.path.read_text()
    assert StateStore(tmp_path, "a passphrase").load("x") == state
    for key in ("", "another"):
        with pytest.raises(NotConfigured, match="x"):
            StateStore(tmp_path, key).load("x")


def test_a_damaged_encrypted_state_does_not_open(tmp_path):
    states = StateStore(tmp_path, "k")
    path = states.save("x", {"cookies": []}).path
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"data": data["data"][:-8] + "AAAAAAA="}))
    with pytest.raises(NotConfigured):
        states.load("x")
