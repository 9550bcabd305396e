"""One connection to the guard's proxy: whether it knows the token, and where it may lead."""

import asyncio
import secrets
from base64 import b64encode
from collections import OrderedDict
from contextlib import suppress

import anyio
import h11
from anyio.abc import SocketStream

from outrider.core.egress.forward import FORWARD_ERRORS, ProxyClient, forward_request, forward_tunnel
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.target import RequestTarget, parse_authority, parse_target
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable


class ProxyHandler:
    """Lets requests through the guard, for whoever has the credentials.

    Args:
        guard: Decides where the program may go, and dials.
        credentials: `user:token`, as basic authentication has them.
        idle: Seconds without a byte after which a connection is closed.

    Attributes:
        failures: Why there was no connection to a host and port the last time, of the latest to which there was none.
    """

    def __init__(self, guard: EgressGuard, credentials: str, *, idle: float) -> None:
        self.failures: OrderedDict[tuple[str, int], OutriderError] = OrderedDict()
        self._guard = guard
        self._expected = b"Basic " + b64encode(credentials.encode())
        self._user = credentials.partition(":")[0]
        self._idle = idle

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection, and closes it."""
        client = ProxyClient(reader, writer)
        try:
            await self._handle_request(client)
        except h11.RemoteProtocolError as error:
            with suppress(*FORWARD_ERRORS):
                await client.send_response(error.error_status_hint, "this is no proxy request")
        except (TimeoutError, *FORWARD_ERRORS):
            pass
        finally:
            await client.aclose()

    async def _handle_request(self, client: ProxyClient) -> None:
        status_by_error: dict[type[OutriderError], int] = {Refused: 403, InvalidInput: 400, Unavailable: 502}
        head_timeout_s = 10.0  # for a request's head
        with anyio.fail_after(head_timeout_s):
            request = await client.read_event()
        if not isinstance(request, h11.Request):
            return
        if not self._knows(request):
            await client.send_response(
                407, "the token is missing", [(b"proxy-authenticate", b'Basic realm="outrider"')]
            )
            return
        try:
            await self._forward_request(client, request)
        except OutriderError as error:
            # RFC 9209 tells our answer from a server's, whose headers of that name are not passed on.
            own = [(b"proxy-status", f'{self._user}; details="{error.code}"'.encode("ascii", "replace"))]
            await client.send_response(status_by_error.get(type(error), 502), f"{error.message}\n{error.hint}\n", own)

    def _knows(self, request: h11.Request) -> bool:
        given = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        return secrets.compare_digest(given, self._expected)

    async def _forward_request(self, client: ProxyClient, request: h11.Request) -> None:
        """Lets one request through. Raises OutriderError before anything was answered."""
        text = request.target.decode("latin-1")
        target = None if request.method == b"CONNECT" else self._plain(text)
        host, port = (target.host, target.port) if target else parse_authority(text)
        async with await self._dial_target(host, port) as server:
            if target is None:
                await forward_tunnel(client, server, self._idle)
                return
            try:
                await forward_request(client, request, target, server, self._idle)
            except FORWARD_ERRORS:
                if not client.has_answered:
                    message = f"{host} does not keep to HTTP, or broke off"
                    broken = Unavailable(message, code="protocol", hint="try later, or https:// instead of http://")
                    self._record_failure((host, port), broken)
                    raise broken from None

    @staticmethod
    def _plain(text: str) -> RequestTarget:
        target = parse_target(text)
        if target.scheme != "http":
            raise InvalidInput("only http:// goes without a tunnel", code="bad_url")
        return target

    async def _dial_target(self, host: str, port: int) -> SocketStream:
        dial_timeout_s = (
            8.0  # less than actions in the browser wait for a document, so that they hear why there is none
        )
        try:
            with anyio.fail_after(dial_timeout_s):
                stream = await self._guard.dial(host, port)
        except TimeoutError:
            late = Unavailable(
                f"no connection to {host}:{port} within {dial_timeout_s:g} seconds",
                code="timeout",
                hint="it may be down, or not reachable from here: try later, or use another site",
            )
            self._record_failure((host, port), late)
            raise late from None
        except OutriderError as error:
            self._record_failure((host, port), error)
            raise
        self.failures.pop((host, port), None)
        return stream

    def _record_failure(self, place: tuple[str, int], error: OutriderError) -> None:
        max_failures = 100
        self.failures[place] = error
        self.failures.move_to_end(place)
        if len(self.failures) > max_failures:
            self.failures.popitem(last=False)
