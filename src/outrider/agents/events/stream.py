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

from outrider.agents.events.event import DELTA_KINDS, EventKind, RunEvent
from outrider.agents.events.event_log import EventLog, EventLogEnd, SequenceTakenError
from outrider.agents.run import RESTING_STATUSES, RunStore
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError

__all__ = ["EventKind", "EventStreams", "EventWriter", "RunEvent"]

if TYPE_CHECKING:
    from outrider.agents.events.notifier import RunNotifier

log = logging.getLogger(__name__)
DEFAULT_GATHER_S = 0.02  # seconds of text that one event gathers; what comes after a pause is told at once
RUN_CHECK_INTERVAL_S = 1.0  # seconds without events after which the run itself is looked at


@dataclass
class _RunBuffer:
    """The events of a run that this process works on.

    Attributes:
        last_seq: The number of the newest that was told.
        pending: Not told yet: text is gathered for a moment.
        unsaved: Told, and not in the database yet.
    """

    last_seq: int
    pending: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    unsaved: list[RunEvent] = field(default_factory=list)


@dataclass(eq=False)
class _RunFollower:
    """A follower.

    Attributes:
        last_seq: The number of the newest event that it was given.
        is_started: Whether it has read what was there when it came.
        at_rest: Whether the last it was given says that the run is at rest.
    """

    run_id: str
    last_seq: int = 0
    is_started: bool = False
    events: deque[RunEvent] = field(default_factory=deque)
    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    last_event_at: float = field(default_factory=time.monotonic)
    last_check_at: float = field(default_factory=time.monotonic)
    at_rest: bool = False
    is_over: bool = False
    error: Exception | None = None

    def deliver(self, events: Iterable[RunEvent]) -> None:
        for event in events:
            self.events.append(event)
            self.last_seq = event.seq
            self.at_rest = is_at_rest(event, before=self.at_rest)
        self.last_event_at = time.monotonic()
        self.has_news.set()

    def compute_next_check(self, now: float, *, is_notified: bool) -> float:
        """When it is time to look whether the database has more for it."""
        quiet_after_s = 0.25  # seconds without events
        long_interval_s = 0.1  # the same after a pause
        short_interval_s = 0.02  # seconds until another process's events are looked for, while they come
        if self.at_rest:
            return 0.0
        quiet = now - self.last_event_at
        return self.last_check_at + (
            RUN_CHECK_INTERVAL_S if is_notified else short_interval_s if quiet < quiet_after_s else long_interval_s
        )

    def is_finished(self, end: EventLogEnd) -> bool:
        quiet = time.monotonic() - self.last_event_at
        return end.at_rest and end.last_seq <= self.last_seq and (self.at_rest or quiet >= RUN_CHECK_INTERVAL_S)


def is_at_rest(event: RunEvent, *, before: bool) -> bool:
    """Whether a run is at rest, as far as this event says."""
    return event.data.get("status") in RESTING_STATUSES if event.kind == "status" else before


