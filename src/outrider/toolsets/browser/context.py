"""What a system prompt may say of the caller's browser sessions."""

from typing import Any

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.toolsets.browser.sessions import browser, list_open_sessions


@browser.register_context
async def describe_sessions(browsers: Browsers, call: Call) -> tuple[str, dict[str, Any]]:
    """Each open session with its address and title, which are words of others."""
    max_title_chars = 120
    sessions = await list_open_sessions(browsers, call)
    lines = [f"- {each['sessionId']}: {each['url']} ({each['title'][:max_title_chars]})" for each in sessions]
    none = "No sessions are open; createSession opens one."
    return "\n".join(["# Browser Sessions", *(lines or [none])]), {"sessions": sessions}
