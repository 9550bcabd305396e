"""The Chrome DevTools Protocol: commands with deadlines, events, and flat sessions over one transport.

Messages are JSON objects (https://chromedevtools.github.io/devtools-protocol/): a command has an
`id`, its answer the same `id`, an event a `method`; `sessionId` says to which target either belongs.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any, Protocol

from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
COMMAND_TIMEOUT_S = 30.0  # seconds for a command that names none
EventHandler = Callable[[dict[str, Any]], None]


class Transport(Protocol):
    """Carries whole messages. `start` comes once, before the first `send`."""

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Begins to read; `lost` is called at most once, with the reason, when the other side is gone."""

    def send(self, message: bytes) -> None:
        """Queues a message without waiting; a lost transport drops it."""

    async def aclose(self) -> None:
        """Closes both directions."""


class ProtocolError(Exception):
    """The browser refused a command.

    Args:
        method: The command.
        code: The JSON-RPC code.
        message: The browser's words.
    """

    def __init__(self, method: str, code: int, message: str) -> None:
        super().__init__(f"{method}: {message}")
        self.method = method
        self.code = code
        self.message = message


class ContextGone(ProtocolError):
    """The document that the script was meant for has been replaced."""


class BrowserGone(Unavailable):
    """The browser has ended or crashed, or the connection to it broke."""


class PageGone(Unavailable):
    """The page, frame or worker has been closed, or its renderer has crashed."""


class CommandTimeout(Unavailable):
    """The browser or the page did not answer in time."""


CONTEXT_GONE_MESSAGES = (
    "Cannot find context with specified id",
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "uniqueContextId not found",
    "Frame with the given id was not found",
    "No frame for given id found",
)
PAGE_GONE_MESSAGES = (
    "Session with given id not found",
    "Target closed",
    "Target crashed",
    "Not attached to an active page",
    "No target with given id found",
)


class _PendingCommand:
    """A command that waits for its answer."""

    __slots__ = ("future", "method", "session_id", "then", "timer")

    def __init__(
        self, method: str, session_id: str, future: asyncio.Future[dict[str, Any]], timer: asyncio.TimerHandle
    ) -> None:
        self.method = method
        self.session_id = session_id
        self.future = future
        self.timer = timer
        self.then: EventHandler | None = None

    def resolve(self, message: dict[str, Any]) -> None:
        self.timer.cancel()
        if self.future.done():
            return
        if "error" in message:
            self.future.set_exception(_build_command_error(self.method, message["error"]))
            return
        result = message.get("result", {})
        if self.then:
            self.then(result)
        self.future.set_result(result)

    def fail(self, error: Exception) -> None:
        self.timer.cancel()
        if not self.future.done():
            self.future.set_exception(error)


