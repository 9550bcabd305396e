"""The guard for libraries that speak HTTP through an httpx2 client: the vendors' SDKs of language models."""

import ssl
from collections.abc import AsyncGenerator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import httpcore2
import httpx2

from outrider.core.egress.backend import GuardedBackend, GuardedStream, ReadLimitExceeded, StaleConnection
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.target import RequestTarget, parse_target
from outrider.core.errors import OutriderError


def build_guarded_client(guard: EgressGuard, *, trusted: str = "", seconds: float = 120.0) -> httpx2.AsyncClient:
    """A client whose every connection passes the guard. It follows no redirects, keeps no cookies and reads no
    environment.

    Args:
        guard: Decides where requests may go, and dials.
        trusted: An address from the operator's own settings: its origin may be private and on any port.
        seconds: How long the other side may be silent; connecting has 10.
    """
    timeout = httpx2.Timeout(seconds, connect=10.0)
    return httpx2.AsyncClient(transport=_GuardedTransport(guard, trusted), timeout=timeout, trust_env=False)


class _GuardedTransport(httpx2.AsyncBaseTransport):
    """Requests over connections of the guard."""

    def __init__(self, guard: EgressGuard, trusted: str) -> None:
        self._guard = guard
        self._trusted = parse_target(trusted).origin if trusted else None
        self._pools: dict[bool, httpcore2.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        max_answer_bytes = 64_000_000  # one answer, streamed ones included
        target = parse_target(str(request.url))
        trusted = target.origin == self._trusted
        with _translate_errors(request):
            self._guard.check_host(target.host, target.port, trusted=trusted)
            answer = await self._get_pool(trusted=trusted).handle_async_request(_build_core_request(request, target))
            stream = answer.extensions["network_stream"]
            if isinstance(stream, GuardedStream):
                stream.begin_body(max_answer_bytes)
        return httpx2.Response(answer.status, headers=answer.headers, stream=_ResponseStream(answer, request))

    async def aclose(self) -> None:
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    def _get_pool(self, *, trusted: bool) -> httpcore2.AsyncConnectionPool:
        idle_timeout_s = 15.0
        max_connections = 100
        if trusted not in self._pools:
            self._pools[trusted] = httpcore2.AsyncConnectionPool(
                ssl_context=_build_ssl_context(),
                max_connections=max_connections,
                keepalive_expiry=idle_timeout_s,
                network_backend=GuardedBackend(self._guard, trusted=trusted),
            )
        return self._pools[trusted]


class _ResponseStream(httpx2.AsyncByteStream):
    """An answer's bytes as they come."""

    def __init__(self, answer: httpcore2.Response, request: httpx2.Request) -> None:
        self._answer = answer
        self._request = request

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        with _translate_errors(self._request):
            async for part in self._answer.stream:  # ty: ignore - not aiter_stream(): SDKs look a second time at the end
                yield part

    async def aclose(self) -> None:
        await self._answer.aclose()


def _build_core_request(request: httpx2.Request, target: RequestTarget) -> httpcore2.Request:
    url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=request.url.raw_path)
    return httpcore2.Request(
        request.method,
        url,
        headers=request.headers.raw,
        content=request.stream,
        extensions={"timeout": request.extensions.get("timeout", {})},
    )


@lru_cache(maxsize=1)
def _build_ssl_context() -> ssl.SSLContext:
    return httpcore2.default_ssl_context()


@contextmanager
def _translate_errors(request: httpx2.Request) -> Any:
    """Errors of the wire and of the guard as httpx2 names them, which is what the SDKs know how to retry."""
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout("no connection in time", request=request) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout("no answer in time", request=request) from error
    except (httpcore2.ProtocolError, ReadLimitExceeded) as error:
        raise httpx2.RemoteProtocolError("the answer broke off or is no HTTP", request=request) from error
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError("no connection", request=request) from error
    except (httpcore2.NetworkError, StaleConnection) as error:
        raise httpx2.ReadError("the connection broke", request=request) from error
    except OutriderError as error:
        raise httpx2.ConnectError(error.message, request=request) from error
