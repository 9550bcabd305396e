"""Serves one host: over standard input and output, or over a connection that may be lost and made again.

Each line of the host has a number. Which of them an answer belongs to is told to the other side, so that it knows what
was under way when a connection is lost, and can hand that to the next process.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
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
from outrider.serve import tool_names
from outrider.serve.surrogates import replace_surrogate_escapes

# What a connection has agreed on, and what the next process must therefore hear too.
REPLAYED_METHODS = frozenset(
    {"initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe", "outrider/switch_context"}
)
LISTEN_METHOD = "subscriptions/listen"  # a request that is under way for as long as somebody listens
REPLAYED_LINE = -1
RepeatPredicate = Callable[[JSONRPCRequest], Awaitable[bool]]


@dataclass(frozen=True)
class HostLine:
    """A line of the host: its number, its bytes, and whether an earlier connection has answered or lost it.

    `failed`: lost so often that it may be the reason.
    """

    number: int
    data: bytes
    delivery: Literal["new", "replayed", "retried", "failed"] = "new"


class HostChannel(Protocol):
    """The other side."""

    def iter_lines(self) -> AsyncIterator[HostLine]:
        """The host's lines, until there are no more."""
        ...

    async def send_line(self, text: str, number: int) -> None:
        """Sends a line that answers the line of that number, or none if it is 0."""
        ...

    async def acknowledge_line(self, number: int) -> None:
        """Says that a line needs no answer."""
        ...

    async def keep_for_replay(self, number: int) -> None:
        """Asks for a line to be replayed on later connections."""
        ...


class HostSession:
    """What comes and goes over one connection."""

    def __init__(self, channel: HostChannel, can_repeat: RepeatPredicate) -> None:
        self._channel = channel
        self._can_repeat = can_repeat
        self._line_numbers: dict[tuple[type, Any], int] = {}
        self._listen_requests: set[tuple[type, Any]] = set()
        self.changed = anyio.Event()

    @property
    def pending_count(self) -> int:
        """Requests that will be answered by themselves."""
        return len(self._line_numbers.keys() - self._listen_requests)

    async def serve(self, server: Server[Any]) -> None:
        """Speaks MCP until the host says no more."""
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
        except anyio.ClosedResourceError:
            return

    async def _parse_line(self, line: HostLine) -> SessionMessage | None:
        """The message in a line; None for one that goes no further."""
        text = replace_surrogate_escapes(line.data.decode("utf-8", "replace"))
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            return await self._reply_malformed(line, text)
        if isinstance(message, JSONRPCRequest):
            return await self._accept_request(line, message)
        if isinstance(message, JSONRPCNotification):
            return (
                await self._accept_notification(line, message)
                if '"id"' not in text
                else await self._check_notification_id(line, message, text)
            )
        await self._channel.acknowledge_line(line.number)
        return SessionMessage(message) if line.delivery == "new" else None  # the question went with its process

    async def _reply_malformed(self, line: HostLine, text: str) -> None:
        """Says that a line is no message; who sent it would wait for ever."""
        from outrider.serve.malformed import explain_malformed_line

        if error := explain_malformed_line(text):
            await self._channel.send_line(_serialize_message(error), line.number)
        else:
            await self._channel.acknowledge_line(line.number)

    async def _check_notification_id(
        self, line: HostLine, message: JSONRPCNotification, text: str
    ) -> SessionMessage | None:
        """A notification with an id somewhere: one whose id is not to be used is a request, and answered."""
        from outrider.serve.malformed import explain_invalid_id

        if not (error := explain_invalid_id(text)):
            return await self._accept_notification(line, message)
        await self._channel.send_line(_serialize_message(error), line.number)
        return None

    async def _accept_request(self, line: HostLine, message: JSONRPCRequest) -> SessionMessage | None:
        interrupted_message = (
            "Outrider was restarted while this call was under way, so it may have had its effect or not. "
            "Look how things stand, then call again."
        )
        interrupted_code = -32000  # of the codes that JSON-RPC 2.0 leaves to servers
        if line.delivery == "failed" or (line.delivery == "retried" and not await self._can_repeat(message)):
            error = JSONRPCError(
                jsonrpc="2.0", id=message.id, error=ErrorData(code=interrupted_code, message=interrupted_message)
            )
            await self._channel.send_line(_serialize_message(error), line.number)
            return None
        key = _build_request_key(message.id)
        self._line_numbers[key] = REPLAYED_LINE if line.delivery == "replayed" else line.number
        if message.method == LISTEN_METHOD:
            self._listen_requests.add(key)
        if message.method in REPLAYED_METHODS and line.delivery != "replayed":
            await self._channel.keep_for_replay(line.number)
        return SessionMessage(message)

    async def _accept_notification(self, line: HostLine, message: JSONRPCNotification) -> SessionMessage:
        if message.method in REPLAYED_METHODS and line.delivery != "replayed":
            await self._channel.keep_for_replay(line.number)
        if message.method == "notifications/cancelled":
            cancelled = self._finish_request((message.params or {}).get("requestId"))
            if cancelled > 0:
                await self._channel.acknowledge_line(cancelled)
        await self._channel.acknowledge_line(line.number)
        return SessionMessage(message)

    async def _send_responses(self, outgoing: Any) -> None:
        try:
            async with outgoing:
                async for each in outgoing:
                    message = each.message
                    answers = not isinstance(message, JSONRPCRequest | JSONRPCNotification)
                    number = self._finish_request(message.id) if answers else 0
                    if number != REPLAYED_LINE:
                        await self._channel.send_line(_serialize_message(message), number)
        except anyio.ClosedResourceError:
            return

    def _finish_request(self, request: Any) -> int:
        """The number of the line of a request that is under way no more; 0 if there is none."""
        number = self._line_numbers.pop(_build_request_key(request), 0)
        self._listen_requests.discard(_build_request_key(request))
        self.changed.set()
        self.changed = anyio.Event()
        return number


def build_repeat_predicate(toolbox: Toolbox) -> RepeatPredicate:
    """Whether a request may be done twice: calls of tools that only read, and all that is no call."""

    async def is_repeatable(message: JSONRPCRequest) -> bool:
        if message.method != "tools/call":
            return True
        try:
            tool = await tool_names.resolve_tool(str((message.params or {}).get("name", "")), toolbox)
        except OutriderError:
            return True  # it is refused again
        return tool.effect == "read"

    return is_repeatable


def _serialize_message(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


def _build_request_key(request: Any) -> tuple[type, Any]:
    """1 and "1" are different requests."""
    return type(request), request
