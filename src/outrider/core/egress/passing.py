"""One connection to the guard's proxy: whether it knows the token, and where it may lead."""

import asyncio
import secrets
from base64 import b64encode
from collections import OrderedDict
from contextlib import suppress

import anyio
import h11
from anyio.abc import SocketStream

from outrider.core.egress.guard import Guard
from outrider.core.egress.relay import BROKEN, Client, relay_request, relay_tunnel
from outrider.core.egress.target import Target, read_authority, read_target
from outrider.core.errors import InvalidInput, OutriderError, Refused, Unavailable

HEAD_SECONDS = 10.0  # for a request's head
DIAL_SECONDS = 8.0  # less than actions in the browser wait for a document, so that they hear why there is none
FAILURES_KEPT = 100
STATUS: dict[type[OutriderError], int] = {Refused: 403, InvalidInput: 400, Unavailable: 502}


class Passing:
    """Lets requests through the guard, for whoever has the credentials.

    Args:
        guard: Decides where the program may go, and dials.
        credentials: `user:token`, as basic authentication has them.
        idle: Seconds without a byte after which a connection is closed.

    Attributes:
        failures: Why there was no connection to a host and port the last time, of the latest to which there was none.
    """

    def __init__(self, guard: Guard, credentials: str, *, idle: float) -> None:
        self.failures: OrderedDict[tuple[str, int], OutriderError] = OrderedDict()
        self._guard = guard
        self._expected = b"Basic " + b64encode(credentials.encode())
        self._user = credentials.partition(":")[0]
        self._idle = idle

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers one connection, and closes it."""
        client = Client(reader, writer)
        try:
            await self._answer(client)
        except h11.RemoteProtocolError as error:
            with suppress(*BROKEN):
                await client.answer(error.error_status_hint, "this is no proxy request")
        except (TimeoutError, *BROKEN):
            pass
        finally:
            await client.aclose()

    async def _answer(self, client: Client) -> None:
        with anyio.fail_after(HEAD_SECONDS):
            request = await client.event()
        if not isinstance(request, h11.Request):
            return
        if not self._knows(request):
            await client.answer(407, "the token is missing", [(b"proxy-authenticate", b'Basic realm="outrider"')])
            return
        try:
            await self._forward(client, request)
        except OutriderError as error:
            # RFC 9209 tells our answer from a server's, whose headers of that name are not passed on.
            own = [(b"proxy-status", f'{self._user}; details="{error.code}"'.encode("ascii", "replace"))]
            await client.answer(STATUS.get(type(error), 502), f"{error.message}\n{error.hint}\n", own)

    def _knows(self, request: h11.Request) -> bool:
        given = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        return secrets.compare_digest(given, self._expected)

    async def _forward(self, client: Client, request: h11.Request) -> None:
        """Lets one request through. Raises OutriderError before anything was answered."""
        text = request.target.decode("latin-1")
        target = None if request.method == b"CONNECT" else self._plain(text)
        host, port = (target.host, target.port) if target else read_authority(text)
        async with await self._dial(host, port) as server:
            if target is None:
                await relay_tunnel(client, server, self._idle)
                return
            try:
                await relay_request(client, request, target, server, self._idle)
            except BROKEN:
                if not client.answered:
                    message = f"{host} does not keep to HTTP, or broke off"
                    broken = Unavailable(message, code="protocol", hint="try later, or https:// instead of http://")
                    self._note((host, port), broken)
                    raise broken from None

    @staticmethod
    def _plain(text: str) -> Target:
        target = read_target(text)
        if target.scheme != "http":
            raise InvalidInput("only http:// goes without a tunnel", code="bad_url")
        return target

    async def _dial(self, host: str, port: int) -> SocketStream:
        try:
            with anyio.fail_after(DIAL_SECONDS):
                stream = await self._guard.dial(host, port)
        except TimeoutError:
            late = Unavailable(
                f"no connection to {host}:{port} within {DIAL_SECONDS:g} seconds",
                code="timeout",
                hint="it may be down, or not reachable from here: try later, or use another site",
            )
            self._note((host, port), late)
            raise late from None
        except OutriderError as error:
            self._note((host, port), error)
            raise
        self.failures.pop((host, port), None)
        return stream

    def _note(self, place: tuple[str, int], error: OutriderError) -> None:
        self.failures[place] = error
        self.failures.move_to_end(place)
        if len(self.failures) > FAILURES_KEPT:
            self.failures.popitem(last=False)
