"""Tools for a session's network traffic, in the toolset of developer tools."""

from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import Field

from outrider.browser.protocol.refs import escape_refs
from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import FILES_META_KEY, Result, TextBlock
from outrider.core.text import cut_text
from outrider.core.tool import Toolset
from outrider.core.untrusted import clean_untrusted, disarm_marks
from outrider.toolsets.browser.results import clean_line, escape_line, translate_errors
from outrider.toolsets.browser.sessions import find_default_session
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import NotNegative, UpTo500Entries, check_offset
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.devtools.request_details import Body, RequestView
    from outrider.browser.devtools.routes import Route
    from outrider.browser.session.session import Session

browser_devtools = Toolset(
    "browser_devtools",
    "Call inspectRequests first: it records headers and bodies from then on.",
    usual_names=USUAL_TOOL_NAMES["browser_devtools"],
    default_arguments={"sessionId": find_default_session},
)
UrlPart = Annotated[str, Field(description="Part of the address, or * for any text")]


@browser_devtools.tool(title="Requests", open_world=True, untrusted=True, timeout=90)
async def inspectRequests(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    pattern: UrlPart | None = None,
    number: Annotated[int | None, Field(description="Show this one with headers and body")] = None,
    waitSeconds: Annotated[float, Field(ge=0, le=60, description="Wait until a matching one ends")] = 0,
    after: Annotated[NotNegative, Field(description="Only those after this number")] = 0,
    failedOnly: bool = False,
    last: UpTo500Entries = 30,
    maxChars: Annotated[int, Field(ge=100, le=50_000, description="Of the body")] = 4_000,
    offset: NotNegative = 0,
) -> Result:
    """List requests, wait for one, or show one with headers and body; credentials are removed."""
    from outrider.browser.devtools.request_details import find_request, select_requests, view_request, wait_for_request

    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        note = _keep_details(session)
        found = find_request(session.network, number) if number is not None else None
        if found is None and waitSeconds:
            if not pattern:
                raise InvalidInput("pattern: is required to wait", hint="add a part of the address, e.g. /api/")
            found = await wait_for_request(session.network, pattern, after, waitSeconds)
        if found is not None:
            view = await view_request(found)
            text = options.mark_untrusted(_format_view(view, maxChars, offset), session.url)
            return Result((TextBlock(text),), meta={"outrider/request": found.number})
        requests = select_requests(session.network, pattern or "", failed=failedOnly, after=after)
    views = [await view_request(request, bodies=False) for request in requests[-last:]]
    lines = [
        escape_line(f"#{view.request.number} {view.request.method} {view.url} {_format_facts(view)}", 2_500)
        for view in views
    ]
    if not lines:
        return Result((TextBlock(f"No request matches.{note}"),))
    head = f"{len(lines)} of {len(requests)} requests, the newest last{note}"
    return Result((TextBlock(f"{head}\n{options.mark_untrusted(chr(10).join(lines), session.url)}"),))


@browser_devtools.tool(effect="write", title="Route requests", open_world=True)
async def routeRequests(
    browsers: Browsers,
    call: Call,
    /,
    sessionId: str,
    action: Literal["list", "block", "mock", "delay", "remove"] = "list",
    pattern: UrlPart | None = None,
    status: Annotated[int, Field(ge=200, le=599, description="For mock")] = 200,
    body: Annotated[str, Field(max_length=500_000, description="For mock")] = "",
    contentType: Annotated[str, Field(max_length=200, pattern=r"^[^\r\n]+$")] = "application/json",
    delayMs: Annotated[int, Field(ge=0, le=60_000, description="For mock and delay")] = 0,
) -> Result:
    """Block, delay or answer (mock) requests; remove without a pattern removes all routes.

    Documents and scripts are not mocked.
    """
    from outrider.browser.devtools.routes import Route
    from outrider.browser.devtools.url_pattern import UrlPattern

    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        if action in ("block", "mock", "delay"):
            if action == "delay" and not delayMs:
                raise InvalidInput("delayMs: is required for action=delay", hint="add milliseconds, e.g. 2000")
            session.routes.add_route(Route(UrlPattern(pattern or ""), action, status, body, contentType, delayMs))
        elif action == "remove":
            session.routes.remove_routes((pattern or "").strip())
        if action != "list":
            await session.routes.update_channels(session.channels)
    routes = session.routes.routes
    lines = [f"{len(routes)} routes; the first match applies", *map(_format_route, routes)]
    return Result((TextBlock("\n".join(lines) if routes else "No routes."),))


