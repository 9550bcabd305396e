"""Send guarded HTTP requests with limits on time, bytes and redirects.

HTTP/1.1 only. Reading the web takes one or two requests per host, where HTTP/2 saves little, and its
shared connections bring state that cannot be bounded per request: header compression, control
frames, and cancellations that affect other requests.
"""

import logging
import ssl
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import anyio
from opentelemetry.trace import SpanKind

from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.response import Headers, HttpResponse, RequestLimits
from outrider.core.egress.target import QueryParams, RequestTarget, parse_target
from outrider.core.errors import InvalidInput, Refused, Unavailable
from outrider.core.tracing import start_span

if TYPE_CHECKING:  # loaded at the first request
    import httpcore2

    from outrider.core.egress.exchange import HttpRequest

__all__ = ["Headers", "HttpClient", "HttpResponse", "RequestLimits"]

DEFAULT_USER_AGENT = f"Mozilla/5.0 (compatible; Outrider/{version('outrider')})"

# At DEBUG the library logs whole headers, credentials included.
logging.getLogger("httpcore2").setLevel(logging.WARNING)


class HttpClient:
    """A shared client without cookies whose connections all pass the guard.

    Args:
        guard: Decides where requests may go, and dials.
        user_agent: The User-Agent header.
    """

    def __init__(self, guard: EgressGuard, *, user_agent: str = DEFAULT_USER_AGENT) -> None:
        self._guard = guard
        self._default_headers = {"user-agent": user_agent, "accept": "*/*"}
        self._pools: dict[tuple[str, bool], httpcore2.AsyncConnectionPool] = {}

    def check_url(self, url: str) -> None:
        """Raise Refused if the egress rules forbid an address by its name."""
        self._guard.check_url(url)

    async def is_public(self, url: str) -> bool:
        """Return whether all addresses of a host are public. Raises as `request` does."""
        from outrider.core.egress.addresses import classify_address

        target = self._guard.check_url(url)
        addresses = await self._guard.resolve_addresses(target.host, target.port)
        return all(classify_address(address).is_public for address in addresses)

    async def get(self, url: str, **options: Any) -> HttpResponse:
        """Send a GET request; options as in `request`."""
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
        """Send a request and follow its redirects, each checked like the first address.

        Args:
            method: `GET`, `POST`, …
            url: Parsed as browsers do.
            params: Added to the query; None values are left out, lists repeat their name.
            headers: Sent to this origin only, except for a few harmless ones.
            json: The body, as JSON.
            content: The body, unchanged.
            limits: Limits on time, bytes and redirects.
            cut: Whether to cut a longer body instead of refusing it.
            trusted: Whether the operator configured the address: then private ones and all ports of this origin are
                allowed.

        Returns:
            The response, with any status.

        Raises:
            Refused: code `egress`; the message names what was refused, the hint the setting.
            InvalidInput: code `bad_url` or `bad_header`.
            Unavailable: code `dns`, `connect`, `tls`, `timeout`, `too_large`, `protocol`, `redirects` or `headers`.
        """
        from outrider.core.egress.exchange import HttpRequest, encode_request

        target = self._guard.check_url(url, params=params, trusted=trusted)
        own_headers, body = encode_request(headers, json, content)
        request = HttpRequest(method.upper(), self._default_headers | own_headers, body, trusted, limits, cut)
        with anyio.move_on_after(limits.timeout_s):
            return await self._send_with_redirects(request, target)
        message = f"{target.host} did not answer in full within {limits.timeout_s:g} seconds"
        raise Unavailable(message, code="timeout", hint="try later")

    async def close(self) -> None:
        """Close all connections."""
        pools, self._pools = list(self._pools.values()), {}
        for pool in pools:
            await pool.aclose()

    async def _send_with_redirects(self, request: "HttpRequest", target: RequestTarget) -> HttpResponse:
        while True:
            response = await self._send_once(request, target)
            if isinstance(response, HttpResponse):
                return response
            if len(request.redirect_urls) >= request.limits.max_redirects:
                message = f"{target.host} redirected more than {request.limits.max_redirects} times"
                hint = "the site may need cookies: open it in the browser, or use another address"
                raise Unavailable(message, code="redirects", hint=hint)
            request, target = self._build_redirect(request, target, *response)

    async def _send_once(self, request: "HttpRequest", target: RequestTarget) -> HttpResponse | tuple[int, str]:
        """Send one request; a redirect is returned as its status and location, its body unread."""
        import httpcore2

        from outrider.core.egress.backend import GuardedBackend
        from outrider.core.egress.exchange import read_body, send_request

        key = target.scheme, request.trusted  # trusted addresses have a pool that other requests must not use
        if key not in self._pools:
            self._pools[key] = httpcore2.AsyncConnectionPool(
                ssl_context=self._ssl_context if target.scheme == "https" else None,
                max_connections=100,
                max_keepalive_connections=20,
                keepalive_expiry=15.0,  # seconds
                network_backend=GuardedBackend(self._guard, trusted=request.trusted),
            )
        pool = self._pools[key]
        attributes = {"http.request.method": request.method, "server.address": target.host}
        with start_span(f"HTTP {request.method}", attributes, kind=SpanKind.CLIENT) as span:
            async with send_request(pool, request, target) as (response, headers):
                span.set_attribute("http.response.status_code", response.status)
                if response.status in {301, 302, 303, 307, 308} and "location" in headers:
                    return response.status, headers.get_all("location")[0]
                body, is_truncated = await read_body(response, headers, request)
                return HttpResponse(target.url, response.status, headers, body, request.redirect_urls, is_truncated)

    def _build_redirect(
        self, request: "HttpRequest", source: RequestTarget, status: int, location: str
    ) -> tuple["HttpRequest", RequestTarget]:
        """Return the next request as browsers do (fetch.spec.whatwg.org, HTTP-redirect fetch), with fewer headers."""
        try:
            target = parse_target(location, base=source.url)
        except InvalidInput as error:
            message = f"{source.host} redirected to an address that is not valid: {error.message}"
            if "scheme" in error.details:  # a scheme that is not fetched
                raise Refused(message, code="egress", hint="use another address", details=error.details) from None
            raise Unavailable(message, code="redirects", hint="use another address") from None
        same_origin = target.origin == source.origin
        trusted = request.trusted and same_origin
        try:
            self._guard.check_host(target.host, target.port, trusted=trusted)
        except Refused as error:
            message = f"{source.host} redirected to an address that is not allowed: {error.message}"
            raise Refused(message, code="egress", hint=error.hint, details=error.details) from None
        headers = request.headers
        if not same_origin:  # all other headers may be credentials
            safe_headers = {"accept", "accept-language", "content-type", "user-agent"}
            headers = {name: value for name, value in headers.items() if name in safe_headers}
        method, content = request.method, request.content
        if (status == 303 and method not in ("GET", "HEAD")) or (status in (301, 302) and method == "POST"):
            method, content = "GET", None
            headers = {name: value for name, value in headers.items() if not name.startswith("content-")}
        redirect_urls = (*request.redirect_urls, source.url)
        followed = replace(
            request, method=method, headers=headers, content=content, trusted=trusted, redirect_urls=redirect_urls
        )
        return followed, target

    @cached_property
    def _ssl_context(self) -> ssl.SSLContext:
        """The system's trusted certificates; read from disk once, at the first https address."""
        import httpcore2

        return httpcore2.default_ssl_context()
