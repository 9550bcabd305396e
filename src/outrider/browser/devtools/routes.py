"""Block, mock or delay a session's requests inside the browser.

A route never sends a request itself: requests that pass go through the egress guard as usual.
"""

import asyncio
from asyncio import Future
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from outrider.browser.devtools.url_pattern import UrlPattern
from outrider.browser.protocol.cdp import TargetChannel
from outrider.core.errors import Unavailable

RouteAction = Literal["block", "mock", "delay"]
# A mocked document or script would run foreign code with the site's rights, which only browser_script may do.
MOCKABLE_KINDS = frozenset({"XHR", "Fetch", "Image", "Stylesheet", "Font", "Media"})


@dataclass
class Route:
    """A rule for matching requests. `count` is the number of requests that it was applied to."""

    pattern: UrlPattern
    action: RouteAction
    status: int = 200
    body: str = ""
    content_type: str = "application/json"
    delay_ms: int = 0
    count: int = 0

    def applies_to(self, event: dict[str, Any]) -> bool:
        """Return whether the route applies to a paused request."""
        if not self.pattern.matches_url(event["request"]["url"]):
            return False
        return self.action != "mock" or event.get("resourceType") in MOCKABLE_KINDS or _is_preflight(event)


class Routes:
    """The routes of a session, newest first: the first match applies."""

    def __init__(self) -> None:
        self._routes: list[Route] = []

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes, newest first."""
        return tuple(self._routes)

    def add_route(self, route: Route) -> None:
        """Add a route; one of the same pattern is replaced. Raises Unavailable when there are too many."""
        max_routes = 50
        self.remove_routes(route.pattern.text)
        if len(self._routes) >= max_routes:
            raise Unavailable(f"the session has {max_routes} routes", code="too_many_routes", hint="remove some first")
        self._routes.insert(0, route)

    def remove_routes(self, pattern: str = "") -> int:
        """Remove the route of that pattern, or all; return how many there were."""
        before = len(self._routes)
        self._routes = [route for route in self._routes if pattern and route.pattern.text != pattern]
        return before - len(self._routes)

    def set_up_channel(self, channel: TargetChannel) -> list[Future[dict[str, Any]]]:
        """Subscribe to a channel of a page and pause requests that the routes match."""
        channel.on("Fetch.requestPaused", lambda event: self._handle_paused(channel, event))
        return [self._enable(channel)] if self._routes else []

    async def update_channels(self, channels: Iterable[TargetChannel]) -> None:
        """Bring channels up to date after the routes have changed."""
        sent = [self._enable(each) if self._routes else each.send("Fetch.disable") for each in channels]
        await asyncio.gather(*sent)

    def _enable(self, channel: TargetChannel) -> Future[dict[str, Any]]:
        patterns = [{"urlPattern": route.pattern.for_browser} for route in self._routes]
        return channel.send("Fetch.enable", {"patterns": patterns})

    def _handle_paused(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        if not self._routes:
            return
        request = {"requestId": event["requestId"]}
        route = next((route for route in self._routes if route.applies_to(event)), None)
        if route is None:
            channel.send_and_forget("Fetch.continueRequest", request)
            return
        route.count += 1
        command, params = _build_answer(route, event)
        if not route.delay_ms:
            channel.send_and_forget(command, request | params)
            return

        async def answer_later() -> None:
            await asyncio.sleep(route.delay_ms / 1_000)
            channel.send_and_forget(command, request | params)

        channel.connection.spawn_task(answer_later(), "delaying a request")


def _build_answer(route: Route, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the command and parameters that answer a paused request."""
    if route.action == "block":
        return "Fetch.failRequest", {"errorReason": "BlockedByClient"}
    if route.action == "delay":
        return "Fetch.continueRequest", {}
    headers = _build_cors_headers(event["request"].get("headers", {}))
    if _is_preflight(event):
        status, body = 204, b""
    else:
        status, body = route.status, route.body.encode()
        headers["content-type"] = route.content_type
    pairs = [{"name": name, "value": value} for name, value in headers.items()]
    return "Fetch.fulfillRequest", {
        "responseCode": status,
        "responseHeaders": pairs,
        "body": b64encode(body).decode(),
    }


def _build_cors_headers(request_headers: dict[str, str]) -> dict[str, str]:
    """Return the headers that let the page read an answer from another origin."""
    requested = {name.lower(): value for name, value in request_headers.items()}
    if "origin" not in requested:
        return {}
    headers = {"access-control-allow-origin": requested["origin"], "access-control-allow-credentials": "true"}
    for kind in ("method", "headers"):
        if value := requested.get(f"access-control-request-{kind}"):
            headers[f"access-control-allow-{kind}{'s' if kind == 'method' else ''}"] = value
    return headers


def _is_preflight(event: dict[str, Any]) -> bool:
    request = event["request"]
    names = {name.lower() for name in request.get("headers", {})}
    return request["method"] == "OPTIONS" and "access-control-request-method" in names
