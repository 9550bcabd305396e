"""Handle connections to the egress proxy: authenticate, check the target, and forward."""

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
    """Forwards requests of authenticated clients through the guard.

    Args:
        guard: Decides where the program may go, and dials.
        credentials: `user:token`, for basic authentication.
        idle_seconds: A connection without data is closed after this time.

    Attributes:
        failures: The last error by host and port, for the most recent unreachable ones.
    """

    def __init__(self, guard: EgressGuard, credentials: str, *, idle_seconds: float) -> None:
        self.failures: OrderedDict[tuple[str, int], OutriderError] = OrderedDict()
        self._guard = guard
        self._authorization = b"Basic " + b64encode(credentials.encode())
        self._user = credentials.partition(":")[0]
        self._idle_seconds = idle_seconds

    async def handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, and close it."""
        client = ProxyClient(reader, writer)
        try:
            await self._handle_request(client)
        except h11.RemoteProtocolError as error:
            with suppress(*FORWARD_ERRORS):
                await client.send_response(error.error_status_hint, "this is not a proxy request")
        except (TimeoutError, *FORWARD_ERRORS):
            pass
        finally:
            await client.aclose()

    async def _handle_request(self, client: ProxyClient) -> None:
        head_timeout_s = 10.0
        with anyio.fail_after(head_timeout_s):
            request = await client.read_event()
        if not isinstance(request, h11.Request):
            return
        authorization = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        if not secrets.compare_digest(authorization, self._authorization):
            challenge = [(b"proxy-authenticate", b'Basic realm="outrider"')]
            await client.send_response(407, "the token is missing", challenge)
            return
        try:
            await self._forward_request(client, request)
        except OutriderError as error:
            status_by_error: dict[type[OutriderError], int] = {Refused: 403, InvalidInput: 400, Unavailable: 502}
            status = status_by_error.get(type(error), 502)
            # RFC 9209. A server's header of that name is not forwarded, so this one marks the proxy's own answers.
            headers = [(b"proxy-status", f'{self._user}; details="{error.code}"'.encode("ascii", "replace"))]
            await client.send_response(status, f"{error.message}\n{error.hint}\n", headers)

    async def _forward_request(self, client: ProxyClient, request: h11.Request) -> None:
        """Forward one request. Raises OutriderError only before the response has been started."""
        text = request.target.decode("latin-1")
        target: RequestTarget | None = None
        if request.method == b"CONNECT":
            host, port = parse_authority(text)
        else:
            target = parse_target(text)
            if target.scheme != "http":
                raise InvalidInput("only http:// works without a tunnel", code="bad_url", hint="use CONNECT")
            host, port = target.host, target.port
        async with await self._dial_target(host, port) as server:
            if target is None:
                await forward_tunnel(client, server, self._idle_seconds)
                return
            try:
                await forward_request(client, request, target, server, self._idle_seconds)
            except FORWARD_ERRORS:
                if not client.has_answered:
                    message = f"{host} does not follow HTTP, or broke off"
                    failure = Unavailable(message, code="protocol", hint="try later, or https:// instead of http://")
                    self._record_failure(host, port, failure)
                    raise failure from None

    async def _dial_target(self, host: str, port: int) -> SocketStream:
        dial_timeout_s = 8.0  # less than browser actions wait for a document, so that they can report the reason
        try:
            with anyio.fail_after(dial_timeout_s):
                stream = await self._guard.dial(host, port)
        except TimeoutError:
            failure = Unavailable(
                f"no connection to {host}:{port} within {dial_timeout_s:g} seconds",
                code="timeout",
                hint="it may be down, or not reachable from here: try later, or use another site",
            )
            self._record_failure(host, port, failure)
            raise failure from None
        except OutriderError as error:
            self._record_failure(host, port, error)
            raise
        self.failures.pop((host, port), None)
        return stream

    def _record_failure(self, host: str, port: int, error: OutriderError, max_failures: int = 100) -> None:
        self.failures[host, port] = error
        self.failures.move_to_end((host, port))
        if len(self.failures) > max_failures:
            self.failures.popitem(last=False)
