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
from outrider.serve import names
from outrider.serve.letters import readable

# What a connection has agreed on, and what the next process must therefore hear too.
KEPT = frozenset(
    {"initialize", "notifications/initialized", "logging/setLevel", "resources/subscribe", "outrider/switch_context"}
)
LASTING = "subscriptions/listen"  # a request that is under way for as long as somebody listens
INTERRUPTED = -32000  # of the codes that JSON-RPC 2.0 leaves to servers
REPLAYED = -1
AGAIN = (
    "Outrider was restarted while this call was under way, so it may have had its effect or not. "
    "Look how things stand, then call again."
)
Repeatable = Callable[[JSONRPCRequest], Awaitable[bool]]


@dataclass(frozen=True)
class Line:
    """A line of the host: its number, its bytes, and whether an earlier connection has answered or lost it.

    `failed`: lost so often that it may be the reason.
    """

    number: int
    data: bytes
    how: Literal["new", "replayed", "retried", "failed"] = "new"


class Channel(Protocol):
    """The other side."""

    def lines(self) -> AsyncIterator[Line]:
        """The host's lines, until there are no more."""
        ...

    async def output(self, text: str, number: int) -> None:
        """Sends a line that answers the line of that number, or none if it is 0."""
        ...

    async def done(self, number: int) -> None:
        """Says that a line needs no answer."""
        ...

    async def keep(self, number: int) -> None:
        """Asks for a line to be replayed on later connections."""
        ...


class Desk:
    """What comes and goes over one connection."""

    def __init__(self, channel: Channel, repeatable: Repeatable) -> None:
        self._channel = channel
        self._repeatable = repeatable
        self._numbers: dict[tuple[type, Any], int] = {}
        self._lasting: set[tuple[type, Any]] = set()
        self.changed = anyio.Event()

    @property
    def under_way(self) -> int:
        """Requests that will be answered by themselves."""
        return len(self._numbers.keys() - self._lasting)

    async def serve(self, server: Server[Any]) -> None:
        """Speaks MCP until the host says no more."""
        incoming, read = create_context_streams[SessionMessage | Exception](0)
        write, outgoing = create_context_streams[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._take, incoming)
            tasks.start_soon(self._give, outgoing)
            await server.run(read, write, server.create_initialization_options())

    async def _take(self, incoming: Any) -> None:
        try:
            async with incoming:
                async for line in self._channel.lines():
                    if (message := await self._read(line)) is not None:
                        await incoming.send(message)
        except anyio.ClosedResourceError:
            return

    async def _read(self, line: Line) -> SessionMessage | None:
        """The message in a line; None for one that goes no further."""
        text = readable(line.data.decode("utf-8", "replace"))
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            return await self._refuse(line, text)
        if isinstance(message, JSONRPCRequest):
            return await self._request(line, message)
        if isinstance(message, JSONRPCNotification):
            return await self._notice(line, message) if '"id"' not in text else await self._named(line, message, text)
        await self._channel.done(line.number)
        return SessionMessage(message) if line.how == "new" else None  # the question went with its process

    async def _refuse(self, line: Line, text: str) -> None:
        """Says that a line is no message; who sent it would wait for ever."""
        from outrider.serve.unread import refusal

        if error := refusal(text):
            await self._channel.output(_written(error), line.number)
        else:
            await self._channel.done(line.number)

    async def _named(self, line: Line, message: JSONRPCNotification, text: str) -> SessionMessage | None:
        """A notification with an id somewhere: one whose id is not to be used is a request, and answered."""
        from outrider.serve.unread import misnamed

        if not (error := misnamed(text)):
            return await self._notice(line, message)
        await self._channel.output(_written(error), line.number)
        return None

    async def _request(self, line: Line, message: JSONRPCRequest) -> SessionMessage | None:
        if line.how == "failed" or (line.how == "retried" and not await self._repeatable(message)):
            error = JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=INTERRUPTED, message=AGAIN))
            await self._channel.output(_written(error), line.number)
            return None
        key = _key(message.id)
        self._numbers[key] = REPLAYED if line.how == "replayed" else line.number
        if message.method == LASTING:
            self._lasting.add(key)
        if message.method in KEPT and line.how != "replayed":
            await self._channel.keep(line.number)
        return SessionMessage(message)

    async def _notice(self, line: Line, message: JSONRPCNotification) -> SessionMessage:
        if message.method in KEPT and line.how != "replayed":
            await self._channel.keep(line.number)
        if message.method == "notifications/cancelled":
            cancelled = self._ended((message.params or {}).get("requestId"))
            if cancelled > 0:
                await self._channel.done(cancelled)
        await self._channel.done(line.number)
        return SessionMessage(message)

    async def _give(self, outgoing: Any) -> None:
        try:
            async with outgoing:
                async for each in outgoing:
                    message = each.message
                    answers = not isinstance(message, JSONRPCRequest | JSONRPCNotification)
                    number = self._ended(message.id) if answers else 0
                    if number != REPLAYED:
                        await self._channel.output(_written(message), number)
        except anyio.ClosedResourceError:
            return

    def _ended(self, request: Any) -> int:
        """The number of the line of a request that is under way no more; 0 if there is none."""
        number = self._numbers.pop(_key(request), 0)
        self._lasting.discard(_key(request))
        self.changed.set()
        self.changed = anyio.Event()
        return number


def repeats(toolbox: Toolbox) -> Repeatable:
    """Whether a request may be done twice: calls of tools that only read, and all that is no call."""

    async def repeatable(message: JSONRPCRequest) -> bool:
        if message.method != "tools/call":
            return True
        try:
            tool = await names.resolved(str((message.params or {}).get("name", "")), toolbox)
        except OutriderError:
            return True  # it is refused again
        return tool.effect == "read"

    return repeatable


def _written(message: JSONRPCMessage) -> str:
    return message.model_dump_json(by_alias=True, exclude_unset=True)


def _key(request: Any) -> tuple[type, Any]:
    """1 and "1" are different requests."""
    return type(request), request
