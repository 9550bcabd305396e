"""One hop between replicas: a call about something that lives in another process is made there.

The request is sealed with a key that only the replicas have (derived from `serve.state_key`), and so is each line of
the answer: nobody in between can read, change or invent one. A request names the replica that it is for, the moment and
a number of its own, so that it is good once, there and now. What arrives here is never handed on: one hop, not two.
"""

import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from outrider.core.carried import call_facts, carried_call
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.serve.seal import codec, kept_key

PATH = "/internal/hop"
PURPOSE = b"outrider hop 1"
FRESH = 60.0  # seconds for which a request is good
REMEMBERED = 100_000  # numbers of requests that are known as used
LARGEST = 20_000_000  # bytes of a request
PULSE = 5.0  # seconds between two lines of an answer, whether there is something to tell or not
SILENCE = 20.0  # seconds without a line after which whoever asked takes the way there to be cut
LAST = {"result", "error"}  # what the last line of an answer says
# Makes a call of this process's own: tool, arguments, call.
Here = Callable[[str, dict[str, Any], Call], Awaitable[dict[str, Any]]]


class Seal:
    """The replicas' own seal.

    Args:
        key: The secret that all replicas share (`serve.state_key`); empty takes the one kept in `folder`.
        folder: Where this machine's own key is.
    """

    def __init__(self, key: str, folder: Path) -> None:
        secret = (key or kept_key(folder)).encode()
        self._codec = codec(hmac.new(secret, PURPOSE, hashlib.sha256).hexdigest(), folder)

    def closed(self, facts: Mapping[str, Any]) -> str:
        """The facts, sealed."""
        return self._codec.seal(json.dumps(facts).encode())

    def opened(self, token: str) -> dict[str, Any] | None:
        """The facts; None for what no replica has sealed."""
        try:
            return json.loads(self._codec.unseal(token))
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            return None


def asked(seal: Seal, to: str, at: float, *, tool: str, arguments: Mapping[str, Any], call: Call) -> tuple[str, str]:
    """A request and its number.

    Args:
        seal: The replicas' own.
        to: The replica that it is for.
        at: Now, by the clock of the database.
        tool: The tool's bare name.
        arguments: Its arguments.
        call: Who calls.
    """
    number = secrets.token_hex(16)
    facts = {"to": to, "at": at, "number": number, "tool": tool, "arguments": dict(arguments)}
    return seal.closed(facts | {"call": call_facts(call)}), number


class Door:
    """Where other replicas' calls come in.

    Args:
        seal: The replicas' own.
        replica: This process's name.
        now: The clock of the database.
        here: Makes the call.
    """

    def __init__(self, seal: Seal, replica: str, now: Callable[[], float], here: Here) -> None:
        self._seal = seal
        self._replica = replica
        self._now = now
        self._here = here
        self._used: OrderedDict[str, float] = OrderedDict()

    def route(self) -> Route:
        """The route to serve."""
        return Route(PATH, _Endpoint(self), methods=["POST"])

    def accepted(self, token: str) -> dict[str, Any] | None:
        """What is asked; None for a request that is not for this replica, not of now, or not for the first time."""
        facts = self._seal.opened(token)
        if facts is None or facts.get("to") != self._replica or abs(self._now() - facts["at"]) > FRESH:
            return None
        if facts["number"] in self._used:
            return None
        self._used[facts["number"]] = facts["at"]
        while len(self._used) > REMEMBERED or self._now() - next(iter(self._used.values())) > 2 * FRESH:
            self._used.popitem(last=False)
        return facts

    async def answer(self, facts: dict[str, Any], send: Send) -> None:
        """Makes the call, and tells progress and result as sealed lines."""
        into, out = anyio.create_memory_object_stream[dict[str, Any]](100)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._called, facts, into.clone())
            tasks.start_soon(_pulse, into)
            await self._written(facts["number"], out, send)
            tasks.cancel_scope.cancel()

    async def _called(self, facts: dict[str, Any], into: ObjectSendStream[dict[str, Any]]) -> None:
        async with into:
            await into.send(await self._made(facts, into))

    async def _made(self, facts: dict[str, Any], into: ObjectSendStream[dict[str, Any]]) -> dict[str, Any]:
        async def progress(done: float, total: float | None, message: str, data: dict[str, Any] | None = None) -> None:
            await into.send({"progress": [done, total, message, data]})

        async def alive(message: str) -> None:
            await into.send({"alive": message})

        call = carried_call(facts["call"], progress=progress, alive=alive)
        try:
            return {"result": await self._here(facts["tool"], facts["arguments"], call)}
        except OutriderError as error:
            return {"error": error.to_dict() | {"class": type(error).__name__}}

    async def _written(self, number: str, out: ObjectReceiveStream[dict[str, Any]], send: Send) -> None:
        async with out:
            count = 0
            told: dict[str, Any] = {}
            while not told.keys() & LAST:
                told = await out.receive()
                line = self._seal.closed(told | {"number": number, "count": count})
                await send({"type": "http.response.body", "body": f"{line}\n".encode(), "more_body": True})
                count += 1
        await send({"type": "http.response.body", "body": b""})


async def _pulse(into: ObjectSendStream[dict[str, Any]]) -> None:
    """Says again and again that the way is open."""
    async with into:
        while True:
            await anyio.sleep(PULSE)
            await into.send({"pulse": True})


class _Endpoint:
    """The door as an ASGI application: a caller that goes takes its call along."""

    def __init__(self, door: Door) -> None:
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        async for part in Request(scope, receive).stream():
            body += part
            if len(body) > LARGEST:
                return await Response(status_code=413)(scope, receive, send)
        facts = self._door.accepted(body.decode("latin-1"))
        if facts is None:
            return await Response(status_code=403)(scope, receive, send)
        headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_gone, receive, tasks.cancel_scope)
            await self._door.answer(facts, send)
            tasks.cancel_scope.cancel()
        return None

    async def _until_gone(self, receive: Receive, work: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        work.cancel()
