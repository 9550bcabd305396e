"""Saved sign-ins: kept from a session, or made by a person in a window; what is in them is never said."""

import json
from typing import Annotated, Any, Literal

import anyio
from pydantic import Field

from outrider.browser.browsers import Browsers
from outrider.browser.states import StateInfo
from outrider.core.context import Call
from outrider.core.result import Result, Text
from outrider.toolsets.bounds import UpToHalfHour
from outrider.toolsets.browser import browser
from outrider.toolsets.browser_use import in_words, line, moment

LONGEST = 1_800  # seconds that a window for signing in stays open
ORIGINS_SHOWN = 20


@browser.tool(effect="act", stake="low", title="Sign-ins")
async def manageStates(
    browsers: Browsers,
    call: Call,
    /,
    action: Literal["list", "save", "delete"] = "list",
    stateId: str = "default",
    sessionId: Annotated[str | None, Field(description="For save")] = None,
) -> Result:
    """Save a session's cookies and storage for later sessions, list or delete what is saved."""
    states = browsers.states_of(call.own)
    async with in_words():
        if action == "save":
            session = browsers.get(call.session, sessionId or "")
            changed = await browsers.save_state(session, stateId)
        elif action == "delete":
            changed = await anyio.to_thread.run_sync(states.delete, stateId)
        else:
            changed = None
        kept = [changed] if changed else await anyio.to_thread.run_sync(states.list)
    rows = [_row(each) for each in kept]
    done = {"save": "saved", "delete": "deleted"}.get(action, "states")
    data = {done: rows[0] if changed else rows}
    return Result((Text(json.dumps(data)),), data=data)


@browser.tool(effect="act", stake="low", title="Let the user sign in", open_world=True, timeout=LONGEST + 60)
async def setup_browser_state(
    browsers: Browsers,
    call: Call,
    /,
    url: Annotated[str | None, Field(description="Where to sign in")] = None,
    state_id: str = "default",
    seconds: UpToHalfHour = 300,
) -> Result:
    """Show the user a window to sign in; saved when they close it. Only when they ask."""

    async def told(spent: float) -> None:
        await call.progress(spent, seconds, "waiting until the window is closed")

    async with in_words():
        done = await browsers.sign_in(call.session, url or "", state_id, seconds=seconds, told=told, whose=call.own)
    data: dict[str, Any] = {"state_id": done.state_id, "saved": done.saved, "cookies": done.cookies}
    data |= {"origins": [line(each, 200) for each in done.origins[:ORIGINS_SHOWN]], "closed": done.closed}
    data |= {"path": str(done.path)} if done.path else {}
    first = "Saved browser state." if done.saved else "Nothing was saved: no site has stored anything."
    lines = [first, *(f"{name}: {json.dumps(value)}" for name, value in data.items())]
    if not done.closed:
        lines.append(f"The window was still open after {seconds} s and was closed: call again for more time.")
    if done.saved:
        lines.append(f"createSession with stateId={done.state_id} uses it; call this again to refresh it.")
    return Result((Text("\n".join(lines)),), data=data | {"notes": lines[len(data) + 1 :]})


def _row(info: StateInfo) -> dict[str, Any]:
    row: dict[str, Any] = {"stateId": info.state_id, "savedAt": moment(info.saved_at), "encrypted": info.encrypted}
    if info.cookies is None:
        return row
    return row | {
        "cookies": info.cookies,
        "origins": [line(each, 200) for each in (info.origins or ())[:ORIGINS_SHOWN]],
    }
