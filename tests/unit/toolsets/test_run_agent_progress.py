"""Progress notices of a run: few, complete and in order."""

from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.context import Call
from outrider.toolsets.run_agent.progress import ProgressFeed, ProgressStyle
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio
IDS = {"childAgentId": "echo", "conversationId": "cnv_1"}


class ProgressRecorder:
    """A caller that records its progress notices."""

    def __init__(self) -> None:
        self.notices: list[tuple[float, str, Any]] = []

    async def __call__(
        self, done: float, total: float | None, message: str, data: dict[str, Any] | None = None
    ) -> None:
        self.notices.append((done, message, data["output"] if data else None))

    def outputs(self, kind: str) -> list[dict[str, Any]]:
        return [output for _, _, output in self.notices if output and output["type"] == kind]


async def follow_events(style: ProgressStyle, events: list[tuple[str, dict[str, Any]]]) -> ProgressRecorder:
    recorder = ProgressRecorder()
    feed = ProgressFeed(Call(progress=recorder), style)
    async with feed.follow_run(IDS):
        for kind, data in events:
            await feed.handle_event(kind, data)
    return recorder


def build_events(*texts: str, step: int = 1, kind: str = "text") -> list[tuple[str, dict[str, Any]]]:
    return [(kind, {"text": text, "step": step}) for text in texts]


async def test_many_words_cause_few_notices_that_contain_the_text_so_far():
    recorder = await follow_events("accumulated", build_events(*(f"word{number} " for number in range(200))))
    outputs = recorder.outputs("run_agent_generation_tokens")
    assert len(outputs) <= 5
    assert outputs[-1]["text"].count("word") == 200
    assert all(outputs[-1]["text"].startswith(each["text"]) for each in outputs)
    assert all(each | IDS == each for each in outputs)


async def test_deltas_make_up_the_text():
    recorder = await follow_events("deltas", build_events("one ", "two ", "three"))
    outputs = recorder.outputs("run_agent_generation_tokens")
    assert "".join(each["text"] for each in outputs) == "one two three"
    assert all(each["delta"] for each in outputs)


async def test_thinking_and_answer_are_separate_and_steps_are_lines():
    events = [*build_events("hm", kind="thinking"), *build_events("first"), *build_events("second", step=2)]
    recorder = await follow_events("accumulated", events)
    assert recorder.outputs("run_agent_chain_of_thought")[-1]["chainOfThought"] == "hm"
    assert recorder.outputs("run_agent_generation_tokens")[-1]["text"] == "first\nsecond"


@pytest.mark.parametrize("style", ["accumulated", "deltas"])
async def test_restarting_a_step_discards_its_earlier_words(style: ProgressStyle):
    events = [
        *build_events("kept"),
        *build_events("void", step=2),
        ("status", {"restarted": 2}),
        *build_events("new", step=2),
    ]
    last = (await follow_events(style, events)).outputs("run_agent_generation_tokens")[-1]
    assert last["text"] == "kept\nnew"
    assert last.get("reset", style == "accumulated")


async def test_tools_are_named_without_a_payload():
    recorder = await follow_events(
        "accumulated", [("tool_started", {"tool": "web_search", "title": "Web search", "step": 1})]
    )
    assert [(message, output) for _, message, output in recorder.notices] == [("Web search", None)]


async def test_a_long_silent_agent_causes_heartbeats():
    recorder = ProgressRecorder()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with ProgressFeed(Call(progress=recorder), "accumulated", heartbeat_interval_s=0.01).follow_run(IDS):
            while len(recorder.notices) < 2:
                await anyio.lowlevel.checkpoint()
    assert [message for _, message, _ in recorder.notices[:2]] == ["still working", "still working"]


@given(st.lists(st.tuples(st.sampled_from(["text", "thinking"]), st.text(max_size=5), st.integers(1, 3)), max_size=20))
async def test_progress_numbers_always_rise_and_deltas_are_complete(events: list[tuple[str, str, int]]):
    ordered = sorted(events, key=lambda event: event[2])
    recorder = await follow_events("deltas", [(kind, {"text": text, "step": step}) for kind, text, step in ordered])
    numbers = [done for done, _, _ in recorder.notices]
    assert numbers == sorted(set(numbers))
    for kind, name, output in (
        ("text", "text", "run_agent_generation_tokens"),
        ("thinking", "chainOfThought", "run_agent_chain_of_thought"),
    ):
        steps: dict[int, str] = {}
        for each, text, step in ordered:
            if each == kind:
                steps[step] = steps.get(step, "") + text
        assert "".join(each[name] for each in recorder.outputs(output)) == "\n".join(steps.values())
