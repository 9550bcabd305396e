"""JavaScript of a model's own in a page: a toolset apart, because whoever serves it must have chosen to."""

import json
from typing import Annotated

from pydantic import Field

from outrider.browser.browsers import Browsers
from outrider.core.context import Call
from outrider.core.text import DEFAULT_CHARS, cut
from outrider.core.tool import Toolset
from outrider.toolsets.browser_use import Work, at_work
from outrider.toolsets.choices import Choices

browser_script = Toolset(
    "browser_script",
    "inject_javascript runs a script in a page of a browser session, with all that the page itself may do. A person is "
    "asked before each call. Prefer the tools of the browser toolset.",
)
SECONDS = 10.0


@browser_script.tool(effect="act", title="Run a script", open_world=True, untrusted=True, timeout=60)
async def inject_javascript(
    browsers: Browsers,
    choices: Choices,
    call: Call,
    /,
    sessionId: str,
    script: Annotated[
        str, Field(min_length=1, max_length=100_000, description="Expression, or statements that return")
    ],
) -> str:
    """Run JavaScript in the page and get what it returns, as JSON."""
    async with at_work(browsers, call, sessionId) as work:
        value = await _run(work, script)
        url = work.grip.page.url
    piece = cut(json.dumps(value, ensure_ascii=False, default=str), DEFAULT_CHARS)
    note = f"\n[Cut: {piece.total} characters in all]" if piece.truncated else ""
    return choices.mark(piece.text, url) + note


async def _run(work: Work, script: str) -> object:
    """An expression's value; what is no expression is the body of a function."""
    from outrider.browser.values import ScriptError

    try:
        return await work.grip.page.evaluate_in("", f"async () => (\n{script}\n)", timeout=SECONDS)
    except ScriptError as error:
        if "SyntaxError" not in error.message:
            raise
    return await work.grip.page.evaluate_in("", f"async () => {{\n{script}\n}}", timeout=SECONDS)
