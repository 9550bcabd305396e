"""Guarded httpx2 clients for libraries such as model SDKs."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpcore2
import httpx2

from outrider.core.egress.backend import GuardedBackend, GuardedStream, ReadLimitExceeded, StaleConnection
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.target import parse_target
from outrider.core.errors import OutriderError, Unavailable

UNREACHABLE_CODE = "unreachable"  # of an error before anything was sent


def build_guarded_client(guard: EgressGuard, *, trusted: str = "", seconds: float = 120.0) -> httpx2.AsyncClient:
    """Return a client whose connections all pass the guard.

    It does not follow redirects, keep cookies or read the environment.

    Args:
        guard: Decides where requests may go, and dials.
        trusted: An address from the operator's settings: its origin may be private and on any port.
        seconds: Read timeout; connecting may take 10 seconds.
    """
    timeout = httpx2.Timeout(seconds, connect=10.0)
    return httpx2.AsyncClient(transport=_GuardedTransport(guard, trusted), timeout=timeout, trust_env=False)


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests over guarded connections."""

    def __init__(self, guard: EgressGuard, trusted: str) -> None:
        self._guard = guard
        self._trusted = parse_target(trusted).origin if trusted else None
        self._pools: dict[bool, httpcore2.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        max_response_bytes = 64_000_000
        target = parse_target(str(request.url))
        trusted = target.origin == self._trusted
        core_request = httpcore2.Request(
            request.method,
            httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=request.url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions={"timeout": request.extensions.get("timeout", {})},
        )
        with _translate_errors(request):
            self._guard.check_host(target.host, target.port, trusted=trusted)
            if trusted not in self._pools:
                self._pools[trusted] = httpcore2.AsyncConnectionPool(
                    ssl_context=_build_ssl_context(),
                    max_connections=100,
                    keepalive_expiry=15.0,  # seconds
                    network_backend=GuardedBackend(self._guard, trusted=trusted),
                )
            response = await self._pools[trusted].handle_async_request(core_request)
            stream = response.extensions["network_stream"]
            if isinstance(stream, GuardedStream):
                stream.begin_body(max_response_bytes)
        return httpx2.Response(response.status, headers=response.headers, stream=_ResponseStream(response, request))

    async def aclose(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()


class _ResponseStream(httpx2.AsyncByteStream):
    """The bytes of a response as they arrive."""

    def __init__(self, response: httpcore2.Response, request: httpx2.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        with _translate_errors(self._request):
            # Not `aiter_stream()`, because SDKs iterate once more after the end.
            async for part in self._response.stream:  # ty: ignore
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@lru_cache(maxsize=1)
def _build_ssl_context() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()


@contextmanager
def _translate_errors(request: httpx2.Request) -> Any:
    """Raise errors of the wire and the guard as httpx2's.

    SDKs know how to retry those.
    """
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout("the connection timed out", request=request) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout("the response timed out", request=request) from error
    except (httpcore2.ProtocolError, ReadLimitExceeded) as error:
        raise httpx2.RemoteProtocolError("the response ended early or is not HTTP", request=request) from error
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError("no connection", request=request) from error
    except (httpcore2.NetworkError, StaleConnection) as error:
        raise httpx2.ReadError("the connection broke", request=request) from error
    except OutriderError as error:
        raise httpx2.ConnectError(error.message, request=request) from error


async def stream_lines(guard: EgressGuard, url: str, body: bytes, *, seconds: float) -> AsyncGenerator[str]:
    """Post the body, and yield the lines of the answer as they arrive; closing the generator ends the request.

    Args:
        guard: Opens the connection.
        url: A trusted address.
        body: The request's body.
        seconds: Read timeout.

    Raises:
        Unavailable: code `unreachable` if there was no connection, else `hop`.
    """
    async with build_guarded_client(guard, trusted=url, seconds=seconds) as client:
        try:
            async with client.stream("POST", url, content=body) as answer:
                if answer.status_code != 200:
                    raise Unavailable(f"the other replica answered {answer.status_code}", code="hop")
                async for line in answer.aiter_lines():
                    yield line
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Unavailable("the other replica cannot be reached", code=UNREACHABLE_CODE) from error
        except httpx2.HTTPError as error:
            raise Unavailable(
                "the connection to the other replica broke", code="hop", hint="the call may have taken effect"
            ) from error
