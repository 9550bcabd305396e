"""Stream the events of runs to followers in this and other processes.

The worker of a run numbers its events and delivers them to followers in the same process before they are saved; the
events of all runs are saved together. Followers in other processes are notified (`notifier`). Followers that start
later, or miss a notification, read the events from the database: one query finds the new events of all runs.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.events.event import DELTA_KINDS, EventKind, RunEvent
from outrider.agents.events.event_log import EventLog, EventLogEnd, SequenceTakenError
from outrider.agents.run import RunStore
from outrider.agents.run_status import RESTING_STATUSES
from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import OutriderError

__all__ = ["EventKind", "EventStreams", "EventWriter", "RunEvent"]

if TYPE_CHECKING:
    from outrider.agents.events.notifier import RunNotifier

log = logging.getLogger(__name__)
RUN_CHECK_INTERVAL_S = 1.0  # time without events after which the database is checked


@dataclass
class _RunBuffer:
    """The events of a run that this process works on.

    Attributes:
        last_seq: The number of the newest published event.
        pending: Events that are not published yet, because text is collected for a moment.
        unsaved: Published events that are not in the database yet.
    """

    last_seq: int
    pending: list[tuple[EventKind, dict[str, Any]]] = field(default_factory=list)
    unsaved: list[RunEvent] = field(default_factory=list)


@dataclass(eq=False)
class _RunFollower:
    """A follower of a run.

    Attributes:
        last_seq: The number of the newest event delivered to it.
        is_started: Whether it has read the events that existed when it was created.
        events: Delivered events that it has not read yet.
        at_rest: Whether the run has ended or is blocked, according to the delivered events.
        is_over: Whether nothing more will be delivered.
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
        """Return when to check the database for further events, by the monotonic clock."""
        if self.at_rest:
            return 0.0
        if is_notified:
            return self.last_check_at + RUN_CHECK_INTERVAL_S
        # Without notifications, poll fast while events arrive and slower after a pause.
        is_quiet = now - self.last_event_at >= 0.25
        return self.last_check_at + (0.1 if is_quiet else 0.02)

    def is_finished(self, end: EventLogEnd) -> bool:
        quiet_s = time.monotonic() - self.last_event_at
        return end.at_rest and end.last_seq <= self.last_seq and (self.at_rest or quiet_s >= RUN_CHECK_INTERVAL_S)


def is_at_rest(event: RunEvent, *, before: bool) -> bool:
    """Return whether a run has ended or is blocked after an event; `before` is the answer before the event."""
    return event.data.get("status") in RESTING_STATUSES if event.kind == "status" else before


