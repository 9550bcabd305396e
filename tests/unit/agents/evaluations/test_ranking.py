"""Test the ranking of failures and the detection of bot checks."""

from typing import Any

import pytest

from outrider.agents.evaluations import EvaluationRecord
from outrider.agents.evaluations.ranking import rank_failures, weigh_failure
from outrider.agents.evaluations.robot_check import is_robot_check

HOST = "shop.example"


def build_failure(kind: Any, summary: str, url: str = "", **details: Any) -> EvaluationRecord:
    return EvaluationRecord("e", kind, 1, summary, url, True, details=details)


OWN_500 = build_failure("network", "GET /api: 500", f"https://{HOST}/api", status=500)
OTHER_404 = build_failure("network", "GET /x: 404", "https://cdn.example/x", status=404)
NO_ANSWER = build_failure("network", "GET /y: refused", "https://cdn.example/y", error="net::ERR_CONNECTION_REFUSED")
ADS = build_failure("network", "GET /collect: 500", "https://www.google-analytics.com/collect", status=500)
ICON = build_failure("network", "GET /favicon.ico: 404", f"https://{HOST}/favicon.ico", status=404)
THROWN = build_failure("console", "exception: boom", level="exception")
CONSOLE_ERROR = build_failure("console", "error: oh", level="error")
ECHOED = build_failure("console", "error: Failed to load resource: 404", level="error")
LATE = build_failure("agent", "clickElement: timeout: it did not finish in time")
WALL = build_failure("agent", "the page is a bot check (captcha)")


def test_the_weights_are_those_of_the_contract():
    found = {
        each.summary: weigh_failure(each, HOST)
        for each in (OWN_500, OTHER_404, NO_ANSWER, ADS, THROWN, CONSOLE_ERROR, LATE, WALL)
    }
    assert list(found.values()) == [165, 85, 95, 45, 110, 70, 95, 105]


def test_failures_of_the_site_rank_above_third_party_failures_and_noise():
    ranked = rank_failures([ADS, ICON, ECHOED, OTHER_404, CONSOLE_ERROR, THROWN, OWN_500], HOST, 8)
    assert ranked == [OWN_500, THROWN, OTHER_404, CONSOLE_ERROR, ADS, ICON, ECHOED]


def test_repeated_failures_are_merged_and_the_limit_is_kept():
    again = build_failure("console", THROWN.summary, level="exception")
    assert rank_failures([THROWN, again, CONSOLE_ERROR], HOST, 8) == [THROWN, CONSOLE_ERROR]
    assert rank_failures([CONSOLE_ERROR, THROWN], HOST, 1) == [THROWN]


@pytest.mark.parametrize(
    ("title", "text", "frames", "wall"),
    [
        ("Just a moment...", "", (), True),
        ("Shop", "Please verify you are human", (), True),
        ("Shop", "Press and hold", ("https://challenges.cloudflare.com/cdn-cgi/x",), True),
        ("What is a captcha?", "A captcha tells people from robots. " * 60, (), False),
        ("Shop", "Tea and coffee", ("https://www.google.com/recaptcha/api2/anchor?x",), False),
    ],
)
def test_only_an_actual_challenge_page_counts_as_a_robot_check(
    title: str, text: str, frames: tuple[str, ...], wall: bool
):
    assert is_robot_check(title, text, frames) is wall
