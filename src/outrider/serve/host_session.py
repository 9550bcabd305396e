"""Serve one host over stdio or a connection that may break.

Each line of the host has a number, and each response is sent with the number of its request. So the other side knows
the pending requests when a connection is lost, and can send them to the next process.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, Protocol

import anyio
from mcp.server import Server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

from outrider.core.errors import OutriderError
from outrider.core.toolbox import Toolbox
from outrider.serve import lean, tool_names
from outrider.serve.malformed import explain_invalid_id, explain_malformed_line
from outrider.serve.surrogates import replace_surrogate_escapes

# Messages that set up a connection, which the next process needs too.
REPLAYED_METHODS = frozenset(
    {"initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe", "outrider/switch_context"}
)
LISTEN_METHOD = "subscriptions/listen"  # a request that stays open for as long as the client listens
REPLAYED_LINE = -1
RepeatPredicate = Callable[[JSONRPCRequest], Awaitable[bool]]


@dataclass(frozen=True)
class HostLine:
    """A line of the host.

    Attributes:
        delivery: `new`; `replayed`: an earlier process has answered it; `retried`: an earlier process ended before it
            did; `failed`: that has happened so often that the line may be the cause.
    """

    number: int
    data: bytes
    delivery: Literal["new", "replayed", "retried", "failed"] = "new"


class HostChannel(Protocol):
    """The connection to a host."""

    def iter_lines(self) -> AsyncIterator[HostLine]:
        """Yield the host's lines until it sends no more, or the connection ends."""
        ...

    async def wait_until_lost(self) -> None:
        """Wait until the host no longer reads answers; called after its last line."""
        ...

    async def send_line(self, text: str, number: int) -> None:
        """Send a line. `number` is that of the line that it answers, or 0."""
        ...

    async def acknowledge_line(self, number: int) -> None:
        """Report that a line gets no answer."""
        ...

    async def keep_for_replay(self, number: int) -> None:
        """Ask for a line to be replayed on later connections."""
        ...


