"""Authentication and request checks of the dashboard.

- Host: an unknown name belongs to a foreign site that points it at us (DNS rebinding).
- Origin and fetch metadata (W3C Fetch Metadata Request Headers): other pages, even from another port of this machine,
  cannot send forms, open sockets or read pictures here.
- The token signs in once and is exchanged for a cookie (`launch`), so that it disappears from the address.
- Pages may only load and run our own files (Content Security Policy 3).
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outrider.core.errors import Unavailable
from outrider.dashboard.rate_limit import TokenBucketLimiter
from outrider.dashboard.sign_in_tokens import COOKIE_LIFETIME_S, SignInTokens
from outrider.dashboard.signin import SIGN_IN_PATH, render_sign_in_page
from outrider.dashboard.viewer import TokenCheck, Viewer

HOST_HEADER = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")  # RFC 9110, section 7.2
TOKEN_PARAM = "token"  # noqa: S105 - the name of the query parameter
SAFE_METHODS = ("GET", "HEAD")
REQUESTS_PER_MINUTE, REQUEST_BURST = (
    1_800,
    600,
)  # requests of one browser, not counting our own files; a page of pictures needs fifty
TOKEN_ATTEMPTS_PER_MINUTE = 10  # wrong tokens from one address
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # `no-referrer` would make browsers send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
}


class SecurityMiddleware:
    """Check every route and WebSocket, and add security headers.

    Args:
        app: The application to protect.
        launch: Checks tokens and cookies.
        hosts: Host names to accept (`tools.example.com`, or with a port), besides loopback.
        requests: The limit of requests by each browser, not counting our own files; 1,800 per minute by default.
        find_holder: Returns the person of a token that was issued for the dashboard; None accepts no such token.
    """

    def __init__(
        self,
        app: ASGIApp,
        launch: SignInTokens,
        hosts: Sequence[str] = (),
        requests: TokenBucketLimiter | None = None,
        find_holder: TokenCheck | None = None,
    ) -> None:
        self._app = app
        self._tokens = launch
        self._find_holder = find_holder
        self._hosts = {host.lower() for host in hosts}
        self._request_limiter = requests or TokenBucketLimiter(REQUESTS_PER_MINUTE, REQUEST_BURST)
        self._attempt_limiter = TokenBucketLimiter(TOKEN_ATTEMPTS_PER_MINUTE, TOKEN_ATTEMPTS_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            answer = (
                self._refuse_foreign(connection)
                or await self._handle_sign_in(connection, receive)
                or await self._refuse_unauthenticated(connection)
            )
        except Unavailable as error:  # the database with people's tokens
            answer = _build_refusal(error.code, error.message, 503)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (answer or self._app)(scope, receive, send_with_headers)

    def _refuse_foreign(self, connection: HTTPConnection) -> Response | None:
        """Refuse requests of other sites."""
        loopback_hosts = ("127.0.0.1", "localhost", "[::1]")
        host_match = HOST_HEADER.fullmatch(connection.headers.get("host", "").lower())
        if host_match is None or (
            host_match[1] not in loopback_hosts and not {host_match[0], host_match[1]} & self._hosts
        ):
            return _build_refusal(
                "host", "this name is not served here; use 127.0.0.1, or add it to serve.allowed_hosts"
            )
        if not _is_own_origin(connection):
            is_program = not {"origin", "sec-fetch-site"} & set(connection.headers)  # browsers send one of them
            programs = f"{_get_path(connection.scope)} is not for programs; they call tools at /v1/tools/NAME"
            return _build_refusal("origin", programs if is_program else "another web page may not use the dashboard")
        return None

    async def _handle_sign_in(self, connection: HTTPConnection, receive: Receive) -> Response | None:
        """Sign in a browser that presents a token."""
        scope, path = connection.scope, _get_path(connection.scope)
        if scope["type"] == "websocket":
            return None
        if scope["method"] == "GET" and TOKEN_PARAM in connection.query_params:
            token, next_path = connection.query_params[TOKEN_PARAM], _strip_token(connection)
            return await self._exchange_token(connection, token, next_path, None)
        if scope["method"] == "POST" and path == SIGN_IN_PATH:
            fields = await _read_form(Request(scope, receive))
            token, next_path = fields.get(TOKEN_PARAM, ""), _ensure_local_path(scope, fields.get("next", ""))
            # A person's token is valid for long, so it is only accepted from the form and never from an address.
            return await self._exchange_token(connection, token, next_path, self._find_holder)
        return None

    async def _exchange_token(
        self, connection: HTTPConnection, token: str, next_path: str, find_holder: TokenCheck | None
    ) -> Response:
        answer = _redirect_locally(connection, next_path)
        if await self._find_viewer(connection) is not None:
            return answer
        is_operator = self._tokens.redeem(token)
        holder = await find_holder(token, "") if find_holder and not is_operator else None
        if is_operator or holder:
            answer.set_cookie(
                build_cookie_name(connection.scope),
                self._tokens.issue_cookie(holder.person, holder.credential) if holder else self._tokens.issue_cookie(),
                max_age=COOKIE_LIFETIME_S,
                path=connection.scope.get("root_path", "") or "/",
                secure=connection.url.scheme == "https",
                httponly=True,
                samesite="strict",
            )
            return answer
        client = connection.client.host if connection.client else ""
        if not self._attempt_limiter.try_acquire(client):
            return _build_refusal("rate_limited", "too many wrong tokens; wait a minute", 429)
        return render_sign_in_page(next_path, root=connection.scope.get("root_path", ""), wrong=True)

    async def _refuse_unauthenticated(self, connection: HTTPConnection) -> Response | None:
        """Refuse unauthenticated or too frequent requests; else store the viewer."""
        unlimited_prefix = "/static/"
        viewer = await self._find_viewer(connection)
        if viewer is None:
            wants_page = "text/html" in connection.headers.get("accept", "") and connection.scope["type"] == "http"
            if wants_page and connection.scope["method"] in SAFE_METHODS:
                if _is_cross_site(connection):
                    return _redirect_locally(connection, _strip_token(connection))
                return render_sign_in_page(_strip_token(connection), root=connection.scope.get("root_path", ""))
            return _build_refusal("signed_out", "open the dashboard with `outrider dashboard`", 401)
        if not _get_path(connection.scope).startswith(unlimited_prefix) and not self._request_limiter.try_acquire(
            viewer.browser
        ):
            return _build_refusal("rate_limited", "too many requests; wait a moment", 429)
        connection.scope.setdefault("state", {})["viewer"] = viewer
        return None

    async def _find_viewer(self, connection: HTTPConnection) -> Viewer | None:
        """Return the viewer of a cookie while the token of its person is valid."""
        viewer = self._tokens.verify_cookie(connection.cookies.get(build_cookie_name(connection.scope), ""))
        if viewer is None or not viewer.person:
            return viewer
        holder = await self._find_holder("", viewer.credential) if self._find_holder else None
        return viewer if holder and holder.person == viewer.person else None


def build_cookie_name(scope: Scope) -> str:
    """Return a cookie name with the port, since cookies do not distinguish ports."""
    server = scope.get("server") or ("", 0)
    return f"outrider_{server[1] or 0}"


def _is_own_origin(connection: HTTPConnection) -> bool:
    """Return whether our own page or the user sent this."""
    origin, safe = connection.headers.get("origin"), connection.scope.get("method", "") in SAFE_METHODS
    if origin is None and not safe:  # browsers always send it with sockets and unsafe methods
        return False
    if origin is not None and urlsplit(origin).netloc.lower() != connection.headers.get("host", "").lower():
        return False
    return not _is_cross_site(connection) or (safe and connection.headers.get("sec-fetch-mode") == "navigate")


def _is_cross_site(connection: HTTPConnection) -> bool:
    own_sites = ("none", "same-origin")  # of Sec-Fetch-Site: opened by the person, or by our own page
    return connection.headers.get("sec-fetch-site", "none") not in own_sites


def _redirect_locally(connection: HTTPConnection, path: str) -> Response:
    """Redirect to another page of the dashboard.

    A browser that follows a link from another site does not send strict cookies, not even after a redirect. When a page
    refreshes itself, it does.
    """
    quiet = {"referrer-policy": "no-referrer"}
    if not _is_cross_site(connection):
        return RedirectResponse(path, 303, quiet)
    return Response(status_code=200, headers=quiet | {"refresh": f"0; url={path}"}, media_type="text/html")


def _build_refusal(code: str, hint: str, status: int = 403) -> Response:
    return JSONResponse(
        {"error": {"code": code, "message": "The dashboard refused this request.", "hint": hint}}, status
    )


def _get_path(scope: Scope) -> str:
    return scope["path"].removeprefix(scope.get("root_path", ""))


def _strip_token(connection: HTTPConnection) -> str:
    """Return the path and query without the token."""
    rest = [pair for pair in parse_qsl(connection.url.query, keep_blank_values=True) if pair[0] != TOKEN_PARAM]
    path = _ensure_local_path(connection.scope, connection.url.path)
    return f"{path}?{urlencode(rest)}" if rest else path


def _ensure_local_path(scope: Scope, path: str) -> str:
    """Return the path if it is in the dashboard, else its root."""
    root = scope.get("root_path", "") + "/"
    is_local = path.startswith(root) and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if is_local else root


async def _read_form(request: Request) -> dict[str, str]:
    """Read the fields of a short form; none of a long one."""
    max_form_bytes = 4_096  # bytes of a sign-in
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > max_form_bytes:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace")))
