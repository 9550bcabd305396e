"""Tools to open, navigate and close browser sessions and their tabs."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.session.browsers import Browsers, name_sessions
from outrider.browser.session.options import SessionOptions
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, InvalidInput, OutriderError, Refused
from outrider.core.result import Result, TextBlock
from outrider.core.server_record import ServerRecord
from outrider.core.tool import Tool, Toolset
from outrider.toolsets.browser.results import clean_line, escape_line, format_time, take_notes, translate_errors
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.browser.page.navigate import NavigationResult
    from outrider.browser.session.session import Session


async def find_default_session(browsers: Browsers, call: Call, tool: Tool) -> str:
    """Return the caller's session id if exactly one is possible.

    The session may be here or in another process.

    The first navigation gets the name under which it opens one.
    """
    session_ids = [session.id for session in _list_meant_sessions(browsers, call)]
    if not session_ids and browsers.registry:
        remote = await browsers.registry.list_remote(call.session)
        session_ids = [record.id for record in remote if _may_mean(call, record.options.get("conversation", ""))]
    if not session_ids and tool.name == navigateToUrl.__name__:
        return NEW_SESSION
    return session_ids[0] if len(session_ids) == 1 else ""


def _list_meant_sessions(browsers: Browsers, call: Call) -> "list[Session]":
    """List the sessions that a caller who names none can mean, oldest first.

    Agents work at the same time as their host and other agents, under its name. Each means its own session first, then
    one of the host, and never one of another agent. The host means its own, and another only if it has none. The same
    applies to sessions of flows.
    """
    sessions = [each for each in browsers.list_sessions(call.session) if _may_mean(call, each.options.conversation)]
    shown = [each for each in sessions if not each.is_apart]
    own = [each for each in shown if each.options.conversation == _get_conversation(call)]
    return own or [each for each in shown if not each.options.conversation] or sessions


def _may_mean(call: Call, conversation: str) -> bool:
    """Return whether the caller may mean a session that this conversation opened."""
    return call.run is None or conversation in ("", call.run.conversation_id)


def _get_conversation(call: Call) -> str:
    return call.run.conversation_id if call.run else ""


browser = Toolset(
    "browser",
    "navigateToUrl opens a page in a browser. snapshotPage outlines it with a ref (e12) for each element to act on. "
    "Tools take a ref, CSS or text=Save as `selector` and answer with what changed (+ new, ~ changed, - gone): look "
    "again only if that is not enough. Omit sessionId or send default unless createSession opened several. To read "
    "only, web_fetch is cheaper.",
    default=True,
    usual_names=USUAL_TOOL_NAMES["browser"],
    default_arguments={"sessionId": find_default_session},
    record=ServerRecord(category="automation", availability="auto"),
)
NEW_SESSION = "default"  # the id that a caller without a session navigates
STATUS_LABELS = {"active": "Active", "parked": "Asleep", "crashed": "Error", "closed": "Closed"}


@browser.tool(effect="write", title="Open a session", open_world=True, untrusted=True, timeout=120)
async def createSession(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    url: str,
    title: str | None = None,
    headless: bool | None = None,
    viewport: Annotated[str | None, Field(description="e.g. 1200x800")] = None,
    locale: Annotated[str | None, Field(description="e.g. de-AT")] = None,
    timezone: Annotated[str | None, Field(description="e.g. Europe/Vienna")] = None,
    stateId: Annotated[str | None, Field(description="Saved sign-in")] = None,
) -> Result:
    """Open an isolated browser at an address and wait for the page."""
    # A hostile page may have made an agent use the user's sign-in, so only the user can allow that.
    if stateId and call.run is not None and call.answer is not True:
        if call.answer is False:
            raise Refused(f"the user did not allow the sign-in {stateId!r}", hint="continue without stateId")
        raise AnswerNeeded(f"Let agent {call.run.agent} use the saved sign-in {stateId!r}?", state=stateId)
    workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    session_options = SessionOptions(
        title or "",
        headless,
        parse_viewport(viewport),
        locale or "",
        timezone or "",
        state_id=stateId,
        whose=call.owner_folder,
        conversation=_get_conversation(call),
        workspace=workspace.directory,
        protected=workspace.protected,
    )
    async with translate_errors():
        try:
            session, arrival = await browsers.open_session(call.session, url, session_options)
        except OutriderError as error:
            if session_id := error.details.get("sessionId"):  # the site failed, but the session is open
                hint = f"{error.hint}; " if error.hint else ""
                error.hint = f"{hint}session {session_id} is open: use navigateToUrl for another site, or closeSession"
            raise
    data: dict[str, Any] = {"sessionId": session.id, "status": STATUS_LABELS[session.status]}
    data |= {"httpStatus": arrival.status} if arrival.status else {}
    return _build_arrival_result(f"Session {session.id}\n", arrival, data, session)


@browser.tool(effect="write", title="Close a session")
async def closeSession(browsers: Browsers, call: Call, /, sessionId: str) -> Result:
    """Close a session and delete its cookies."""
    async with translate_errors():
        session = await browsers.close_session(call.session, sessionId)
    return Result((TextBlock(f"Closed session {session.id}"),), data={"sessionId": session.id, "status": "Closed"})


@browser.tool(title="List sessions", untrusted=True)
async def listSessions(browsers: Browsers, call: Call, /) -> Result:
    """List your open sessions."""
    sessions = await list_open_sessions(browsers, call)
    return Result((TextBlock(json.dumps(sessions, ensure_ascii=False)),), data={"sessions": sessions})


@browser.tool(effect="write", title="Navigate", open_world=True, untrusted=True, timeout=120)
async def navigateToUrl(
    browsers: Browsers, workspaces: SessionWorkspaces, call: Call, /, sessionId: str, url: str
) -> Result:
    """Open an address and wait for it. Also revives a crashed or hanging session."""
    if sessionId == NEW_SESSION and not _list_meant_sessions(browsers, call):
        return await createSession(browsers, workspaces, call, url)
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        if session.browser_gone:
            try:
                await browsers.reopen_session(session)
            except OutriderError:
                if session.lost is not None:
                    raise
                # The session has a browser again; only its last page did not load, and the session leaves it anyway.
        arrival = await session.goto(url)
    return _build_arrival_result("Navigated to ", arrival, {"status": arrival.status}, session)


@browser.tool(effect="write", title="Go back", open_world=True, untrusted=True, timeout=120)
async def navigateBack(browsers: Browsers, call: Call, /, sessionId: str) -> Result:
    """Go one page back."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        return _build_history_result(await session.go_back(), session, "back")