class EventStreams:
    """The events of all runs.

    Args:
        gather: Seconds of text that one event gathers.
    """

    def __init__(self, database: Database, gather: float = DEFAULT_GATHER_S) -> None:
        self._log = EventLog(database)
        self._rows = RunStore(database)
        self._gather = gather
        self._buffers: dict[str, _RunBuffer] = {}
        self._followers: set[_RunFollower] = set()
        self._save_lock = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None
        self._poller: asyncio.Task[None] | None = None
        self._poll_now = asyncio.Event()
        self.on_waiting: Callable[[], None] = lambda: None  # is told when a run waits for a process with room
        self._database = database
        self._published_at = 0.0
        self._publish_timer: asyncio.TimerHandle | asyncio.Handle | None = None

    async def append(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> None:
        """Writes events down, and wakes those who follow the run. Raises Unavailable."""
        line = self._buffers.get(run_id)
        if line is None:
            await self._log.append_events(run_id, events)
            self._wake_followers(run_id)
            return
        line.pending += events
        await self.flush()

    async def read(self, run_id: str, after: int = 0) -> list[RunEvent]:
        """The first few hundred written events that came after, in order."""
        return await self._log.read(run_id, after)

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """The events after `after` as they come, until the run ends or waits for a person. Raises NotFound."""
        await self._rows.get(run_id)
        ear = _RunFollower(run_id)
        line = self._buffers.get(run_id)
        unsaved = list(line.unsaved) if line else []
        self._followers.add(ear)
        try:
            while written := await self._log.read(run_id, after):
                for event in written:
                    after = event.seq
                    yield event
                ear.at_rest = is_at_rest(written[-1], before=False)
            self._start_follower(ear, [*unsaved, *ear.events], after)
            async for event in self._iter_delivered(ear):
                yield event
        finally:
            self._followers.discard(ear)

    @cached_property
    def notifier(self) -> "RunNotifier":
        """How other processes are heard."""
        from outrider.agents.events.notifier import RunNotifier

        return RunNotifier(self._database, self._handle_notification)

    # Telling

    async def open_run(self, run_id: str) -> None:
        """From now on this process works on the run, until `shut`."""
        self._buffers[run_id] = _RunBuffer(await self._log.find_last_seq(run_id))

    def close_run(self, run_id: str) -> None:
        """Others may work on the run now; what was said and not flushed is let go."""
        self._buffers.pop(run_id, None)
        self._wake_followers(run_id)

    def publish(self, run_id: str, kind: EventKind, data: dict[str, Any]) -> None:
        """Takes an event of a run that was opened, without waiting for the database."""
        line = self._buffers[run_id]
        last = line.pending[-1] if line.pending else None
        if kind in DELTA_KINDS and last and last[0] == kind and last[1]["step"] == data["step"]:
            line.pending[-1] = (kind, data | {"text": last[1]["text"] + to_storable_text(data["text"])})
        else:
            line.pending.append((kind, data | {"text": to_storable_text(data["text"])} if "text" in data else data))
        if self._publish_timer is None:
            wait = max(0.0, self._published_at + self._gather - time.monotonic())
            self._publish_timer = asyncio.get_running_loop().call_later(wait, self._publish_and_write)

    async def flush(self) -> None:
        """Writes everything that waits, of all runs; what cannot be written goes on waiting. Raises Unavailable."""
        self._publish_pending()
        # A caller that is cancelled must not leave open what was written and what was not.
        await asyncio.shield(asyncio.get_running_loop().create_task(self._save_pending()))

    async def close(self) -> None:
        """Ends the tasks beside the runs, and whoever still follows one here."""
        tasks = [task for task in (self._writer, self._poller) if task is not None]
        if self._publish_timer is not None:
            self._publish_timer.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if "bell" in vars(self):
            await self.notifier.close()
        self._writer = self._poller = self._publish_timer = None
        for ear in self._followers:
            ear.is_over = True
            ear.has_news.set()

    def _publish_pending(self) -> None:
        """Numbers what was said, and gives it to the followers here."""
        if self._publish_timer is not None:
            self._publish_timer.cancel()
        self._publish_timer, self._published_at = None, time.monotonic()
        now = time.time()
        for run_id, line in self._buffers.items():
            if not line.pending:
                continue
            events = [RunEvent(run_id, line.last_seq + count, now, *said) for count, said in enumerate(line.pending, 1)]
            line.pending, line.last_seq = [], events[-1].seq
            line.unsaved += events
            self._deliver_events(run_id, events)

    def _publish_and_write(self) -> None:
        self._publish_pending()
        if self._writer is None or self._writer.done():
            self._writer = asyncio.get_running_loop().create_task(self._write_until_empty())

    async def _write_until_empty(self) -> None:
        """Writes until nothing is left to be written."""
        while self._list_unsaved():
            try:
                await self.flush()
            except (OutriderError, SequenceTakenError) as error:
                log.warning("events of runs wait: %s", error)
                await asyncio.sleep(RUN_CHECK_INTERVAL_S)
            await asyncio.sleep(self._gather)

    async def _save_pending(self) -> None:
        async with self._save_lock:
            batch = await self._write_batch()
            for run_id, seq in {event.run_id: event.seq for event in batch}.items():
                if line := self._buffers.get(run_id):
                    line.unsaved = [event for event in line.unsaved if event.seq > seq]

    async def _write_batch(self) -> list[RunEvent]:
        """What has been written; numbers that others take meanwhile are left to them. Raises TakenError."""
        max_renumberings = 4  # times that events are numbered anew because others wrote under their numbers
        for _ in range(max_renumberings):
            try:
                if batch := self._list_unsaved():
                    await self._log.save_events(batch)
            except SequenceTakenError:
                await self._renumber_events()
            else:
                return batch
        raise SequenceTakenError

    def _list_unsaved(self) -> list[RunEvent]:
        return [event for line in self._buffers.values() for event in line.unsaved]

    async def _renumber_events(self) -> None:
        """Lets the events of another process go first: it has cancelled a run, for instance, that we work on.

        Those that are ours were stored by a transaction whose end nobody heard of.
        """
        for run_id, line in list(self._buffers.items()):
            if not line.unsaved:
                continue
            written = await self._log.read(run_id, line.unsaved[0].seq - 1)
            theirs = [event for event in written if event not in line.unsaved]
            line.unsaved = [event for event in line.unsaved if event not in written]
            self._deliver_events(run_id, theirs)
            if theirs and line.unsaved:
                self._behind(run_id, line, written[-1].seq + 1 - line.unsaved[0].seq)

    def _behind(self, run_id: str, line: _RunBuffer, more: int) -> None:
        line.unsaved = [replace(event, seq=event.seq + more) for event in line.unsaved]
        line.last_seq += more
        for ear in self._followers:  # those have heard ours, too, under the numbers of before
            ear.last_seq = line.last_seq if ear.run_id == run_id else ear.last_seq

    # Hearing

    def _start_follower(self, ear: _RunFollower, events: Sequence[RunEvent], after: int) -> None:
        """From what is written to what is told."""
        self.notifier.start()
        ear.last_seq, ear.is_started = after, True
        ear.events.clear()
        ear.deliver(event for event in events if event.seq > after)
        if self._poller is None or self._poller.done():
            self._poller = asyncio.get_running_loop().create_task(self._poll_forever())
        self._poll_now.set()

    async def _iter_delivered(self, ear: _RunFollower) -> AsyncIterator[RunEvent]:
        while True:
            while ear.events:
                yield ear.events.popleft()
            if ear.error is not None:
                raise ear.error
            if ear.is_over:
                return
            ear.has_news.clear()
            await ear.has_news.wait()

    def _deliver_events(self, run_id: str, events: Sequence[RunEvent]) -> None:
        for ear in self._followers:
            if ear.run_id == run_id:
                ear.deliver(events)
                if ear.at_rest:
                    self._poll_now.set()

    def _handle_notification(self, run_id: str, events: Sequence[RunEvent]) -> None:
        from outrider.agents.events.notifier import RUN_WAITING

        if run_id == RUN_WAITING:
            self.on_waiting()
        elif not events or run_id in self._buffers:
            self._wake_followers(run_id)
        else:
            for ear in [each for each in self._followers if each.run_id == run_id]:
                self._deliver_remote_events(ear, events)

    def _deliver_remote_events(self, ear: _RunFollower, events: Sequence[RunEvent]) -> None:
        """Gives a follower what came with a ring; where something is missing before it, the table has all."""
        news = [event for event in events if event.seq > ear.last_seq]
        if ear.is_started and news and news[0].seq == ear.last_seq + 1:
            ear.deliver(news)
        if news and (ear.at_rest or ear.last_seq < news[-1].seq):
            ear.last_check_at = 0.0
            self._poll_now.set()

    def _wake_followers(self, run_id: str) -> None:
        for ear in self._followers:
            if ear.run_id == run_id:
                ear.last_check_at = 0.0
                self._poll_now.set()

    async def _poll_forever(self) -> None:
        """Gives followers what others have written, and ends them where their run is at rest."""
        while self._followers:
            self._poll_now.clear()
            now = time.monotonic()
            ready = [ear for ear, at in self._list_due() if at <= now]
            try:
                await self._poll_followers(ready)
            except Exception as error:  # noqa: BLE001 - it is the followers' own
                for ear in ready:
                    ear.error = error
                    ear.has_news.set()
            wait = min((at for _, at in self._list_due()), default=now + RUN_CHECK_INTERVAL_S) - time.monotonic()
            with anyio.move_on_after(max(0.005, wait)):
                await self._poll_now.wait()

    def _list_due(self) -> list[tuple[_RunFollower, float]]:
        now = time.monotonic()
        return [
            (ear, ear.compute_next_check(now, is_notified=self.notifier.is_connected or ear.run_id in self._buffers))
            for ear in self._followers
            if ear.is_started
        ]

    async def _poll_followers(self, ears: Sequence[_RunFollower]) -> None:
        ends = await self._log.find_ends({ear.run_id for ear in ears}) if ears else {}
        for ear in ears:
            ear.last_check_at = time.monotonic()
            end = ends.get(ear.run_id, EventLogEnd(0, at_rest=True))
            while end.last_seq > ear.last_seq:
                news = await self._log.read(ear.run_id, ear.last_seq)
                if not news:
                    break
                ear.deliver(news)
            if line := self._buffers.get(ear.run_id):
                line.last_seq = max(line.last_seq, end.last_seq)
            if ear.is_finished(end):
                ear.is_over = True
                ear.has_news.set()
            ear.at_rest = ear.at_rest and end.at_rest


@dataclass
class EventWriter:
    """Writes one attempt's events."""

    streams: EventStreams
    run_id: str

    def write(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Takes an event without waiting for the database."""
        self.streams.publish(self.run_id, kind, data)

    async def flush(self) -> None:
        """Until everything that was said is written down. Raises Unavailable."""
        await self.streams.flush()
