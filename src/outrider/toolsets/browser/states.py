"""Tools for saved sign-ins, whose contents no result shows."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.result import Result, TextBlock
from outrider.toolsets.browser.results import clean_line, format_time, translate_errors
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.parameters import UpToHalfHour

MAX_LOGIN_WINDOW_S = 1_800  # how long a window for signing in may stay open


@browser.tool(effect="act", stake="low", title="Sign-ins")
async def manageStates(
    browsers: Browsers,
    call: Call,
    /,
    action: Literal["list", "save", "delete"] = "list",
    stateId: str = "default",
    sessionId: Annotated[str | None, Field(description="For save")] = None,
) -> Result:
    """Save a session's cookies and storage for later sessions; list or delete saved ones."""
    store = browsers.get_state_store(call.owner_folder)
    async with translate_errors():
        if action == "save":
            session = browsers.get_session(call.session, sessionId or "")
            changed = await browsers.save_state(session, stateId)
        elif action == "delete":
            changed = await anyio.to_thread.run_sync(store.delete, stateId)
        else:
            changed = None
        states = [changed] if changed else await anyio.to_thread.run_sync(store.list_states)
    rows: list[dict[str, Any]] = []
    for state in states:
        rows.append({"stateId": state.state_id, "savedAt": format_time(state.saved_at), "encrypted": state.encrypted})
        if state.cookies is not None:
            rows[-1] |= {"cookies": state.cookies, "origins": _list_origins(state.origins or ())}
    key = {"save": "saved", "delete": "deleted"}.get(action, "states")
    data = {key: rows[0] if changed else rows}
    return Result((TextBlock(json.dumps(data)),), data=data)


@browser.tool(effect="act", stake="low", title="Let the user sign in", open_world=True, timeout=MAX_LOGIN_WINDOW_S + 60)
async def setup_browser_state(
    browsers: Browsers,
    call: Call,
    /,
    url: Annotated[str | None, Field(description="Where to sign in")] = None,
    state_id: str = "default",
    seconds: UpToHalfHour = 300,
) -> Result:
    """Open a window for the user to sign in; saved when they close it. Only if they ask."""

    async def report_progress(spent: float) -> None:
        await call.progress(spent, seconds, "waiting until the window is closed")

    async with translate_errors():
        done = await browsers.sign_in(
            call.session, url or "", state_id, seconds=seconds, on_progress=report_progress, whose=call.owner_folder
        )
    data: dict[str, Any] = {"state_id": done.state_id, "saved": done.saved, "cookies": done.cookies}
    data |= {"origins": _list_origins(done.origins), "closed": done.closed}
    data |= {"path": str(done.path)} if done.path else {}
    first = "Saved browser state." if done.saved else "Nothing was saved: no site has stored anything."
    lines = [first, *(f"{name}: {json.dumps(value)}" for name, value in data.items())]
    if not done.closed:
        lines.append(f"The window was still open after {seconds} s and was closed: call again for more time.")
    if done.saved:
        lines.append(f"createSession with stateId={done.state_id} uses it; call this again to refresh it.")
    return Result((TextBlock("\n".join(lines)),), data=data | {"notes": lines[len(data) + 1 :]})


def _list_origins(origins: Sequence[str]) -> list[str]:
    return [clean_line(origin, 200) for origin in origins[:20]]