@browser.tool(effect="write", title="Go forward", open_world=True, untrusted=True, timeout=120)
async def navigateForward(browsers: Browsers, call: Call, /, sessionId: str) -> Result:
    """Go one page forward."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        return _build_history_result(await session.go_forward(), session, "forward")


@browser.tool(title="Address", open_world=True, untrusted=True)
async def getCurrentUrl(browsers: Browsers, call: Call, /, sessionId: str) -> Result:
    """Get the page's address."""
    url = browsers.get_session(call.session, sessionId).url
    return Result((TextBlock(clean_line(url, 8_000)),), data={"url": clean_line(url, 8_000)})


@browser.tool(title="Title", open_world=True, untrusted=True)
async def getPageTitle(browsers: Browsers, call: Call, /, sessionId: str) -> Result:
    """Get the page's title."""
    title = escape_line(await browsers.get_session(call.session, sessionId).read_title())
    return Result((TextBlock(title),), data={"title": title})


@browser.tool(effect="write", title="Tabs", open_world=True, untrusted=True, timeout=120)
async def manageTabs(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    action: Literal["list", "new", "switch", "close"] = "list",
    tab: int | None = None,
    url: str | None = None,
) -> Result:
    """List, open, switch to or close tabs; pop-ups open in the background."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        if action == "new":
            await session.open_tab(url or "about:blank")
        elif action == "switch":
            await session.switch_tab(_require_tab(tab))
        elif action == "close":
            await session.close_tab(_require_tab(tab))
        if session.status == "parked":
            async with session.acquire_page():
                pass  # acquiring the page opens the tabs again
        text = tool_options.mark_untrusted(await _describe_tabs(session), session.url)
    return Result((TextBlock("\n".join([text, *(f"Note: {note}" for note in take_notes(session))])),))


def parse_viewport(viewport: str | None) -> tuple[int, int] | None:
    """Parse a size such as 1200x800. Raises InvalidInput."""
    if viewport is None:
        return None
    width, _, height = viewport.partition("x")
    if not (width.isdecimal() and height.isdecimal() and 50 <= int(width) <= 9_999 and 50 <= int(height) <= 9_999):
        raise InvalidInput(
            f"viewport: {viewport[:40]!r} is not a size", hint="width x height of 50 to 9999 pixels, e.g. 1200x800"
        )
    return int(width), int(height)


def _build_arrival_result(first: str, arrival: "NavigationResult", data: dict[str, Any], session: "Session") -> Result:
    """Build the result of a navigation, with the same facts as text and as data."""
    lines = [f"{first}{clean_line(arrival.url, 8_000)}"]
    lines += [f"Title: {escape_line(arrival.title)}"] if arrival.title else []
    lines += [f"HTTP status: {arrival.status}"] if arrival.status else []
    notes = list(arrival.notes)
    if arrival.download:
        notes.append("this is a file and is being downloaded: readLogs kind=downloads shows its path")
    elif arrival.ready != "load":
        notes.append("the page has not loaded completely yet")
    notes += take_notes(session)
    data = {"url": arrival.url, "title": escape_line(arrival.title), **data} | ({"notes": notes} if notes else {})
    return Result((TextBlock("\n".join([*lines, *(f"Note: {note}" for note in notes)])),), data=data)


def _build_history_result(arrival: "NavigationResult", session: "Session", direction: str) -> Result:
    first = f"Went {direction} to " if arrival.moved else f"Cannot go {direction}; still at "
    return _build_arrival_result(first, arrival, {"status": arrival.status, "moved": arrival.moved}, session)


async def list_open_sessions(browsers: Browsers, call: Call) -> list[dict[str, Any]]:
    """Return the caller's open sessions as data, oldest first, those in other processes last."""
    sessions = browsers.list_sessions(call.session)
    rows: dict[str, dict[str, Any]] = {}

    async def describe_session(session: "Session") -> None:
        rows[session.id] = _serialize_session(session, await session.read_title())

    async with anyio.create_task_group() as tasks:
        for session in sessions:
            tasks.start_soon(describe_session, session)
    remote = await browsers.registry.list_remote(call.session) if browsers.registry else []
    return [rows[session.id] for session in sessions] + [_serialize_session(entry, entry.title) for entry in remote]


