"""Statistics summarize many calls."""

from outrider.core.call_history import CallSample, FailedCall
from outrider.core.call_stats import (
    bucket_calls,
    group_failures,
    normalize_message,
    summarize_calls,
    summarize_calls_by,
)


def build_sample(
    seconds: float = 1.0, *, at: float = 0.0, tool: str = "t", outcome: str = "ok", provider: str = ""
) -> CallSample:
    return CallSample(at, "set", tool, provider or None, outcome, seconds, round(seconds * 100))


def test_median_and_95th_percentile_are_computed():
    found = summarize_calls("t", [build_sample(number) for number in range(1, 101)])
    assert (found.middle_seconds, found.high_seconds) == (51, 96)
    assert (found.middle_size, found.high_size) == (5_100, 9_600)


def test_statistics_of_no_calls_are_zero():
    found = summarize_calls("t", [])
    assert (found.count, found.failed, found.failing, found.high_seconds) == (0, 0, 0.0, 0.0)


def test_questions_and_cancelled_calls_are_not_failures():
    outcomes = ("ok", "asks", "cancelled", "timeout", "bug", "error")
    assert summarize_calls("t", [build_sample(outcome=each) for each in outcomes]).failed == 3


def test_groups_are_sorted_by_frequency_and_calls_without_a_key_are_left_out():
    calls = [build_sample(tool="a"), build_sample(tool="b", provider="x"), build_sample(tool="b")]
    assert [(each.name, each.count) for each in summarize_calls_by(calls, lambda each: each.tool)] == [
        ("b", 2),
        ("a", 1),
    ]
    assert [each.name for each in summarize_calls_by(calls, lambda each: each.provider)] == ["x"]


def test_calls_are_counted_in_their_time_interval():
    calls = [build_sample(at=at) for at in (0, 1, 9.99)] + [
        build_sample(at=5, outcome="bug"),
        build_sample(at=-1),
        build_sample(at=10),
    ]
    assert [(each.fine, each.failed) for each in bucket_calls(calls, 0, 10, 2)] == [(2, 0), (1, 1)]


def test_failures_that_differ_only_in_details_are_grouped():
    failures = [
        FailedCall(9.0, "a", "timeout", "http://shop.example/7?q=1 did not answer within 30 seconds"),
        FailedCall(5.0, "b", "timeout", "https://news.example/ did not answer within 2.5 seconds"),
        FailedCall(4.0, "a", "blocked", "http://shop.example/ did not answer within 30 seconds"),
    ]
    first, second = group_failures(failures)
    assert (first.outcome, first.count, first.first, first.last, first.tools) == ("timeout", 2, 5.0, 9.0, ("a", "b"))
    assert first.example == failures[0].message
    assert second.outcome == "blocked"


def test_a_normalized_message_has_no_names_numbers_or_ids():
    one = "no element '#row-7' on shop.example (incident 0a1b2c3d, run 4f9c0f6e-0a63-4f3c-9a51-9d1c3b1f8a01)"
    other = 'no element "a > b" on x.y.example (incident ffffffff, run 00000000-0a63-4f3c-9a51-9d1c3b1f8a01)'
    assert normalize_message(one) == normalize_message(other)
    assert normalize_message("it is broken") == "it is broken"
