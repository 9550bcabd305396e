"""Describe the caller's browser sessions for system prompts."""

from typing import Any

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.toolsets.browser.sessions import browser, list_open_sessions


@browser.register_context
async def describe_sessions(browsers: Browsers, call: Call) -> tuple[str, dict[str, Any]]:
    """Return each open session with its address and title, as text and as data."""
    sessions = await list_open_sessions(browsers, call)
    lines = [f"- {session['sessionId']}: {session['url']} ({session['title'][:120]})" for session in sessions]
    lines = lines or ["No sessions are open; createSession opens one."]
    return "\n".join(["# Browser Sessions", *lines]), {"sessions": sessions}
