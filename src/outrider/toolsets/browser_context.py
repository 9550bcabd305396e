"""What a system prompt may say of the caller's browser sessions."""

from typing import Any

from outrider.browser.browsers import Browsers
from outrider.core.context import Call
from outrider.toolsets.browser import browser, open_sessions

TITLE_CHARS = 120


@browser.context
async def described(browsers: Browsers, call: Call) -> tuple[str, dict[str, Any]]:
    """Each open session with its address and title, which are words of others."""
    sessions = await open_sessions(browsers, call)
    lines = [f"- {each['sessionId']}: {each['url']} ({each['title'][:TITLE_CHARS]})" for each in sessions]
    none = "No sessions are open; createSession opens one."
    return "\n".join(["# Browser Sessions", *(lines or [none])]), {"sessions": sessions}
