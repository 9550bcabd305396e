"""What a caller sees of an agent at work: its query, its thinking and its answer as they come, and signs of life."""

import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from outrider.core.beside import beside
from outrider.core.context import Call

Style = Literal["accumulated", "deltas"]
PER_SECOND = 20.0  # notices of a kind: the first word after a pause goes out at once, what follows is gathered
BEAT = 15.0  # seconds of silence after which a sign of life is given: some clients cut silent calls at 60
FULL_RATE = 50_000  # characters a second that accumulated text may cost: longer texts are told less often


@dataclass
class _Stream:
    """One kind of text: the pieces by step, and how much of it has been told."""

    kind: str
    name: str
    label: str
    steps: dict[int, list[str]] = field(default_factory=dict)
    length: int = 0
    told: int = 0
    told_at: float = 0.0
    void: bool = False  # what was told is no longer the beginning of the text

    @property
    def text(self) -> str:
        return "\n".join("".join(pieces) for pieces in self.steps.values())

    def add(self, step: int, piece: str) -> None:
        if step not in self.steps:
            self.length += bool(self.steps)
            self.steps[step] = []
        self.steps[step].append(piece)
        self.length += len(piece)

    def drop(self, step: int) -> None:
        if self.steps.pop(step, None) is not None:
            self.void, self.length = True, len(self.text)

    def due(self, style: Style, apart: float) -> float | None:
        """When it is to be told; None if there is nothing to tell."""
        if self.length == self.told and not self.void:
            return None
        return self.told_at + (max(apart, self.length / FULL_RATE) if style == "accumulated" else apart)


class Feed:
    """Tells one caller about one run.

    Args:
        call: Whose progress token is told; without one nothing is sent.
        style: Whether each notice holds the text so far (what the wire format of `run_agent` says) or what is new.
        per_second: Notices of a kind at most.
        beat: Seconds of silence after which a sign of life is given.
    """

    def __init__(self, call: Call, style: Style, per_second: float = PER_SECOND, *, beat: float = BEAT) -> None:
        self._call = call
        self._style: Style = style
        self._apart = 1 / per_second
        self._beat = beat
        self._facts: Mapping[str, Any] = {}
        self._number = 0
        self._thoughts = _Stream("run_agent_chain_of_thought", "chainOfThought", "Thinking")
        self._answer = _Stream("run_agent_generation_tokens", "text", "Answering")
        self._spoke_at = time.monotonic()
        self._waiting = anyio.Event()

    async def tell(self, label: str, output: Mapping[str, Any]) -> None:
        """One payload, as `_meta.data` of a progress notice."""
        self._number += 1
        self._spoke_at = time.monotonic()
        await self._call.progress(self._number, None, label, {"label": label, "output": dict(output)})

    @asynccontextmanager
    async def following(self, facts: Mapping[str, Any]) -> AsyncGenerator[None]:
        """Sends what was taken while the body runs, and the rest when it is over.

        `facts` (`childAgentId`, `conversationId` …) are in every payload.
        """
        self._facts = facts
        try:
            async with beside(self._pump):
                yield
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await self._flush(last=True)

    async def take(self, kind: str, data: Mapping[str, Any]) -> None:
        """Takes an event of the run (see `RunEvent`)."""
        if kind in ("thinking", "text"):
            stream = self._thoughts if kind == "thinking" else self._answer
            stream.add(data.get("step", 0), data["text"])
            await self._flush()
            self._waiting.set()
        elif kind == "status" and "restarted" in data:
            self._void(data["restarted"])
        elif kind == "tool_started":
            await self._say(f"{data.get('title') or data['tool']}")

    def _void(self, step: int) -> None:
        for stream in (self._thoughts, self._answer):
            stream.drop(step)

    async def _say(self, message: str) -> None:
        self._number += 1
        self._spoke_at = time.monotonic()
        await self._call.progress(self._number, None, message)

    async def _pump(self) -> None:
        while True:
            self._waiting = anyio.Event()
            now, due = time.monotonic(), min(self._due(), default=None)
            with anyio.move_on_after(max(0.0, self._spoke_at + self._beat - now if due is None else due - now)):
                await self._waiting.wait()
            await self._flush()
            if time.monotonic() - self._spoke_at >= self._beat:
                await self._say("at work")

    def _due(self) -> list[float]:
        dues = (stream.due(self._style, self._apart) for stream in (self._thoughts, self._answer))
        return [due for due in dues if due is not None]

    async def _flush(self, *, last: bool = False) -> None:
        now = time.monotonic()
        for stream in (self._thoughts, self._answer):
            due = stream.due(self._style, self._apart)
            if due is not None and (last or due <= now):
                await self._send(stream, now)

    async def _send(self, stream: _Stream, now: float) -> None:
        text, fresh = stream.text, {}
        if self._style == "deltas":
            fresh = {"delta": True} | ({"reset": True} if stream.void else {})
        shown = text[stream.told :] if fresh and not stream.void else text
        stream.told, stream.told_at, stream.void = len(text), now, False
        await self.tell(stream.label, {"type": stream.kind, **self._facts, stream.name: shown, **fresh})


def stored(*resources: Mapping[str, Any]) -> dict[str, Any]:
    """The payload that shows resources before the work: `output.contents`."""
    return {"type": "store_resource", "contents": [{"type": "resource", "resource": dict(each)} for each in resources]}
