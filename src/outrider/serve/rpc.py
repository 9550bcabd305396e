"""Call tools of another replica that has the call's session.

The request and each line of the response are encrypted with a key that only the replicas have (derived from
`serve.state_key`), so that no one in between can read, change or forge one. A request names its target replica, its
time and a nonce, so that it is accepted once, there and then. A received call is never forwarded again.
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
from anyio.abc import ObjectSendStream
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from outrider.core.call_codec import parse_call, serialize_call
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.serve.disconnects import cancel_on_disconnect
from outrider.serve.state_codec import StateCodec, load_machine_key

RPC_PATH = "/internal/hop"
REQUEST_MAX_AGE_S = 60.0
RPC_IDLE_TIMEOUT_S = 20.0  # after this time without a line, the caller takes the connection to be lost
# Calls a tool of this process with its arguments.
LocalHandler = Callable[[str, dict[str, Any], Call], Awaitable[dict[str, Any]]]


class RpcCipher:
    """Encrypts the messages between replicas.

    Args:
        key: The secret that all replicas share (`serve.state_key`); empty uses this machine's key.
        folder: The folder of this machine's key.
    """

    def __init__(self, key: str, folder: Path) -> None:
        purpose = b"outrider hop 1"  # replicas of all versions derive their key from it
        secret = (key or load_machine_key(folder)).encode()
        self._codec = StateCodec(hmac.new(secret, purpose, hashlib.sha256).hexdigest(), folder)

    def encrypt_payload(self, payload: Mapping[str, Any]) -> str:
        """Encrypt a payload."""
        return self._codec.seal(json.dumps(payload).encode())

    def decrypt_payload(self, token: str) -> dict[str, Any] | None:
        """Decrypt a payload; return None if it is not from a replica."""
        try:
            return json.loads(self._codec.unseal(token))
        except Exception:  # noqa: BLE001 - the token may be wrong in any way
            return None


def build_rpc_request(
    cipher: RpcCipher, to: str, at: float, *, tool: str, arguments: Mapping[str, Any], call: Call
) -> tuple[str, str]:
    """Build an encrypted request; return it with its nonce.

    Args:
        cipher: Encrypts it.
        to: The target replica.
        at: Now, by the clock of the database.
        tool: The tool's bare name.
        arguments: Its arguments.
        call: The caller.
    """
    nonce = secrets.token_hex(16)
    request = {"to": to, "at": at, "number": nonce, "tool": tool, "arguments": dict(arguments)}
    return cipher.encrypt_payload(request | {"call": serialize_call(call)}), nonce


class RpcEndpoint:
    """Receives calls of other replicas.

    Args:
        cipher: Decrypts requests and encrypts responses.
        replica: This process's name.
        now: The clock of the database.
        call_local: Calls the tool.
    """

    def __init__(self, cipher: RpcCipher, replica: str, now: Callable[[], float], call_local: LocalHandler) -> None:
        self._cipher = cipher
        self._replica = replica
        self._now = now
        self._call_local = call_local
        self._used_nonces: OrderedDict[str, float] = OrderedDict()

    def build_route(self) -> Route:
        """Build the route to serve."""
        return Route(RPC_PATH, _RpcApplication(self), methods=["POST"])

    def accept_request(self, token: str) -> dict[str, Any] | None:
        """Decrypt a request; return None if it is for another replica, too old, or was received before."""
        max_nonces = 100_000
        request = self._cipher.decrypt_payload(token)
        if request is None or request.get("to") != self._replica or request["number"] in self._used_nonces:
            return None
        if abs(self._now() - request["at"]) > REQUEST_MAX_AGE_S:
            return None
        self._used_nonces[request["number"]] = request["at"]
        while (
            len(self._used_nonces) > max_nonces
            or self._now() - next(iter(self._used_nonces.values())) > 2 * REQUEST_MAX_AGE_S
        ):
            self._used_nonces.popitem(last=False)
        return request

    async def answer_request(self, request: dict[str, Any], send: Send) -> None:
        """Call the tool, and send progress and result as encrypted lines."""
        heartbeat_interval_s = 5.0
        into, out = anyio.create_memory_object_stream[dict[str, Any]](100)

        async def send_heartbeats() -> None:
            async with into:
                while True:
                    await anyio.sleep(heartbeat_interval_s)
                    await into.send({"pulse": True})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._call_tool, request, into.clone())
            tasks.start_soon(send_heartbeats)
            async with out:
                count = 0
                payload: dict[str, Any] = {}
                while "result" not in payload and "error" not in payload:
                    payload = await out.receive()
                    line = self._cipher.encrypt_payload(payload | {"number": request["number"], "count": count})
                    await send({"type": "http.response.body", "body": f"{line}\n".encode(), "more_body": True})
                    count += 1
            await send({"type": "http.response.body", "body": b""})
            tasks.cancel_scope.cancel()

    async def _call_tool(self, request: dict[str, Any], into: ObjectSendStream[dict[str, Any]]) -> None:
        async def report_progress(
            done: float, total: float | None, message: str, data: dict[str, Any] | None = None
        ) -> None:
            await into.send({"progress": [done, total, message, data]})

        async def report_alive(message: str) -> None:
            await into.send({"alive": message})

        call = parse_call(request["call"], progress=report_progress, heartbeat=report_alive)
        async with into:
            try:
                result = await self._call_local(request["tool"], request["arguments"], call)
                await into.send({"result": result})
            except OutriderError as error:
                await into.send({"error": error.to_dict() | {"class": type(error).__name__}})


class _RpcApplication:
    """The endpoint as an ASGI application. A call is cancelled when its caller disconnects."""

    def __init__(self, endpoint: RpcEndpoint) -> None:
        self._endpoint = endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        max_request_bytes = 20_000_000
        body = b""
        async for part in Request(scope, receive).stream():
            body += part
            if len(body) > max_request_bytes:
                return await Response(status_code=413)(scope, receive, send)
        request = self._endpoint.accept_request(body.decode("latin-1"))
        if request is None:
            return await Response(status_code=403)(scope, receive, send)
        headers = [(b"content-type", b"text/plain"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_on_disconnect, receive, tasks.cancel_scope)
            await self._endpoint.answer_request(request, send)
            tasks.cancel_scope.cancel()
        return None