def _serialize_session(session: Any, title: str) -> dict[str, Any]:
    return {
        "sessionId": session.id,
        "url": session.url,
        "title": escape_line(title),
        "status": STATUS_LABELS.get(session.status, "Error"),
        "createdAt": format_time(session.created_at),
        "lastUsedAt": format_time(session.used_at),
    }


@browser.register_missing_hint("sessionId")
async def suggest_session(browsers: Browsers, call: Call) -> str:
    """Return what a caller without a session id can send, or do first."""
    sessions = _list_meant_sessions(browsers, call)
    if not sessions:
        return "open a page first with navigateToUrl or createSession"
    return f"add 'sessionId'; open sessions: {name_sessions(sessions)}"


def _require_tab(tab: int | None) -> int:
    if tab is None:
        raise InvalidInput("tab: is required", hint="add the tab's number; action=list shows them")
    return tab


async def _describe_tabs(session: "Session") -> str:
    """Describe each tab in a line, with an empty title for a page that hangs."""
    lines = []
    for number, page in enumerate(session.tabs, 1):
        front = " (in front)" if page is session.tabs.current else ""
        url = page.frames.main.url if page.frames.main else "about:blank"
        try:
            title = escape_line(str(await page.evaluate_in("outrider", "() => document.title", timeout=1.0)))
        except OutriderError:
            title = ""
        lines.append(f"{number}{front} {url[:500]} {title}".rstrip())
    return "\n".join(lines)
