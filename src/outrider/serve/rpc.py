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

from outrider.core.call_codec import parse_call, serialize_call
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.serve.state_encryption import build_state_codec, load_machine_key

RPC_PATH = "/internal/hop"
REQUEST_MAX_AGE_S = 60.0  # seconds for which a request is good
RPC_IDLE_TIMEOUT_S = 20.0  # seconds without a line after which whoever asked takes the way there to be cut
# Makes a call of this process's own: tool, arguments, call.
LocalHandler = Callable[[str, dict[str, Any], Call], Awaitable[dict[str, Any]]]


class RpcCipher:
    """The replicas' own seal.

    Args:
        key: The secret that all replicas share (`serve.state_key`); empty takes the one kept in `folder`.
        folder: Where this machine's own key is.
    """

    def __init__(self, key: str, folder: Path) -> None:
        purpose = b"outrider hop 1"
        secret = (key or load_machine_key(folder)).encode()
        self._codec = build_state_codec(hmac.new(secret, purpose, hashlib.sha256).hexdigest(), folder)

    def encrypt_payload(self, facts: Mapping[str, Any]) -> str:
        """The facts, sealed."""
        return self._codec.seal(json.dumps(facts).encode())

    def decrypt_payload(self, token: str) -> dict[str, Any] | None:
        """The facts; None for what no replica has sealed."""
        try:
            return json.loads(self._codec.unseal(token))
        except Exception:  # noqa: BLE001 - whatever is wrong with it
            return None


def build_rpc_request(
    cipher: RpcCipher, to: str, at: float, *, tool: str, arguments: Mapping[str, Any], call: Call
) -> tuple[str, str]:
    """A request and its number.

    Args:
        cipher: The replicas' own.
        to: The replica that it is for.
        at: Now, by the clock of the database.
        tool: The tool's bare name.
        arguments: Its arguments.
        call: Who calls.
    """
    number = secrets.token_hex(16)
    facts = {"to": to, "at": at, "number": number, "tool": tool, "arguments": dict(arguments)}
    return cipher.encrypt_payload(facts | {"call": serialize_call(call)}), number


class RpcEndpoint:
    """Where other replicas' calls come in.

    Args:
        cipher: The replicas' own.
        replica: This process's name.
        now: The clock of the database.
        call_local: Makes the call.
    """

    def __init__(self, cipher: RpcCipher, replica: str, now: Callable[[], float], call_local: LocalHandler) -> None:
        self._cipher = cipher
        self._replica = replica
        self._now = now
        self._call_local = call_local
        self._used_numbers: OrderedDict[str, float] = OrderedDict()

    def build_route(self) -> Route:
        """The route to serve."""
        return Route(RPC_PATH, _RpcApplication(self), methods=["POST"])

    def accept_request(self, token: str) -> dict[str, Any] | None:
        """What is asked; None for a request that is not for this replica, not of now, or not for the first time."""
        max_remembered = 100_000  # numbers of requests that are known as used
        facts = self._cipher.decrypt_payload(token)
        if facts is None or facts.get("to") != self._replica or abs(self._now() - facts["at"]) > REQUEST_MAX_AGE_S:
            return None
        if facts["number"] in self._used_numbers:
            return None
        self._used_numbers[facts["number"]] = facts["at"]
        while (
            len(self._used_numbers) > max_remembered
            or self._now() - next(iter(self._used_numbers.values())) > 2 * REQUEST_MAX_AGE_S
        ):
            self._used_numbers.popitem(last=False)
        return facts

    async def answer_request(self, facts: dict[str, Any], send: Send) -> None:
        """Makes the call, and tells progress and result as sealed lines."""
        into, out = anyio.create_memory_object_stream[dict[str, Any]](100)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._forward_result, facts, into.clone())
            tasks.start_soon(_send_heartbeats, into)
            await self._write_lines(facts["number"], out, send)
            tasks.cancel_scope.cancel()

    async def _forward_result(self, facts: dict[str, Any], into: ObjectSendStream[dict[str, Any]]) -> None:
        async with into:
            await into.send(await self._call_tool(facts, into))

    async def _call_tool(self, facts: dict[str, Any], into: ObjectSendStream[dict[str, Any]]) -> dict[str, Any]:
        async def report_progress(
            done: float, total: float | None, message: str, data: dict[str, Any] | None = None
        ) -> None:
            await into.send({"progress": [done, total, message, data]})

        async def report_alive(message: str) -> None:
            await into.send({"alive": message})

        call = parse_call(facts["call"], progress=report_progress, heartbeat=report_alive)
        try:
            return {"result": await self._call_local(facts["tool"], facts["arguments"], call)}
        except OutriderError as error:
            return {"error": error.to_dict() | {"class": type(error).__name__}}

    async def _write_lines(self, number: str, out: ObjectReceiveStream[dict[str, Any]], send: Send) -> None:
        final_keys = {"result", "error"}  # what the last line of an answer says
        async with out:
            count = 0
            told: dict[str, Any] = {}
            while not told.keys() & final_keys:
                told = await out.receive()
                line = self._cipher.encrypt_payload(told | {"number": number, "count": count})
                await send({"type": "http.response.body", "body": f"{line}\n".encode(), "more_body": True})
                count += 1
        await send({"type": "http.response.body", "body": b""})


async def _send_heartbeats(into: ObjectSendStream[dict[str, Any]]) -> None:
    """Says again and again that the way is open."""
    heartbeat_interval_s = 5.0  # seconds between two lines of an answer, whether there is something to tell or not
    async with into:
        while True:
            await anyio.sleep(heartbeat_interval_s)
            await into.send({"pulse": True})


class _RpcApplication:
    """The door as an ASGI application: a caller that goes takes its call along."""

    def __init__(self, endpoint: RpcEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        max_request_bytes = 20_000_000  # bytes of a request
        body = b""
        async for part in Request(scope, receive).stream():
            body += part
            if len(body) > max_request_bytes:
                return await Response(status_code=413)(scope, receive, send)
        facts = self._endpoint.accept_request(body.decode("latin-1"))
        if facts is None:
            return await Response(status_code=403)(scope, receive, send)
        headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel_on_disconnect, receive, tasks.cancel_scope)
            await self._endpoint.answer_request(facts, send)
            tasks.cancel_scope.cancel()
        return None

    async def _cancel_on_disconnect(self, receive: Receive, work: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        work.cancel()
