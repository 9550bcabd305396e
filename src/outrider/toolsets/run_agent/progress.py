"""What a caller sees of an agent at work: its query, its thinking and its answer as they come, and signs of life."""

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from outrider.core.background import run_background
from outrider.core.context import Call

ProgressStyle = Literal["accumulated", "deltas"]
MAX_NOTICES_PER_SECOND = (
    20.0  # notices of a kind: the first word after a pause goes out at once, what follows is gathered
)
HEARTBEAT_INTERVAL_S = (
    15.0  # seconds of silence after which a sign of life is given: some clients cut silent calls at 60
)


@dataclass
class _TextStream:
    """One kind of text: the pieces by step, and how much of it has been told."""

    kind: str
    name: str
    label: str
    steps: dict[int, list[str]] = field(default_factory=dict)
    length: int = 0
    sent_chars: int = 0
    sent_at: float = 0.0
    needs_reset: bool = False  # what was told is no longer the beginning of the text

    @property
    def text(self) -> str:
        return "\n".join("".join(pieces) for pieces in self.steps.values())

    def add_piece(self, step: int, piece: str) -> None:
        if step not in self.steps:
            self.length += bool(self.steps)
            self.steps[step] = []
        self.steps[step].append(piece)
        self.length += len(piece)

    def drop_step(self, step: int) -> None:
        if self.steps.pop(step, None) is not None:
            self.needs_reset, self.length = True, len(self.text)

    def compute_due_time(self, style: ProgressStyle, min_interval_s: float) -> float | None:
        """When it is to be told; None if there is nothing to tell."""
        max_chars_per_second = (
            50_000  # characters a second that accumulated text may cost: longer texts are told less often
        )
        if self.length == self.sent_chars and not self.needs_reset:
            return None
        return self.sent_at + (
            max(min_interval_s, self.length / max_chars_per_second) if style == "accumulated" else min_interval_s
        )


class ProgressFeed:
    """Tells one caller about one run.

    Args:
        call: Whose progress token is told; without one nothing is sent.
        style: Whether each notice holds the text so far (what the wire format of `run_agent` says) or what is new.
        per_second: Notices of a kind at most.
        heartbeat_interval_s: Seconds of silence after which a sign of life is given.
    """

    def __init__(
        self,
        call: Call,
        style: ProgressStyle,
        per_second: float = MAX_NOTICES_PER_SECOND,
        *,
        heartbeat_interval_s: float = HEARTBEAT_INTERVAL_S,
    ) -> None:
        self._call = call
        self._style: ProgressStyle = style
        self._min_interval_s = 1 / per_second
        self._heartbeat_interval_s = heartbeat_interval_s
        self._facts: Mapping[str, Any] = {}
        self._number = 0
        self._thoughts = _TextStream("run_agent_chain_of_thought", "chainOfThought", "Thinking")
        self._answer = _TextStream("run_agent_generation_tokens", "text", "Answering")
        self._last_sent_at = time.monotonic()
        self._waiting = anyio.Event()

    async def send_payload(self, label: str, output: Mapping[str, Any]) -> None:
        """One payload, as `_meta.data` of a progress notice."""
        self._number += 1
        self._last_sent_at = time.monotonic()
        await self._call.progress(self._number, None, label, {"label": label, "output": dict(output)})

    @asynccontextmanager
    async def follow_run(self, facts: Mapping[str, Any]) -> AsyncGenerator[None]:
        """Sends what was taken while the body runs, and the rest when it is over.

        `facts` (`childAgentId`, `conversationId` …) are in every payload.
        """
        self._facts = facts
        try:
            async with run_background(self._pump_updates):
                yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await self._flush_due(last=True)

    async def handle_event(self, kind: str, data: Mapping[str, Any]) -> None:
        """Takes an event of the run (see `RunEvent`)."""
        if kind in ("thinking", "text"):
            stream = self._thoughts if kind == "thinking" else self._answer
            stream.add_piece(data.get("step", 0), data["text"])
            await self._flush_due()
            self._waiting.set()
        elif kind == "status" and "restarted" in data:
            self._drop_step(data["restarted"])
        elif kind == "tool_started":
            await self._send_message(f"{data.get('title') or data['tool']}")

    def _drop_step(self, step: int) -> None:
        for stream in (self._thoughts, self._answer):
            stream.drop_step(step)

    async def _send_message(self, message: str) -> None:
        self._number += 1
        self._last_sent_at = time.monotonic()
        await self._call.progress(self._number, None, message)

    async def _pump_updates(self) -> None:
        while True:
            self._waiting = anyio.Event()
            now, due = time.monotonic(), min(self._list_due_times(), default=None)
            with anyio.move_on_after(
                max(0.0, self._last_sent_at + self._heartbeat_interval_s - now if due is None else due - now)
            ):
                await self._waiting.wait()
            await self._flush_due()
            if time.monotonic() - self._last_sent_at >= self._heartbeat_interval_s:
                await self._send_message("at work")

    def _list_due_times(self) -> list[float]:
        dues = (stream.compute_due_time(self._style, self._min_interval_s) for stream in (self._thoughts, self._answer))
        return [due for due in dues if due is not None]

    async def _flush_due(self, *, last: bool = False) -> None:
        now = time.monotonic()
        for stream in (self._thoughts, self._answer):
            due = stream.compute_due_time(self._style, self._min_interval_s)
            if due is not None and (last or due <= now):
                await self._send_text(stream, now)

    async def _send_text(self, stream: _TextStream, now: float) -> None:
        text, fresh = stream.text, {}
        if self._style == "deltas":
            fresh = {"delta": True} | ({"reset": True} if stream.needs_reset else {})
        shown = text[stream.sent_chars :] if fresh and not stream.needs_reset else text
        stream.sent_chars, stream.sent_at, stream.needs_reset = len(text), now, False
        await self.send_payload(stream.label, {"type": stream.kind, **self._facts, stream.name: shown, **fresh})


def build_store_payload(*resources: Mapping[str, Any]) -> dict[str, Any]:
    """The payload that shows resources before the work: `output.contents`."""
    return {"type": "store_resource", "contents": [{"type": "resource", "resource": dict(each)} for each in resources]}
