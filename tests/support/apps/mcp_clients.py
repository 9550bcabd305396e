"""Connect the official client in three protocol versions, with or without a person."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Self

from mcp import Client
from mcp.client._memory import InMemoryTransport
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp.types import CreateMessageResult, ElicitResult, InputRequiredResult, TextContent

NEWEST_VERSION, HANDSHAKE_VERSION, OLDEST_VERSION = PROTOCOL_VERSIONS = ("2026-07-28", "2025-11-25", "2024-11-05")
CLIENT_CAPABILITIES = ("person", "sampling", "nothing")


class _OlderVersionStream:
    """A stream of outgoing messages whose handshake offers an older version than the client's."""

    def __init__(self, stream: Any, version: str) -> None:
        self._stream = stream
        self._version = version

    async def send(self, item: SessionMessage) -> None:
        if getattr(item.message, "method", "") == "initialize":
            message: Any = item.message
            message.params["protocolVersion"] = self._version
        await self._stream.send(item)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)


class OlderTransport(InMemoryTransport):
    """The in-memory transport for a client of an older version."""

    def __init__(self, server: Server[Any], version: str) -> None:
        super().__init__(server)
        self._version = version

    async def __aenter__(self) -> Any:
        read, write = await super().__aenter__()
        return read, _OlderVersionStream(write, self._version)


async def _answer_sampling(*_: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", content=TextContent(text="no"), model="none")


class FormAnswerer:
    """Answers forms: `choose(form's properties)` returns the values, or None to close the form."""

    def __init__(self, choose: Any) -> None:
        self.forms: list[Any] = []
        self._choose_answer = choose

    async def __call__(self, context: Any, params: Any) -> ElicitResult:
        self.forms.append(params)
        filled = self._choose_answer(params.requested_schema["properties"])
        if filled is None or filled == "decline":
            return ElicitResult(action="decline" if filled else "cancel")
        return ElicitResult(action="accept", content=filled)


def choose_decision(decision: str, **more: str) -> Any:
    """Make the same choice for every question that offers it."""
    return lambda properties: {name: decision for name, field in properties.items() if "enum" in field} | more


def answer_requests(first: InputRequiredResult, decision: str = "approved") -> dict[str, Any]:
    """Return the answers to the forms of a paused call."""
    asked: dict[str, Any] = dict(first.input_requests or {})
    fields = {name: request.params.requested_schema["properties"] for name, request in asked.items()}
    return {
        name: ElicitResult(action="accept", content=choose_decision(decision)(each)) for name, each in fields.items()
    }


@asynccontextmanager
async def connect_client(
    server: Server[Any],
    version: str = NEWEST_VERSION,
    capabilities: str = "nothing",
    answerer: FormAnswerer | None = None,
    **options: Any,
) -> AsyncGenerator[Client]:
    """Connect a client of that protocol version with these capabilities."""
    if capabilities == "person":
        options["elicitation_callback"] = answerer
    if capabilities == "sampling":
        options["sampling_callback"] = _answer_sampling
    place = OlderTransport(server, version) if version == OLDEST_VERSION else server
    async with Client(place, mode="auto" if version == NEWEST_VERSION else "legacy", **options) as client:
        yield client