class EventStreams:
    """The events of all runs.

    Args:
        database: Holds the events.
        gather: Seconds of text that are combined into one event; text after a pause is published at once.

    Attributes:
        on_waiting: Called when a run waits for a free worker.
    """

    def __init__(self, database: Database, gather: float = 0.02) -> None:
        self.on_waiting: Callable[[], None] = lambda: None
        self._database = database
        self._log = EventLog(database)
        self._rows = RunStore(database)
        self._gather = gather
        self._buffers: dict[str, _RunBuffer] = {}
        self._followers: set[_RunFollower] = set()
        self._save_lock = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None
        self._poller: asyncio.Task[None] | None = None
        self._poll_now = asyncio.Event()
        self._created_notifier: RunNotifier | None = None
        self._published_at = 0.0
        self._publish_timer: asyncio.TimerHandle | asyncio.Handle | None = None

    async def append(self, run_id: str, events: Sequence[tuple[EventKind, dict[str, Any]]]) -> None:
        """Save events and wake the followers of the run. Raises Unavailable."""
        buffer = self._buffers.get(run_id)
        if buffer is None:
            await self._log.append_events(run_id, events)
            self._wake_followers(run_id)
            return
        buffer.pending += events
        await self.flush()

    async def read(self, run_id: str, after: int = 0) -> list[RunEvent]:
        """Return the next saved events after a number, at most a few hundred, in order."""
        return await self._log.read(run_id, after)

    async def follow(self, run_id: str, after: int = 0) -> AsyncIterator[RunEvent]:
        """Yield the events after a number until the run ends or waits for a person. Raises NotFound."""
        await self._rows.get(run_id)
        follower = _RunFollower(run_id)
        buffer = self._buffers.get(run_id)
        unsaved = list(buffer.unsaved) if buffer else []
        self._followers.add(follower)
        try:
            while saved := await self._log.read(run_id, after):
                for event in saved:
                    after = event.seq
                    yield event
                follower.at_rest = is_at_rest(saved[-1], before=False)
            # From here on, events are delivered instead of read.
            events = [*unsaved, *follower.events]
            self.notifier.start()
            follower.last_seq, follower.is_started = after, True
            follower.events.clear()
            follower.deliver(event for event in events if event.seq > after)
            if self._poller is None or self._poller.done():
                self._poller = asyncio.get_running_loop().create_task(self._poll_forever())
            self._poll_now.set()
            while not follower.is_over or follower.events:
                while follower.events:
                    yield follower.events.popleft()
                if follower.error is not None:
                    raise follower.error
                if not follower.is_over:
                    follower.has_news.clear()
                    await follower.has_news.wait()
        finally:
            self._followers.discard(follower)

    @property
    def notifier(self) -> "RunNotifier":
        """The connection to other processes, created at its first use, because it imports SQLAlchemy."""
        if self._created_notifier is None:
            from outrider.agents.events.notifier import RunNotifier

            self._created_notifier = RunNotifier(self._database, self._handle_notification)
        return self._created_notifier

    # Publishing

    async def open_run(self, run_id: str) -> None:
        """Prepare to publish events of a run that this process works on, until `close_run`."""
        self._buffers[run_id] = _RunBuffer(await self._log.find_last_seq(run_id))

    def close_run(self, run_id: str) -> None:
        """Stop publishing events of a run; events that are not flushed are dropped."""
        self._buffers.pop(run_id, None)
        self._wake_followers(run_id)

    def publish(self, run_id: str, kind: EventKind, data: dict[str, Any]) -> None:
        """Publish an event of an opened run without waiting for the database."""

        def publish_and_write() -> None:
            self._publish_pending()
            if self._writer is None or self._writer.done():
                self._writer = asyncio.get_running_loop().create_task(self._write_until_empty())

        buffer = self._buffers[run_id]
        last = buffer.pending[-1] if buffer.pending else None
        if kind in DELTA_KINDS and last and last[0] == kind and last[1]["step"] == data["step"]:
            buffer.pending[-1] = (kind, data | {"text": last[1]["text"] + to_storable_text(data["text"])})
        else:
            buffer.pending.append((kind, data | {"text": to_storable_text(data["text"])} if "text" in data else data))
        if self._publish_timer is None:
            wait_s = max(0.0, self._published_at + self._gather - time.monotonic())
            self._publish_timer = asyncio.get_running_loop().call_later(wait_s, publish_and_write)

    async def flush(self) -> None:
        """Publish and save all events of all runs; events that cannot be saved stay. Raises Unavailable."""
        self._publish_pending()
        # If the caller is cancelled, the save must still finish: otherwise it is unknown what has been saved.
        await asyncio.shield(asyncio.get_running_loop().create_task(self._save_pending()))

    async def close(self) -> None:
        """Stop the background tasks and end all followers in this process."""
        tasks = [task for task in (self._writer, self._poller) if task is not None]
        if self._publish_timer is not None:
            self._publish_timer.cancel()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._created_notifier is not None:
            await self._created_notifier.close()
        self._writer = self._poller = self._publish_timer = None
        for follower in self._followers:
            follower.is_over = True
            follower.has_news.set()

    def _publish_pending(self) -> None:
        """Number the pending events and deliver them to followers in this process."""
        if self._publish_timer is not None:
            self._publish_timer.cancel()
        self._publish_timer, self._published_at = None, time.monotonic()
        now = time.time()
        for run_id, buffer in self._buffers.items():
            if not buffer.pending:
                continue
            events = [RunEvent(run_id, seq, now, *item) for seq, item in enumerate(buffer.pending, buffer.last_seq + 1)]
            buffer.pending, buffer.last_seq = [], events[-1].seq
            buffer.unsaved += events
            self._deliver_events(run_id, events)

    async def _write_until_empty(self) -> None:
        while self._list_unsaved():
            try:
                await self.flush()
            except (OutriderError, SequenceTakenError) as error:
                log.warning("cannot save events of runs, trying again: %s", error)
                await asyncio.sleep(RUN_CHECK_INTERVAL_S)
            await asyncio.sleep(self._gather)

    async def _save_pending(self) -> None:
        """Save all unsaved events, renumbered if necessary. Raises SequenceTakenError."""
        max_tries = 4
        async with self._save_lock:
            for _ in range(max_tries):
                batch = self._list_unsaved()
                try:
                    if batch:
                        await self._log.save_events(batch)
                    break
                except SequenceTakenError:
                    await self._renumber_events()
            else:
                raise SequenceTakenError
            for run_id, seq in {event.run_id: event.seq for event in batch}.items():
                if buffer := self._buffers.get(run_id):
                    buffer.unsaved = [event for event in buffer.unsaved if event.seq > seq]

    def _list_unsaved(self) -> list[RunEvent]:
        return [event for buffer in self._buffers.values() for event in buffer.unsaved]

    async def _renumber_events(self) -> None:
        """Renumber unsaved events after the events that other processes have saved under their numbers.

        Another process writes such an event, for example, when it cancels a run of this process. Our own events may
        already be saved, if the connection broke before the transaction was confirmed.
        """
        for run_id, buffer in list(self._buffers.items()):
            if not buffer.unsaved:
                continue
            saved = await self._log.read(run_id, buffer.unsaved[0].seq - 1)
            foreign = [event for event in saved if event not in buffer.unsaved]
            buffer.unsaved = [event for event in buffer.unsaved if event not in saved]
            self._deliver_events(run_id, foreign)
            if foreign and buffer.unsaved:
                shift = saved[-1].seq + 1 - buffer.unsaved[0].seq
                buffer.unsaved = [replace(event, seq=event.seq + shift) for event in buffer.unsaved]
                buffer.last_seq += shift
                for follower in self._list_followers(run_id):  # they have got our events under the old numbers
                    follower.last_seq = buffer.last_seq

    # Following

    def _list_followers(self, run_id: str) -> list[_RunFollower]:
        return [follower for follower in self._followers if follower.run_id == run_id]

    def _deliver_events(self, run_id: str, events: Sequence[RunEvent]) -> None:
        for follower in self._list_followers(run_id):
            follower.deliver(events)
            if follower.at_rest:
                self._poll_now.set()

    def _handle_notification(self, run_id: str, events: Sequence[RunEvent]) -> None:
        from outrider.agents.events.notifier import RUN_WAITING

        if run_id == RUN_WAITING:
            self.on_waiting()
        elif not events or run_id in self._buffers:
            self._wake_followers(run_id)
        else:
            for follower in self._list_followers(run_id):
                new_events = [event for event in events if event.seq > follower.last_seq]
                if follower.is_started and new_events and new_events[0].seq == follower.last_seq + 1:
                    follower.deliver(new_events)
                # Earlier events are missing, or the run may continue, so read the table.
                if new_events and (follower.at_rest or follower.last_seq < new_events[-1].seq):
                    follower.last_check_at = 0.0
                    self._poll_now.set()

    def _wake_followers(self, run_id: str) -> None:
        for follower in self._list_followers(run_id):
            follower.last_check_at = 0.0
            self._poll_now.set()

    async def _poll_forever(self) -> None:
        """Deliver the events of other processes to followers, and end followers of resting runs."""
        while self._followers:
            self._poll_now.clear()
            now = time.monotonic()
            due = [follower for follower, check_at in self._list_checks() if check_at <= now]
            try:
                await self._poll_followers(due)
            except Exception as error:  # noqa: BLE001 - raised in the followers
                for follower in due:
                    follower.error = error
                    follower.has_news.set()
            next_check = min((check_at for _, check_at in self._list_checks()), default=now + RUN_CHECK_INTERVAL_S)
            with anyio.move_on_after(max(0.005, next_check - time.monotonic())):
                await self._poll_now.wait()

    def _list_checks(self) -> list[tuple[_RunFollower, float]]:
        """Return each follower with the time of its next check."""
        now = time.monotonic()
        checks: list[tuple[_RunFollower, float]] = []
        for follower in self._followers:
            if follower.is_started:
                is_notified = self.notifier.is_connected or follower.run_id in self._buffers
                checks.append((follower, follower.compute_next_check(now, is_notified=is_notified)))
        return checks

    async def _poll_followers(self, followers: Sequence[_RunFollower]) -> None:
        ends = await self._log.find_ends({follower.run_id for follower in followers}) if followers else {}
        for follower in followers:
            follower.last_check_at = time.monotonic()
            end = ends.get(follower.run_id, EventLogEnd(0, at_rest=True))
            while end.last_seq > follower.last_seq:
                events = await self._log.read(follower.run_id, follower.last_seq)
                if not events:
                    break
                follower.deliver(events)
            if buffer := self._buffers.get(follower.run_id):
                buffer.last_seq = max(buffer.last_seq, end.last_seq)
            if follower.is_finished(end):
                follower.is_over = True
                follower.has_news.set()
            follower.at_rest = follower.at_rest and end.at_rest


@dataclass
class EventWriter:
    """Writes the events of one run."""

    streams: EventStreams
    run_id: str

    def write(self, kind: EventKind, data: dict[str, Any]) -> None:
        """Publish an event without waiting for the database."""
        self.streams.publish(self.run_id, kind, data)

    async def flush(self) -> None:
        """Wait until all events are saved. Raises Unavailable."""
        await self.streams.flush()