class HostSession:
    """Parses the lines of one connection and tracks its pending requests."""

    def __init__(self, channel: HostChannel, can_repeat: RepeatPredicate) -> None:
        self._channel = channel
        self._can_repeat = can_repeat
        self._line_numbers: defaultdict[tuple[type, Any], list[int]] = defaultdict(list)  # hosts may repeat an id
        self._listen_requests: set[tuple[type, Any]] = set()
        self._questions: set[str | int] = set()
        self.changed = anyio.Event()

    @property
    def pending_count(self) -> int:
        """Number of pending requests, without those that only listen."""
        return sum(len(numbers) for key, numbers in self._line_numbers.items() if key not in self._listen_requests)

    async def serve(self, server: Server[Any]) -> None:
        """Serve MCP until the host closes the connection."""
        incoming, read = create_context_streams[SessionMessage | Exception](0)
        write, outgoing = create_context_streams[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._receive_lines, incoming)
            tasks.start_soon(self._send_responses, outgoing)
            await server.run(read, write, server.create_initialization_options())

    async def _receive_lines(self, incoming: Any) -> None:
        try:
            async with incoming:
                async for line in self._channel.iter_lines():
                    if (message := await self._parse_line(line)) is not None:
                        await incoming.send(message)
                await self._finish_pending(incoming)
        except anyio.ClosedResourceError:
            return

    async def _finish_pending(self, incoming: Any) -> None:
        """Wait until the pending requests are answered.

        The SDK would cancel them when the input ends.
        """
        connection_closed = -32000  # same as the SDK's CONNECTION_CLOSED

        async def cancel_when_lost() -> None:
            await self._channel.wait_until_lost()
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_when_lost)
            while self.pending_count:
                changed = self.changed
                while self._questions:  # they can no longer be answered
                    error = ErrorData(code=connection_closed, message="the host has closed its input")
                    message = JSONRPCError(jsonrpc="2.0", id=self._questions.pop(), error=error)
                    await incoming.send(SessionMessage(message))
                await changed.wait()
            tasks.cancel_scope.cancel()

    async def _parse_line(self, line: HostLine) -> SessionMessage | None:
        """Return the message of a line, or None if handled here."""
        text = replace_surrogate_escapes(line.data.decode("utf-8", "replace"))
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            if error := explain_malformed_line(text):
                await self._channel.send_line(_serialize_message(error), line.number)
            else:
                await self._channel.acknowledge_line(line.number)
            return None
        if isinstance(message, JSONRPCRequest):
            return await self._accept_request(line, message)
        if isinstance(message, JSONRPCNotification):
            # The SDK treats a request with an unusable id as a notification.
            if '"id"' in text and (error := explain_invalid_id(text)):
                await self._channel.send_line(_serialize_message(error), line.number)
                return None
            return await self._accept_notification(line, message)
        self._questions.discard(message.id)
        await self._channel.acknowledge_line(line.number)
        # A response to an earlier process: its question ended with that process.
        return SessionMessage(message) if line.delivery == "new" else None

    async def _accept_request(self, line: HostLine, message: JSONRPCRequest) -> SessionMessage | None:
        if line.delivery == "failed" or (line.delivery == "retried" and not await self._can_repeat(message)):
            text = (
                "Outrider was restarted during this call, which may or may not have taken effect. "
                "Check that, then call again."
            )
            server_error = -32000  # of the codes that JSON-RPC 2.0 reserves for servers
            error = JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=server_error, message=text))
            await self._channel.send_line(_serialize_message(error), line.number)
            return None
        key = _build_request_key(message.id)
        self._line_numbers[key].append(REPLAYED_LINE if line.delivery == "replayed" else line.number)
        if message.method == LISTEN_METHOD:
            self._listen_requests.add(key)
        if message.method in REPLAYED_METHODS and line.delivery != "replayed":
            await self._channel.keep_for_replay(line.number)
        return SessionMessage(message)

    async def _accept_notification(self, line: HostLine, message: JSONRPCNotification) -> SessionMessage:
        if message.method in REPLAYED_METHODS and line.delivery != "replayed":
            await self._channel.keep_for_replay(line.number)
        if message.method == "notifications/cancelled":
            cancelled_number = self._finish_request((message.params or {}).get("requestId"))
            if cancelled_number > 0:
                await self._channel.acknowledge_line(cancelled_number)
        await self._channel.acknowledge_line(line.number)
        return SessionMessage(message)

    async def _send_responses(self, outgoing: Any) -> None:
        try:
            async with outgoing:
                async for session_message in outgoing:
                    message = session_message.message
                    is_response = not isinstance(message, JSONRPCRequest | JSONRPCNotification)
                    number = self._finish_request(message.id) if is_response else 0
                    if isinstance(message, JSONRPCRequest):
                        self._questions.add(message.id)
                        self._report_change()
                    if number != REPLAYED_LINE:
                        await self._channel.send_line(_serialize_message(message), number)
        except anyio.ClosedResourceError:
            return

    def _finish_request(self, request_id: Any) -> int:
        """Remove a pending request and return its line number; 0 if it is not pending."""
        key = _build_request_key(request_id)
        numbers = self._line_numbers[key]
        number = numbers.pop(0) if numbers else 0
        if not numbers:
            del self._line_numbers[key]
            self._listen_requests.discard(key)
        self._report_change()
        return number

    def _report_change(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


def build_repeat_predicate(toolbox: Toolbox) -> RepeatPredicate:
    """Return a predicate for requests that may run twice: all but calls of tools that change something."""

    async def is_repeatable(message: JSONRPCRequest) -> bool:
        if message.method != "tools/call":
            return True
        try:
            tool = await tool_names.resolve_tool(lean.get_called_name(message.params or {}), toolbox)
        except OutriderError:
            return True  # the tool is unknown, and the call is refused again
        return tool.effect == "read"

    return is_repeatable


def _serialize_message(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


def _build_request_key(request_id: Any) -> tuple[type, Any]:
    """Return a key that distinguishes 1 and "1". A cancellation may name any value, even if no request has it."""
    return (type(request_id), request_id) if isinstance(request_id, str | int) else (NoneType, None)
