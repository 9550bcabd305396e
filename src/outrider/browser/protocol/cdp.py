"""Chrome DevTools Protocol connection with command deadlines, events and target channels.

Messages are JSON objects (https://chromedevtools.github.io/devtools-protocol/): a command has an
`id`, its answer the same `id`, an event a `method`; `sessionId` names the target of either.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from outrider.core.errors import Unavailable

log = logging.getLogger(__name__)
COMMAND_TIMEOUT_S = 30.0
EventHandler = Callable[[dict[str, Any]], None]


class Transport(Protocol):
    """Carries whole messages. `start` is called once, before the first `send`."""

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        """Start reading; call `lost` at most once, with the reason, when the other side is gone."""

    def send(self, message: bytes) -> None:
        """Queue a message without waiting; a lost transport drops it."""

    async def aclose(self) -> None:
        """Close both directions."""


class ProtocolError(Exception):
    """The browser refused a command.

    Args:
        method: The command.
        code: The JSON-RPC code.
        message: The browser's explanation.
    """

    def __init__(self, method: str, code: int, message: str) -> None:
        super().__init__(f"{method}: {message}")
        self.method = method
        self.code = code
        self.message = message


class ContextGone(ProtocolError):
    """The script's document has been replaced."""


class BrowserGone(Unavailable):
    """The browser has ended or crashed, or its connection broke."""


class PageGone(Unavailable):
    """The page, frame or worker has been closed, or its renderer has crashed."""


class CommandTimeout(Unavailable):
    """The browser or the page did not answer in time."""


@dataclass(slots=True, eq=False)
class _PendingCommand:
    """A command whose answer has not come yet."""

    method: str
    session_id: str
    future: asyncio.Future[dict[str, Any]]
    timer: asyncio.TimerHandle
    then: EventHandler | None

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
        """Start reading from the transport; needs a running event loop."""
        self._transport.start(self._receive_message, self._handle_loss)

    @property
    def lost(self) -> str | None:
        """Reason why the connection is gone; None while it is open."""
        return self._lost

    def on_lost(self, watcher: Callable[[str], None]) -> Callable[[], None]:
        """Call `watcher` with the reason when the connection is lost; return a function that unsubscribes it."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher) if watcher in self._watchers else None

    def get_channel(self, session_id: str) -> "TargetChannel":
        """Return the channel of a target; the empty id is the browser itself."""
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
        """Send a command at once; await the returned future for the answer's `result`.

        `then` is called with the result before later events are handled; code that awaits the future runs after them.

        Raises (when awaited):
            BrowserGone, PageGone: At once, when the target is gone.
            CommandTimeout: After `timeout` seconds.
            ProtocolError: The browser refused it; ContextGone when only the document is gone.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[dict[str, Any]] = loop.create_future()
        if self._lost is not None:
            future.set_exception(_build_gone_error(self._lost))
            return future
        command_id = next(self._command_ids)
        timer = loop.call_later(timeout, self._expire_command, command_id, timeout)
        self._pending[command_id] = _PendingCommand(method, session_id or "", future, timer, then)
        message: dict[str, Any] = {"id": command_id, "method": method, "params": params or {}}
        if session_id:
            message["sessionId"] = session_id
        self._transport.send(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        return future

    def spawn_task(self, work: Coroutine[Any, Any, Any], purpose: str) -> None:
        """Run work that an event requires; log its failure, unless the page is gone by then."""

        async def log_failure() -> None:
            try:
                await work
            except (ProtocolError, PageGone, BrowserGone) as error:
                log.debug("%s: %s", purpose, error)
            except Exception:
                log.exception(purpose)

        task = asyncio.get_running_loop().create_task(log_failure())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def drop_channel(self, session_id: str, reason: str) -> None:
        """Close a target's channel; commands that wait for its answers fail now."""
        pending = [number for number, command in self._pending.items() if command.session_id == session_id]
        for command_id in pending:
            self._pending.pop(command_id).fail(PageGone(reason, code="page_gone"))
        if channel := self._channels.pop(session_id, None):
            channel.lost = reason

    async def aclose(self) -> None:
        """Close the transport; unanswered commands fail."""
        self._handle_loss("it was closed")
        tasks = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._transport.aclose()

    def _expire_command(self, command_id: int, seconds: float) -> None:
        if command := self._pending.pop(command_id, None):
            message = f"the browser did not answer {command.method} within {seconds:g} s"
            command.fail(CommandTimeout(message, code="hung"))

    def _receive_message(self, data: bytes) -> None:
        try:
            message = json.loads(data)
        except ValueError:
            log.warning("the browser sent %d bytes that are not JSON", len(data))
            return
        if "id" in message:
            if command := self._pending.pop(message["id"], None):
                command.resolve(message)
        elif channel := self._channels.get(message.get("sessionId", "")):
            channel.dispatch_event(message["method"], message.get("params", {}))

    def _handle_loss(self, reason: str) -> None:
        if self._lost is not None:
            return
        self._lost = reason
        pending, self._pending = self._pending, {}
        for command in pending.values():
            command.fail(_build_gone_error(reason))
        for channel in self._channels.values():
            channel.lost = reason
        for watcher in list(self._watchers):
            watcher(reason)


class TargetChannel:
    """Commands and events of one target: a page, a cross-origin frame or a worker.

    Attributes:
        session_id: The target's CDP session id; empty for the browser itself.
        lost: Reason why the target is gone; None while it is attached.
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
        """Send a command to this target; see `CdpConnection.send`."""
        if self.lost is not None and self.connection.lost is None:
            future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
            future.set_exception(PageGone(self.lost, code="page_gone"))
            return future
        return self.connection.send(method, params, self.session_id, timeout=timeout, then=then)

    def send_and_forget(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Send a command and ignore its answer and its failure."""
        if self.lost is None:
            # Fetching the exception keeps asyncio from logging it as never retrieved.
            self.send(method, params).add_done_callback(lambda future: future.cancelled() or future.exception())

    def on(self, event: str, handler: EventHandler) -> Callable[[], None]:
        """Call `handler` with the parameters of each such event, in order; return a function that unsubscribes it."""
        handlers = self._handlers[event]
        handlers.append(handler)
        return lambda: handlers.remove(handler) if handler in handlers else None

    def dispatch_event(self, event: str, params: dict[str, Any]) -> None:
        """Call the event's handlers."""
        for handler in list(self._handlers.get(event, ())):
            try:
                handler(params)
            except Exception:
                log.exception("handling %s", event)


def _build_gone_error(reason: str) -> BrowserGone:
    return BrowserGone(f"the browser is gone: {reason}", code="browser_gone", hint="open a new session")


def _build_command_error(method: str, error: dict[str, Any]) -> Exception:
    page_gone_messages = (
        "Session with given id not found",
        "Target closed",
        "Target crashed",
        "Not attached to an active page",
        "No target with given id found",
    )
    context_gone_messages = (
        "Cannot find context with specified id",
        "Execution context was destroyed",
        "Inspected target navigated or closed",
        "uniqueContextId not found",
        "Frame with the given id was not found",
        "No frame for given id found",
    )
    message = str(error.get("message", "refused"))
    if message.startswith(page_gone_messages):
        return PageGone(f"the page is gone: {message.lower()}", code="page_gone", hint="open it again")
    kind = ContextGone if message.startswith(context_gone_messages) else ProtocolError
    return kind(method, int(error.get("code", 0)), message)