class CdpConnection:
    """One browser's protocol connection.

    Args:
        transport: Carries the messages.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._command_ids = count(1)
        self._pending: dict[int, _PendingCommand] = {}
        self._channels: dict[str, TargetChannel] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: str | None = None
        self._watchers: list[Callable[[str], None]] = []
        self.root = self.get_channel("")

    def start(self) -> None:
        """Begins to listen; needs a running event loop."""
        self._transport.start(self._receive_message, self._handle_loss)

    @property
    def lost(self) -> str | None:
        """Why the connection is gone; None while it stands."""
        return self._lost

    def on_lost(self, watcher: Callable[[str], None]) -> Callable[[], None]:
        """Calls `watcher` with the reason as soon as the connection is gone; returns how to stop that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher) if watcher in self._watchers else None

    def get_channel(self, session_id: str) -> "TargetChannel":
        """The conversation with one target; the empty id is the browser itself."""
        return self._channels.setdefault(session_id, TargetChannel(self, session_id))

    def send(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        session_id: str | None = None,
        *,
        timeout: float = COMMAND_TIMEOUT_S,
        then: EventHandler | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Sends a command at once; awaiting the value gives the answer's `result`.

        `then` gets the result before any event that comes after it is handled; whoever awaits does not.

        Raises (when awaited):
            BrowserGone, PageGone: at once, when what was asked is gone.
            Hung: after `timeout` seconds.
            ProtocolError: the browser refused; ContextGone when only the document is gone.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        if self._lost is not None:
            future.set_exception(_build_gone_error(self._lost))
            return future
        number = next(self._command_ids)
        timer = loop.call_later(timeout, self._expire_command, number, timeout)
        self._pending[number] = waiting = _PendingCommand(method, session_id or "", future, timer)
        waiting.then = then
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session_id:
            message["sessionId"] = session_id
        self._transport.send(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        return future

    def spawn_task(self, work: Coroutine[Any, Any, Any], purpose: str) -> None:
        """Runs something that an event asks for; what is gone meanwhile is no failure."""
        task = asyncio.get_running_loop().create_task(_run_background(work, purpose))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def drop_channel(self, session_id: str, reason: str) -> None:
        """Ends the conversation with a target: everything that waits for it fails now."""
        for number in [number for number, each in self._pending.items() if each.session_id == session_id]:
            self._pending.pop(number).fail(PageGone(reason, code="page_gone"))
        if channel := self._channels.pop(session_id, None):
            channel.lost = reason

    async def aclose(self) -> None:
        """Closes the transport; whatever still waits fails."""
        self._handle_loss("it was closed")
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.aclose()

    def _expire_command(self, number: int, seconds: float) -> None:
        if waiting := self._pending.pop(number, None):
            waiting.fail(
                CommandTimeout(f"the browser did not answer {waiting.method} within {seconds:g} s", code="hung")
            )

    def _receive_message(self, data: bytes) -> None:
        try:
            message = json.loads(data)
        except ValueError:
            log.warning("the browser sent %d bytes that are no JSON", len(data))
            return
        if "id" in message:
            if waiting := self._pending.pop(message["id"], None):
                waiting.resolve(message)
        elif channel := self._channels.get(message.get("sessionId", "")):
            channel.dispatch_event(message["method"], message.get("params", {}))

    def _handle_loss(self, reason: str) -> None:
        if self._lost is not None:
            return
        self._lost = reason
        pending, self._pending = self._pending, {}
        for waiting in pending.values():
            waiting.fail(_build_gone_error(reason))
        for channel in self._channels.values():
            channel.lost = reason
        for watcher in list(self._watchers):
            watcher(reason)


class TargetChannel:
    """The conversation with one target of the browser (a page, a cross-origin frame, a worker).

    Attributes:
        session_id: The protocol's name of it; empty for the browser itself.
        lost: Why it has ended; None while it stands.
    """

    def __init__(self, connection: CdpConnection, session_id: str) -> None:
        self.connection = connection
        self.session_id = session_id
        self.lost: str | None = None
        self._handlers: defaultdict[str, list[EventHandler]] = defaultdict(list)

    def send(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float = COMMAND_TIMEOUT_S,
        then: EventHandler | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """As `Connection.send`, to this target."""
        if self.lost is not None and self.connection.lost is None:
            future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
            future.set_exception(PageGone(self.lost, code="page_gone"))
            return future
        return self.connection.send(method, params, self.session_id, timeout=timeout, then=then)

    def send_and_forget(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a command whose answer nobody needs."""
        if self.lost is None:
            self.send(method, params).add_done_callback(_ignore_result)

    def on(self, event: str, handler: EventHandler) -> Callable[[], None]:
        """Calls `handler` with the parameters of each such event, in order; returns how to stop that."""
        self._handlers[event].append(handler)
        return lambda: self._remove_handler(event, handler)

    def dispatch_event(self, event: str, params: dict[str, Any]) -> None:
        """Hands an event to its handlers."""
        for handler in list(self._handlers.get(event, ())):
            try:
                handler(params)
            except Exception:
                log.exception("handling %s", event)

    def _remove_handler(self, event: str, handler: EventHandler) -> None:
        if handler in self._handlers[event]:
            self._handlers[event].remove(handler)


def _build_gone_error(reason: str) -> BrowserGone:
    return BrowserGone(f"the browser is gone: {reason}", code="browser_gone", hint="open a new session")


def _build_command_error(method: str, error: dict[str, Any]) -> Exception:
    message = str(error.get("message", "refused"))
    if message.startswith(PAGE_GONE_MESSAGES):
        return PageGone(f"the page is gone: {message.lower()}", code="page_gone", hint="open it again")
    kind = ContextGone if message.startswith(CONTEXT_GONE_MESSAGES) else ProtocolError
    return kind(method, int(error.get("code", 0)), message)


def _ignore_result(future: asyncio.Future[dict[str, Any]]) -> None:
    if not future.cancelled():
        future.exception()


async def _run_background(work: Coroutine[Any, Any, Any], purpose: str) -> None:
    try:
        await work
    except (ProtocolError, PageGone, BrowserGone) as error:
        log.debug("%s: %s", purpose, error)
    except Exception:
        log.exception(purpose)
