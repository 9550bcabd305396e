"""Tokens are valid once, cookies are signed, and attempts are limited."""

from base64 import urlsafe_b64encode

from outrider.dashboard.rate_limit import TokenBucketLimiter
from outrider.dashboard.sign_in_tokens import COOKIE_LIFETIME_S, SignInTokens
from outrider.dashboard.viewer import Viewer


def test_a_token_works_once_and_the_next_one_is_published():
    launch, published = SignInTokens(), []
    launch.on_change = published.append
    first = launch.token
    assert launch.redeem(first)
    assert not launch.redeem(first)
    assert published == [launch.token]
    assert launch.redeem(launch.token)


def test_an_operators_token_can_be_used_repeatedly():
    launch = SignInTokens("k" * 32)
    assert launch.redeem("k" * 32)
    assert launch.redeem("k" * 32)
    assert not launch.redeem("k" * 31)
    assert not launch.redeem("k" * 31 + "\ud800")


def test_a_cookie_identifies_its_browser_until_it_expires():
    now = [1_000.0]
    launch = SignInTokens(clock=lambda: now[0])
    cookie = launch.issue_cookie()
    assert launch.verify_cookie(cookie) == Viewer(cookie.partition(".")[0])
    assert launch.verify_cookie(cookie) != launch.verify_cookie(launch.issue_cookie())
    now[0] += COOKIE_LIFETIME_S
    assert launch.verify_cookie(cookie) is None


def test_forged_cookies_and_those_of_another_process_are_rejected():
    launch = SignInTokens()
    cookie = launch.issue_cookie()
    name, until, _, signature = cookie.split(".")
    olga = urlsafe_b64encode(b'["olga", "t1"]').decode()
    assert SignInTokens().verify_cookie(cookie) is None
    assert launch.verify_cookie(f"{name}.{int(until) + 1}..{signature}") is None
    assert launch.verify_cookie(f"{name}.{until}.{olga}.{signature}") is None
    assert launch.verify_cookie(launch.issue_cookie("olga", "t1")).person == "olga"
    for nonsense in ("", ".", "..", "a.b.c", "\ud800", cookie[:-1]):
        assert launch.verify_cookie(nonsense) is None


def test_cookies_of_an_operators_token_are_valid_at_every_replica():
    one, other = SignInTokens("k" * 32), SignInTokens("k" * 32)
    assert other.verify_cookie(one.issue_cookie()) is not None


def test_a_burst_passes_and_then_the_rate_limit_holds_per_caller():
    now = [0.0]
    limit = TokenBucketLimiter(60, 3, lambda: now[0])
    assert [limit.try_acquire("me") for _ in range(5)] == [True, True, True, False, False]
    assert limit.try_acquire("you")
    now[0] += 1
    assert [limit.try_acquire("me") for _ in range(2)] == [True, False]