@browser_devtools.tool(effect="write", title="Export requests", timeout=120)
async def exportHar(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    sessionId: str,
    pattern: UrlPart | None = None,
    bodies: bool = True,
) -> Result:
    """Save the recorded requests as a HAR file in the workspace, without credentials."""
    from outrider.browser.devtools.har import export_har
    from outrider.browser.devtools.request_details import select_requests
    from outrider.browser.page.downloads import DOWNLOADS_FOLDER

    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        note = _keep_details(session)
        requests = select_requests(session.network, pattern or "")
        data = await export_har(requests, bodies=bodies)
    preferred_path = f"{DOWNLOADS_FOLDER}/requests.har"
    path = await anyio.to_thread.run_sync(
        lambda: workspaces.ensure_workspace(call).files.add_file(preferred_path, data)
    )
    text = f"Saved {path}, {len(requests)} requests, {len(data):,} bytes{note}"
    return Result((TextBlock(text),), meta={"outrider/path": path, FILES_META_KEY: [{"path": path}]})


def _keep_details(session: "Session") -> str:
    """Start keeping headers and bodies; return a note on earlier requests."""
    if session.network.keeps_details:
        return ""
    session.network.keep_details(session.channels)
    if not session.network.total:
        return ""
    number = session.network.total
    return f"; up to {number} without headers and body, which are kept from now on: load the page again to see them"


def _format_facts(view: "RequestView") -> str:
    request = view.request
    facts = [
        request.kind,
        str(request.status or ""),
        view.mime_type,
        f"{request.size:,} B" if request.size is not None else "",
        f"{request.milliseconds:g} ms" if request.milliseconds is not None else "under way",
        request.error,
    ]
    return " ".join(filter(None, facts))


def _format_view(view: "RequestView", max_chars: int, offset: int) -> str:
    """Format a request with its headers, phases and bodies; `offset` is in the response's body."""
    request = view.request
    lines = [f"#{request.number} {request.method} {clean_line(view.url, 2_000)}", _format_facts(view)]
    if request.details is None:
        lines.append("its headers and body were not kept: repeat the request")
    lines += [", ".join(f"{phase} {value:g} ms" for phase, value in view.timing.items())] if view.timing else []
    for title, headers in (("Request headers", view.request_headers), ("Response headers", view.response_headers)):
        lines += [f"{title}:"] if headers else []
        lines += [f"  {clean_line(f'{name}: {value}', 1_000)}" for name, value in headers.items()]
    lines += _format_body("Request body", view.request_body, max_chars, 0)
    lines += _format_body("Response body", view.response_body, max_chars, offset)
    return disarm_marks(escape_refs("\n".join(lines)))


def _format_body(title: str, body: "Body", max_chars: int, offset: int) -> list[str]:
    if body.missing:
        return [f"{title}: {body.missing}"]
    if not body.text:
        return []
    text = clean_untrusted(body.text)
    check_offset(offset, len(text), "the body")
    piece = cut_text(text, max_chars, offset)
    rest = f", offset {piece.next_offset} continues" if piece.truncated else ""
    return [f"{title} ({len(text):,} characters{rest}):", piece.text]


def _format_route(route: "Route") -> str:
    facts = [route.action, clean_line(route.pattern.text)]
    if route.action == "mock":
        facts += [f"status {route.status}, {len(route.body):,} characters of {clean_line(route.content_type)}"]
    facts += [f"after {route.delay_ms} ms"] if route.delay_ms else []
    return f"{' '.join(facts)} (used {route.count} times)"
