"""HTTP for everybody in the house: one guarded client, bounded in time, bytes and hops.

HTTP/1.1 only. Reading the web is one or two requests a host, where HTTP/2 saves little, and its
shared connections bring what cannot be bounded per request: header compression state, control
frames, and one request's cancellation felt by the others.
"""

import logging
import ssl
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
from opentelemetry.trace import Span, SpanKind

from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.response import Headers, HttpResponse, RequestLimits
from outrider.core.egress.target import QueryParams, RequestTarget, parse_target
from outrider.core.errors import InvalidInput, Refused, Unavailable
from outrider.core.tracing import start_span

if TYPE_CHECKING:
    import httpcore2

    from outrider.core.egress.exchange import HttpRequest

__all__ = ["Headers", "HttpClient", "HttpResponse", "RequestLimits"]

DEFAULT_USER_AGENT = f"Mozilla/5.0 (compatible; Outrider/{version('outrider')})"

# At DEBUG the library logs whole headers, credentials included.
logging.getLogger("httpcore2").setLevel(logging.WARNING)


class HttpClient:
    """A client whose every connection passes the guard. Shared by all; close it once. Keeps no cookies.

    Args:
        guard: Decides where requests may go, and dials.
        user_agent: How we introduce ourselves.
    """

    def __init__(self, guard: EgressGuard, *, user_agent: str = DEFAULT_USER_AGENT) -> None:
        self._guard = guard
        self._default_headers = {"user-agent": user_agent, "accept": "*/*"}
        self._pools: dict[tuple[str, bool], httpcore2.AsyncConnectionPool] = {}

    async def get(self, url: str, **options: Any) -> HttpResponse:
        """`request` with GET."""
        return await self.request("GET", url, **options)

    async def request(  # noqa: PLR0913
        self,
        method: str,
        url: str,
        *,
        params: QueryParams = None,
        headers: Mapping[str, str] | None = None,
        json: Any = None,
        content: bytes | str | None = None,
        limits: RequestLimits = RequestLimits(),  # noqa: B008
        cut: bool = False,
        trusted: bool = False,
    ) -> HttpResponse:
        """Sends a request and follows its redirects, each vetted like the first address.

        Args:
            method: `GET`, `POST`, …
            url: Read as a browser reads it.
            params: Added to the query; None values are left out, lists repeat their name.
            headers: Sent to this origin only, but for a few harmless ones.
            json: The body, as JSON.
            content: The body, as it is.
            limits: How long, how much, how many hops.
            cut: A longer body is cut instead of refused.
            trusted: The address comes from the operator: private ones and all ports are fine, for this origin.

        Returns:
            The reply, whatever its status.

        Raises:
            Refused: code `egress`; the message names what was refused, the hint the setting.
            InvalidInput: code `bad_url` or `bad_header`.
            Unavailable: code `dns`, `connect`, `tls`, `timeout`, `too_large`, `protocol`, `redirects` or `headers`.
        """
        from outrider.core.egress.exchange import HttpRequest, encode_body, prepare_headers

        target = self._guard.check_url(url, params=params, trusted=trusted)
        body, described = encode_body(json, content)
        ask = HttpRequest(
            method.upper(), self._default_headers | described | prepare_headers(headers), body, trusted, limits, cut
        )
        with anyio.move_on_after(limits.timeout_s):
            return await self._send_with_redirects(ask, target)
        message = f"{target.host} did not answer in full within {limits.timeout_s:g} seconds"
        raise Unavailable(message, code="timeout", hint="try later")

    async def close(self) -> None:
        """Closes the kept connections."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    async def _send_with_redirects(self, ask: "HttpRequest", target: RequestTarget) -> HttpResponse:
        hint = "the site may want cookies, which a browser keeps: open it in the browser, or use another address"
        while True:
            answer = await self._send_traced(ask, target)
            if isinstance(answer, HttpResponse):
                return answer
            if len(ask.redirect_urls) >= ask.limits.max_redirects:
                message = f"{target.host} redirected more than {ask.limits.max_redirects} times"
                raise Unavailable(message, code="redirects", hint=hint)
            ask, target = self._build_redirect(ask, target, *answer)

    async def _send_traced(self, ask: "HttpRequest", target: RequestTarget) -> HttpResponse | tuple[int, str]:
        """One request; a redirect comes back as its status and location, its body unread."""
        pool = self._get_pool(target.scheme, trusted=ask.trusted)
        facts = {"http.request.method": ask.method, "server.address": target.host}
        with start_span(f"HTTP {ask.method}", facts, kind=SpanKind.CLIENT) as made:
            return await self._send_once(pool, ask, target, made)

    async def _send_once(
        self, pool: Any, ask: "HttpRequest", target: RequestTarget, made: Span
    ) -> HttpResponse | tuple[int, str]:
        redirect_statuses = frozenset({301, 302, 303, 307, 308})
        from outrider.core.egress.exchange import read_body, send_request

        async with send_request(pool, ask, target) as (response, headers):
            made.set_attribute("http.response.status_code", response.status)
            if response.status in redirect_statuses and "location" in headers:
                return response.status, headers.get_all("location")[0]
            body, more = await read_body(response, headers, ask)
            return HttpResponse(target.url, response.status, headers, body, ask.redirect_urls, more)

    def _build_redirect(
        self, ask: "HttpRequest", here: RequestTarget, status: int, location: str
    ) -> tuple["HttpRequest", RequestTarget]:
        """The next request as a browser makes it (fetch.spec.whatwg.org, HTTP-redirect fetch), with fewer headers."""
        # Headers of the caller's that another origin may see; all others may be credentials.
        safe_headers = frozenset({"accept", "accept-language", "content-type", "user-agent"})
        target = _resolve_location(here, location)
        same = target.origin == here.origin
        self._check_redirect(here, target, trusted=ask.trusted and same)
        headers = ask.headers if same else {name: value for name, value in ask.headers.items() if name in safe_headers}
        ask = replace(ask, headers=headers, trusted=ask.trusted and same, redirect_urls=(*ask.redirect_urls, here.url))
        if (status == 303 and ask.method not in ("GET", "HEAD")) or (status in (301, 302) and ask.method == "POST"):
            headers = {name: value for name, value in headers.items() if not name.startswith("content-")}
            ask = replace(ask, method="GET", content=None, headers=headers)
        return ask, target

    def _check_redirect(self, here: RequestTarget, target: RequestTarget, *, trusted: bool) -> None:
        try:
            self._guard.check_host(target.host, target.port, trusted=trusted)
        except Refused as error:
            message = f"{here.host} redirected to where nothing may go: {error.message}"
            raise Refused(message, code="egress", hint=error.hint, details=error.details) from None

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        """Trust as the system has it; read from disk once, at the first https address."""
        import httpcore2

        return httpcore2.default_ssl_context()

    def _get_pool(self, scheme: str, *, trusted: bool) -> "httpcore2.AsyncConnectionPool":
        """Kept connections; those of trusted addresses apart, because others must not ride on them."""
        idle_timeout_s = 15.0
        max_idle_connections = 20
        max_connections = 100
        import httpcore2

        from outrider.core.egress.backend import GuardedBackend

        key = scheme, trusted
        if key not in self._pools:
            self._pools[key] = httpcore2.AsyncConnectionPool(
                ssl_context=self._ssl_context if scheme == "https" else None,
                max_connections=max_connections,
                max_keepalive_connections=max_idle_connections,
                keepalive_expiry=idle_timeout_s,
                network_backend=GuardedBackend(self._guard, trusted=trusted),
            )
        return self._pools[key]


def _resolve_location(here: RequestTarget, location: str) -> RequestTarget:
    """Where a Location header leads. Raises Refused for schemes that are not fetched, else Unavailable."""
    try:
        return parse_target(location, base=here.url)
    except InvalidInput as error:
        message = f"{here.host} redirected to nowhere: {error.message}"
        if "scheme" in error.details:
            raise Refused(message, code="egress", hint="use another address", details=error.details) from None
        raise Unavailable(message, code="redirects", hint="use another address") from None
