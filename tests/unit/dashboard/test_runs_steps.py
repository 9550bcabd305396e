"""Steps on a page, and two runs side by side."""

from dataclasses import replace
from typing import Any

from outrider.agents.evaluations import EvaluationRecord
from outrider.agents.limits import RunUsage
from outrider.agents.views.step_list import StepRow, align_steps
from outrider.dashboard.runs.steps import build_step_views


def build_call_row(number: int, tool: str, at: float = 0.0, **values: Any) -> StepRow:
    row = StepRow("run", f"call_{number}", number, "tool", tool, {}, "ok", 1.0, RunUsage(), at, at + 1.0)
    return replace(row, **values)


def build_thought_row(number: int) -> StepRow:
    return replace(build_call_row(number, "m"), key=f"model:{number}", kind="model", text="Hm.")


def test_pictures_taken_during_a_call_are_shown_next_to_it_only():
    rows = [
        build_thought_row(1),
        build_call_row(1, "clickElement", 10.0),
        build_call_row(2, "navigateToUrl", 20.0),
        build_call_row(3, "web_fetch", 30.0),
    ]
    seen = [
        EvaluationRecord("ev", "agent", 4, "click", details={"tool": "clickElement"}, at=10.5),
        EvaluationRecord("ev", "screenshot", 4, "Cart", artifact_id="a", at=10.6),
        EvaluationRecord("ev", "agent", 5, "go", details={"tool": "navigateToUrl"}, at=20.5),
        EvaluationRecord("ev", "screenshot", 5, "", "https://shop.example", artifact_id="b", at=20.6),
        EvaluationRecord("ev", "screenshot", 5, "no picture", artifact_id=None, at=20.7),
        EvaluationRecord("ev", "screenshot", 6, "Elsewhere", artifact_id="c", at=30.5),
    ]
    shown = [each for step in build_step_views(rows, {}, seen) for each in step.calls]
    assert [[(one.artifact_id, one.title) for one in each.pictures] for each in shown] == [
        [("a", "Cart")],
        [("b", "https://shop.example")],
        [],
    ]


def test_a_running_call_has_no_pictures_and_a_changed_step_a_new_stamp():
    running = build_call_row(1, "clickElement", ended_at=None, outcome=None, seconds=None)
    before, after = build_step_views([running], {})[0], build_step_views([build_call_row(1, "clickElement")], {})[0]
    assert before.calls[0].pictures == []
    assert before.stamp != after.stamp
    assert after.stamp == build_step_views([build_call_row(1, "clickElement")], {})[0].stamp


def test_only_displayable_images_are_pictures_and_only_web_addresses_sources():
    kept = [
        {"id": "p", "content_type": "image/png"},
        {"id": "s", "content_type": "image/svg+xml"},
        {"title": "no id"},
        "x",
    ]
    sources = {"a": {"title": "A", "href": "https://a.example"}, "b": {"href": "javascript:1"}, "c": "x"}
    (shown,) = build_step_views([build_call_row(1, "web_fetch", files=kept, sources=sources)], {})[0].calls
    assert [each.artifact_id for each in shown.pictures] == ["p"]
    assert [each["id"] for each in shown.files] == ["s"]
    assert shown.sources == [("A", "https://a.example")]


def test_steps_of_two_runs_are_aligned_by_their_tools():
    left = [
        build_thought_row(1),
        build_call_row(1, "web_search"),
        build_thought_row(2),
        build_call_row(2, "web_fetch"),
        build_thought_row(3),
    ]
    right = [
        build_thought_row(1),
        build_call_row(1, "web_search", arguments={"query": "tea"}),
        build_thought_row(2),
        build_thought_row(3),
    ]
    pairs = align_steps(left, right)
    assert [each.left for each in pairs if each.left] == left
    assert [each.right for each in pairs if each.right] == right
    searched = next(each for each in pairs if each.left is left[1])
    assert (searched.right, searched.differs) == (right[1], True)
    fetched = next(each for each in pairs if each.left is left[3])
    assert (fetched.right, fetched.differs) == (None, True)
    assert not pairs[0].differs


def test_a_run_compared_with_nothing_is_shown_alone():
    assert [each.right for each in align_steps([build_thought_row(1), build_call_row(1, "a")], [])] == [None, None]
    assert align_steps([], []) == []
