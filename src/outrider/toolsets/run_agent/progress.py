"""Send an agent's thoughts, answer and heartbeats as progress notices."""

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from outrider.agents.limits import RunUsage
from outrider.core.background import run_background
from outrider.core.context import Call

ProgressStyle = Literal["accumulated", "deltas"]


@dataclass
class _TextStream:
    """Streamed text of one kind: its pieces by step, and how much of it has been sent."""

    kind: str
    name: str
    label: str
    steps: dict[int, list[str]] = field(default_factory=dict)
    length: int = 0
    sent_chars: int = 0
    sent_at: float = 0.0
    needs_reset: bool = False  # the text sent so far is no longer the beginning of the text

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
        """Return when the next notice is due, or None.

        The time is monotonic; None means that there is nothing to send.
        """
        if self.length == self.sent_chars and not self.needs_reset:
            return None
        if style == "accumulated":
            max_chars_per_second = 50_000  # each notice repeats the whole text, so long texts are sent less often
            min_interval_s = max(min_interval_s, self.length / max_chars_per_second)
        return self.sent_at + min_interval_s


class ProgressFeed:
    """Sends progress notices about one run to one caller.

    The first word after a pause is sent at once; later ones are collected.

    Args:
        call: The call whose progress token is used; without a token nothing is sent.
        style: Whether each notice contains the text so far (the wire format of `run_agent`) or only new text.
        per_second: Maximum notices per second of each kind.
        heartbeat_interval_s: Seconds of silence after which a heartbeat is sent; some clients drop calls that are
            silent for 60 s.
    """

    def __init__(
        self,
        call: Call,
        style: ProgressStyle,
        per_second: float = 20.0,
        *,
        heartbeat_interval_s: float = 15.0,
    ) -> None:
        self._call = call
        self._style: ProgressStyle = style
        self._min_interval_s = 1 / per_second
        self._heartbeat_interval_s = heartbeat_interval_s
        self._run_ids: Mapping[str, Any] = {}
        self._number = 0
        self._thoughts = _TextStream("run_agent_chain_of_thought", "chainOfThought", "Thinking")
        self._answer = _TextStream("run_agent_generation_tokens", "text", "Answering")
        self._last_sent_at = time.monotonic()
        self._text_added = anyio.Event()

    async def send_payload(self, label: str, output: Mapping[str, Any]) -> None:
        """Send one payload, as `_meta.data` of a progress notice."""
        self._number += 1
        self._last_sent_at = time.monotonic()
        await self._call.progress(self._number, None, label, {"label": label, "output": dict(output)})

    @asynccontextmanager
    async def follow_run(self, run_ids: Mapping[str, Any]) -> AsyncGenerator[None]:
        """Send the text of handled events while the body runs.

        The rest is sent at its end.

        `run_ids` (`childAgentId`, `conversationId` …) are in every payload.
        """
        self._run_ids = run_ids
        try:
            async with run_background(self._pump_updates):
                yield
        finally:
            max_wait_s = 5  # for a caller that does not read
            with anyio.CancelScope(shield=True), anyio.move_on_after(max_wait_s):
                await self._flush_due(last=True)

    async def handle_event(self, kind: str, data: Mapping[str, Any]) -> None:
        """Handle an event of the run (see `RunEvent`)."""
        if kind in ("thinking", "text"):
            stream = self._thoughts if kind == "thinking" else self._answer
            stream.add_piece(data.get("step", 0), data["text"])
            await self._flush_due()
            self._text_added.set()
        elif kind == "status" and "restarted" in data:
            for stream in (self._thoughts, self._answer):
                stream.drop_step(data["restarted"])
        elif kind == "usage":
            await self._send_message(f"{RunUsage.from_dict(data['tree']).describe()} so far")
        elif kind == "tool_started":
            await self._send_message(f"{data.get('title') or data['tool']}")

    async def _send_message(self, message: str) -> None:
        self._number += 1
        self._last_sent_at = time.monotonic()
        await self._call.progress(self._number, None, message)

    async def _pump_updates(self) -> None:
        while True:
            self._text_added = anyio.Event()
            due_times = (
                stream.compute_due_time(self._style, self._min_interval_s) for stream in (self._thoughts, self._answer)
            )
            heartbeat_at = self._last_sent_at + self._heartbeat_interval_s
            wake_at = min((due for due in due_times if due is not None), default=heartbeat_at)
            with anyio.move_on_after(max(0.0, wake_at - time.monotonic())):
                await self._text_added.wait()
            await self._flush_due()
            if time.monotonic() - self._last_sent_at >= self._heartbeat_interval_s:
                await self._send_message("still working")

    async def _flush_due(self, *, last: bool = False) -> None:
        now = time.monotonic()
        for stream in (self._thoughts, self._answer):
            due = stream.compute_due_time(self._style, self._min_interval_s)
            if due is not None and (last or due <= now):
                text, marks = stream.text, {}
                if self._style == "deltas":
                    marks = {"delta": True} | ({"reset": True} if stream.needs_reset else {})
                unsent = text[stream.sent_chars :] if marks and not stream.needs_reset else text
                stream.sent_chars, stream.sent_at, stream.needs_reset = len(text), now, False
                payload = {"type": stream.kind, **self._run_ids, stream.name: unsent, **marks}
                try:
                    await self.send_payload(stream.label, payload)
                except BaseException:  # cancelled at the end of the run, perhaps before it was sent
                    stream.needs_reset = True
                    raise


def build_store_payload(*resources: Mapping[str, Any]) -> dict[str, Any]:
    """Build the payload that shows resources before the work begins: `output.contents`."""
    contents = [{"type": "resource", "resource": dict(resource)} for resource in resources]
    return {"type": "store_resource", "contents": contents}
