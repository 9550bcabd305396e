"""Who may look: tokens that are spent, cookies that are signed, and how often somebody may ask."""

from outrider.dashboard.launch import SIGNED_IN, Launch
from outrider.dashboard.limits import RateLimit


def test_a_token_is_good_once_and_the_next_is_told():
    launch, told = Launch(), []
    launch.changed = told.append
    first = launch.token
    assert launch.spend(first)
    assert not launch.spend(first)
    assert told == [launch.token]
    assert launch.spend(launch.token)


def test_an_operators_token_stays():
    launch = Launch("k" * 32)
    assert launch.spend("k" * 32)
    assert launch.spend("k" * 32)
    assert not launch.spend("k" * 31)
    assert not launch.spend("k" * 31 + "\ud800")


def test_a_cookie_names_its_browser_until_it_is_too_old():
    now = [1_000.0]
    launch = Launch(clock=lambda: now[0])
    cookie = launch.admit()
    assert launch.viewer(cookie) == cookie.partition(".")[0]
    assert launch.viewer(cookie) != launch.viewer(launch.admit())
    now[0] += SIGNED_IN
    assert launch.viewer(cookie) is None


def test_a_cookie_of_another_start_or_another_hand_is_none():
    launch = Launch()
    cookie = launch.admit()
    name, until, signature = cookie.split(".")
    assert Launch().viewer(cookie) is None
    assert launch.viewer(f"{name}.{int(until) + 1}.{signature}") is None
    for nonsense in ("", ".", "..", "a.b.c", "\ud800", cookie[:-1]):
        assert launch.viewer(nonsense) is None


def test_cookies_of_an_operators_token_are_good_at_every_replica():
    one, other = Launch("k" * 32), Launch("k" * 32)
    assert other.viewer(one.admit()) is not None


def test_so_many_at_once_then_so_many_a_minute_each_by_itself():
    now = [0.0]
    limit = RateLimit(60, 3, lambda: now[0])
    assert [limit.take("me") for _ in range(5)] == [True, True, True, False, False]
    assert limit.take("you")
    now[0] += 1
    assert [limit.take("me") for _ in range(2)] == [True, False]
