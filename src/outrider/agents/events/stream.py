"""What happens in a run, while it happens: told at once in its own process, followed from any other.

Who works on a run numbers its events, and hands them to followers in the same process before they are in the database;
they are written there for all runs together. Followers elsewhere hear them as they are written (`bell`); those that
come later, or hear nothing, read them from there: one query looks for the news of all.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.events.event import DELTAS, EventKind, RunEvent
from outrider.agents.events.event_log import End, EventLog, TakenError
from outrider.agents.run import RESTING, RunRows
from outrider.core.db import Database, storable
from outrider.core.errors import OutriderError

__all__ = ["EventKind", "Pen", "RunEvent", "Streams"]

if TYPE_CHECKING:
    from outrider.agents.events.bell import Bell

log = logging.getLogger(__name__)
GATHER = 0.02  # seconds of text that one event gathers; what comes after a pause is told at once
SOON = 0.02  # seconds until another process's events are looked for, while they come
LATER = 0.1  # the same after a pause
PAUSE = 0.25  # seconds without events
RENUMBERED = 4  # times that events are numbered anew because others wrote under their numbers
GLANCE = 1.0  # seconds without events after which the run itself is looked at


@dataclass
class _Line:
    """The events of a run that this process works on.

    Attributes:
        last: The number of the newest that was told.
        said: Not told yet: text is gathered for a moment.
        unsaved: Told, and not in the database yet.
    """

    last: int
    said: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    unsaved: list[RunEvent] = field(default_factory=list)


@dataclass(eq=False)
class _Ear:
    """A follower.

    Attributes:
        known: The number of the newest event that it was given.
        begun: Whether it has read what was there when it came.
        rests: Whether the last it was given says that the run is at rest.
    """

    run_id: str
    known: int = 0
    begun: bool = False
    events: deque[RunEvent] = field(default_factory=deque)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    heard_at: float = field(default_factory=time.monotonic)
    looked_at: float = field(default_factory=time.monotonic)
    rests: bool = False
    over: bool = False
    error: Exception | None = None

    def give(self, events: Iterable[RunEvent]) -> None:
        for event in events:
            self.events.append(event)
            self.known = event.seq
            self.rests = rests(event, before=self.rests)
        self.heard_at = time.monotonic()
        self.arrived.set()

    def due(self, now: float, *, rung: bool) -> float:
        """When it is time to look whether the database has more for it."""
        if self.rests:
            return 0.0
        quiet = now - self.heard_at
        return self.looked_at + (GLANCE if rung else SOON if quiet < PAUSE else LATER)

    def ends(self, end: End) -> bool:
        quiet = time.monotonic() - self.heard_at
        return end.rests and end.last <= self.known and (self.rests or quiet >= GLANCE)


def rests(event: RunEvent, *, before: bool) -> bool:
    """Whether a run is at rest, as far as this event says."""
    return event.data.get("status") in RESTING if event.kind == "status" else before


class Streams:
    """The events of all runs.

    Args:
        gather: Seconds of text that one event gathers.
    """

    def __init__(self, database: Database, gather: float = GATHER) -> None:
        self._log = EventLog(database)
        self._rows = RunRows(database)
        self._gather = gather
        self._lines: dict[str, _Line] = {}
        self._ears: set[_Ear] = set()
        self._saving = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None
        self._looker: asyncio.Task[None] | None = None
        self._nudged = asyncio.Event()
        self.waiting: Callable[[], None] = lambda: None  # is told when a run waits for a process with room
        self._database = database
        self._told_at = 0.0
        self._telling: asyncio.TimerHandle | asyncio.Handle | None = None

    async def append(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> None:
        """Writes events down, and wakes those who follow the run. Raises Unavailable."""
        line = self._lines.get(run_id)
        if line is None:
            await self._log.add(run_id, events)
            self._nudge(run_id)
            return
        line.said += events
        await self.flush()

    async def read(self, run_id: str, after: int = 0) -> list[RunEvent]:
        """The first few hundred written events that came after, in order."""
        return await self._log.read(run_id, after)

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """The events after `after` as they come, until the run ends or waits for a person. Raises NotFound."""
        await self._rows.get(run_id)
        ear = _Ear(run_id)
        line = self._lines.get(run_id)
        unsaved = list(line.unsaved) if line else []
        self._ears.add(ear)
        try:
            while written := await self._log.read(run_id, after):
                for event in written:
                    after = event.seq
                    yield event
                ear.rests = rests(written[-1], before=False)
            self._begin(ear, [*unsaved, *ear.events], after)
            async for event in self._heard(ear):
                yield event
        finally:
            self._ears.discard(ear)

    @cached_property
    def bell(self) -> "Bell":
        """How other processes are heard."""
        from outrider.agents.events.bell import Bell

        return Bell(self._database, self._rung)

    # Telling

    async def open(self, run_id: str) -> None:
        """From now on this process works on the run, until `shut`."""
        self._lines[run_id] = _Line(await self._log.last(run_id))

    def shut(self, run_id: str) -> None:
        """Others may work on the run now; what was said and not flushed is let go."""
        self._lines.pop(run_id, None)
        self._nudge(run_id)

    def say(self, run_id: str, kind: EventKind, data: dict[str, Any]) -> None:
        """Takes an event of a run that was opened, without waiting for the database."""
        line = self._lines[run_id]
        last = line.said[-1] if line.said else None
        if kind in DELTAS and last and last[0] == kind and last[1]["step"] == data["step"]:
            line.said[-1] = (kind, data | {"text": last[1]["text"] + storable(data["text"])})
        else:
            line.said.append((kind, data | {"text": storable(data["text"])} if "text" in data else data))
        if self._telling is None:
            wait = max(0.0, self._told_at + self._gather - time.monotonic())
            self._telling = asyncio.get_running_loop().call_later(wait, self._tell_and_write)

    async def flush(self) -> None:
        """Writes everything that waits, of all runs; what cannot be written goes on waiting. Raises Unavailable."""
        self._tell()
        # A caller that is cancelled must not leave open what was written and what was not.
        await asyncio.shield(asyncio.get_running_loop().create_task(self._save()))

    async def close(self) -> None:
        """Ends the tasks beside the runs, and whoever still follows one here."""
        tasks = [task for task in (self._writer, self._looker) if task is not None]
        if self._telling is not None:
            self._telling.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if "bell" in vars(self):
            await self.bell.close()
        self._writer = self._looker = self._telling = None
        for ear in self._ears:
            ear.over = True
            ear.arrived.set()

    def _tell(self) -> None:
        """Numbers what was said, and gives it to the followers here."""
        if self._telling is not None:
            self._telling.cancel()
        self._telling, self._told_at = None, time.monotonic()
        now = time.time()
        for run_id, line in self._lines.items():
            if not line.said:
                continue
            events = [RunEvent(run_id, line.last + count, now, *said) for count, said in enumerate(line.said, 1)]
            line.said, line.last = [], events[-1].seq
            line.unsaved += events
            self._give(run_id, events)

    def _tell_and_write(self) -> None:
        self._tell()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """Writes until nothing is left to be written."""
        while self._unsaved():
            try:
                await self.flush()
            except (OutriderError, TakenError) as error:
                log.warning("events of runs wait: %s", error)
                await asyncio.sleep(GLANCE)
            await asyncio.sleep(self._gather)

    async def _save(self) -> None:
        async with self._saving:
            batch = await self._saved()
            for run_id, seq in {event.run_id: event.seq for event in batch}.items():
                if line := self._lines.get(run_id):
                    line.unsaved = [event for event in line.unsaved if event.seq > seq]

    async def _saved(self) -> list[RunEvent]:
        """What has been written; numbers that others take meanwhile are left to them. Raises TakenError."""
        for _ in range(RENUMBERED):
            try:
                if batch := self._unsaved():
                    await self._log.save(batch)
            except TakenError:
                await self._renumber()
            else:
                return batch
        raise TakenError

    def _unsaved(self) -> list[RunEvent]:
        return [event for line in self._lines.values() for event in line.unsaved]

    async def _renumber(self) -> None:
        """Lets the events of another process go first: it has cancelled a run, for instance, that we work on.

        Those that are ours were stored by a transaction whose end nobody heard of.
        """
        for run_id, line in list(self._lines.items()):
            if not line.unsaved:
                continue
            written = await self._log.read(run_id, line.unsaved[0].seq - 1)
            theirs = [event for event in written if event not in line.unsaved]
            line.unsaved = [event for event in line.unsaved if event not in written]
            self._give(run_id, theirs)
            if theirs and line.unsaved:
                self._behind(run_id, line, written[-1].seq + 1 - line.unsaved[0].seq)

    def _behind(self, run_id: str, line: _Line, more: int) -> None:
        line.unsaved = [replace(event, seq=event.seq + more) for event in line.unsaved]
        line.last += more
        for ear in self._ears:  # those have heard ours, too, under the numbers of before
            ear.known = line.last if ear.run_id == run_id else ear.known

    # Hearing

    def _begin(self, ear: _Ear, events: Sequence[RunEvent], after: int) -> None:
        """From what is written to what is told."""
        self.bell.listen()
        ear.known, ear.begun = after, True
        ear.events.clear()
        ear.give(event for event in events if event.seq > after)
        if self._looker is None or self._looker.done():
            self._looker = asyncio.get_running_loop().create_task(self._look())
        self._nudged.set()

    async def _heard(self, ear: _Ear) -> AsyncIterator[RunEvent]:
        while True:
            while ear.events:
                yield ear.events.popleft()
            if ear.error is not None:
                raise ear.error
            if ear.over:
                return
            ear.arrived.clear()
            await ear.arrived.wait()

    def _give(self, run_id: str, events: Sequence[RunEvent]) -> None:
        for ear in self._ears:
            if ear.run_id == run_id:
                ear.give(events)
                if ear.rests:
                    self._nudged.set()

    def _rung(self, what: str, events: Sequence[RunEvent]) -> None:
        from outrider.agents.events.bell import WAITING

        if what == WAITING:
            self.waiting()
        elif not events or what in self._lines:
            self._nudge(what)
        else:
            for ear in [each for each in self._ears if each.run_id == what]:
                self._told_elsewhere(ear, events)

    def _told_elsewhere(self, ear: _Ear, events: Sequence[RunEvent]) -> None:
        """Gives a follower what came with a ring; where something is missing before it, the table has all."""
        news = [event for event in events if event.seq > ear.known]
        if ear.begun and news and news[0].seq == ear.known + 1:
            ear.give(news)
        if news and (ear.rests or ear.known < news[-1].seq):
            ear.looked_at = 0.0
            self._nudged.set()

    def _nudge(self, run_id: str) -> None:
        for ear in self._ears:
            if ear.run_id == run_id:
                ear.looked_at = 0.0
                self._nudged.set()

    async def _look(self) -> None:
        """Gives followers what others have written, and ends them where their run is at rest."""
        while self._ears:
            self._nudged.clear()
            now = time.monotonic()
            ready = [ear for ear, at in self._due() if at <= now]
            try:
                await self._look_for(ready)
            except Exception as error:  # noqa: BLE001 - it is the followers' own
                for ear in ready:
                    ear.error = error
                    ear.arrived.set()
            wait = min((at for _, at in self._due()), default=now + GLANCE) - time.monotonic()
            with anyio.move_on_after(max(0.005, wait)):
                await self._nudged.wait()

    def _due(self) -> list[tuple[_Ear, float]]:
        now = time.monotonic()
        return [
            (ear, ear.due(now, rung=self.bell.hears or ear.run_id in self._lines)) for ear in self._ears if ear.begun
        ]

    async def _look_for(self, ears: Sequence[_Ear]) -> None:
        ends = await self._log.ends({ear.run_id for ear in ears}) if ears else {}
        for ear in ears:
            ear.looked_at = time.monotonic()
            end = ends.get(ear.run_id, End(0, rests=True))
            while end.last > ear.known:
                news = await self._log.read(ear.run_id, ear.known)
                if not news:
                    break
                ear.give(news)
            if line := self._lines.get(ear.run_id):
                line.last = max(line.last, end.last)
            if ear.ends(end):
                ear.over = True
                ear.arrived.set()
            ear.rests = ear.rests and end.rests


@dataclass
class Pen:
    """Writes one attempt's events."""

    streams: Streams
    run_id: str

    def write(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Takes an event without waiting for the database."""
        self.streams.say(self.run_id, kind, data)

    async def flush(self) -> None:
        """Until everything that was said is written down. Raises Unavailable."""
        await self.streams.flush()
