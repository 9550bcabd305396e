"""The door of the dashboard: nobody passes who does not hold the token, and no web page on the back of one who does.

- Host: a name that we do not serve is a foreign site that points its own name at us (DNS rebinding).
- Origin and fetch metadata (W3C Fetch Metadata Request Headers): another page, another port of this machine included,
  can neither send a form nor open a socket nor read a picture here.
- The token signs in once and becomes a cookie (`launch`); the address is then free of it.
- What is shown may load and run nothing but our own files (Content Security Policy 3).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.dashboard.launch import SIGNED_IN, Launch
from outrider.dashboard.limits import RateLimit
from outrider.dashboard.signin import SIGN_IN, sign_in_page

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")  # RFC 9110, section 7.2
TOKEN = "token"  # noqa: S105 - the name of the query parameter
SAFE = ("GET", "HEAD")
OWN_SITES = ("none", "same-origin")  # of Sec-Fetch-Site: the person's own hand, or our own page
A_MINUTE, BURST = 1_800, 600  # requests of one browser, but for our own files: a page of pictures is fifty
FREE = "/static/"
TRIES_A_MINUTE = 10  # wrong tokens of one address
FORM_LIMIT = 4_096  # bytes of a sign-in
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # `no-referrer` would make browsers send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
}


class Door:
    """Stands before every route and socket; gives every answer its headers.

    Args:
        app: What is behind it.
        launch: Who is let in.
        hosts: Names (`tools.example.com`, or with a port) under which it may be reached, besides loopback.
        requests: How often each browser may ask; 1,800 times a minute by default, not counting our own files.
    """

    def __init__(
        self, app: ASGIApp, launch: Launch, hosts: Sequence[str] = (), requests: RateLimit | None = None
    ) -> None:
        self._app = app
        self._launch = launch
        self._hosts = {host.lower() for host in hosts}
        self._requests = requests or RateLimit(A_MINUTE, BURST)
        self._tries = RateLimit(TRIES_A_MINUTE, TRIES_A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        answer = self._foreign(connection) or await self._signing_in(connection, receive) or self._stranger(connection)
        await (answer or self._app)(scope, receive, _with_headers(send))

    def _foreign(self, connection: HTTPConnection) -> Response | None:
        """The refusal of what another site sends."""
        if not self._known_host(connection.headers.get("host", "")):
            return _refusal("host", "this name is not served here; use 127.0.0.1, or add it to serve.allowed_hosts")
        if not _own_origin(connection):
            return _refusal("origin", "another web page may not use the dashboard")
        return None

    async def _signing_in(self, connection: HTTPConnection, receive: Receive) -> Response | None:
        """The answer to somebody who brings a token."""
        scope, path = connection.scope, _path(connection.scope)
        if scope["type"] == "websocket":
            return None
        if scope["method"] == "GET" and TOKEN in connection.query_params:
            return self._exchanged(connection, connection.query_params[TOKEN], _without_token(connection))
        if scope["method"] == "POST" and path == SIGN_IN:
            given = await _form(Request(scope, receive))
            return self._exchanged(connection, given.get(TOKEN, ""), _local(scope, given.get("next", "")))
        return None

    def _exchanged(self, connection: HTTPConnection, token: str, onward: str) -> Response:
        answer = _onward(connection, onward)
        if self._viewer(connection) is not None:
            return answer
        if self._launch.spend(token):
            self._give_cookie(connection, answer)
            return answer
        client = connection.client.host if connection.client else ""
        if not self._tries.take(client):
            return _refusal("rate_limited", "too many wrong tokens; wait a minute", 429)
        return sign_in_page(onward, root=connection.scope.get("root_path", ""), wrong=True)

    def _stranger(self, connection: HTTPConnection) -> Response | None:
        """The refusal of who is not signed in, or asks too often; else None, with the viewer's name in the state."""
        viewer = self._viewer(connection)
        if viewer is None:
            return _unknown(connection)
        if not _path(connection.scope).startswith(FREE) and not self._requests.take(viewer):
            return _refusal("rate_limited", "too many requests; wait a moment", 429)
        connection.scope.setdefault("state", {})["viewer"] = viewer
        return None

    def _viewer(self, connection: HTTPConnection) -> str | None:
        return self._launch.viewer(connection.cookies.get(cookie_name(connection.scope), ""))

    def _give_cookie(self, connection: HTTPConnection, answer: Response) -> None:
        answer.set_cookie(
            cookie_name(connection.scope),
            self._launch.admit(),
            max_age=SIGNED_IN,
            path=connection.scope.get("root_path", "") or "/",
            secure=connection.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )

    def _known_host(self, host: str) -> bool:
        named = HOST.fullmatch(host.lower())
        return named is not None and (named[1] in LOOPBACK or {named[0], named[1]} & self._hosts != set())


def cookie_name(scope: Scope) -> str:
    """Cookies do not tell the ports of a host apart; several processes have one each."""
    server = scope.get("server") or ("", 0)
    return f"outrider_{server[1] or 0}"


def _own_origin(connection: HTTPConnection) -> bool:
    """Whether our own page, or a person's own hand, sent this."""
    origin, safe = connection.headers.get("origin"), connection.scope.get("method", "") in SAFE
    if origin is None and not safe:  # browsers always send it with sockets and with what changes something
        return False
    if origin is not None and urlsplit(origin).netloc.lower() != connection.headers.get("host", "").lower():
        return False
    return not _sent_by_others(connection) or (safe and connection.headers.get("sec-fetch-mode") == "navigate")


def _unknown(connection: HTTPConnection) -> Response:
    wants_page = "text/html" in connection.headers.get("accept", "") and connection.scope["type"] == "http"
    if wants_page and connection.scope["method"] in SAFE:
        if _sent_by_others(connection):
            return _onward(connection, _without_token(connection))
        return sign_in_page(_without_token(connection), root=connection.scope.get("root_path", ""))
    return _refusal("signed_out", "open the dashboard with `outrider dashboard`", 401)


def _sent_by_others(connection: HTTPConnection) -> bool:
    return connection.headers.get("sec-fetch-site", "none") not in OWN_SITES


def _onward(connection: HTTPConnection, path: str) -> Response:
    """The way to another page of ours.

    Who follows a link of another page sends no strict cookie, nor after a redirect: they go on by a page of ours, which
    asks in our own name.
    """
    quiet = {"referrer-policy": "no-referrer"}
    if not _sent_by_others(connection):
        return RedirectResponse(path, 303, quiet)
    return Response(status_code=200, headers=quiet | {"refresh": f"0; url={path}"}, media_type="text/html")


def _refusal(code: str, hint: str, status: int = 403) -> Response:
    return JSONResponse({"error": {"code": code, "message": "The dashboard refuses this.", "hint": hint}}, status)


def _path(scope: Scope) -> str:
    return scope["path"].removeprefix(scope.get("root_path", ""))


def _without_token(connection: HTTPConnection) -> str:
    """The same address without the token, as a path."""
    rest = [pair for pair in parse_qsl(connection.url.query, keep_blank_values=True) if pair[0] != TOKEN]
    path = _local(connection.scope, connection.url.path)
    return f"{path}?{urlencode(rest)}" if rest else path


def _local(scope: Scope, path: str) -> str:
    """The path if it lies in the dashboard, else the dashboard's root: a sign-in leads nowhere else."""
    root = scope.get("root_path", "") + "/"
    inside = path.startswith(root) and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if inside else root


async def _form(request: Request) -> dict[str, str]:
    """The fields of a short form; none of a long one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_LIMIT:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace")))


def _with_headers(send: Send) -> Any:
    async def headed(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return headed
