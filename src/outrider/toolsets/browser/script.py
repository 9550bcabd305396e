"""The tool inject_javascript, in a separate toolset that operators must choose."""

import json
from typing import Annotated

from pydantic import Field

from outrider.browser.protocol.values import ScriptError
from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.toolsets.browser.results import ActivePage, use_page
from outrider.toolsets.browser.sessions import find_default_session
from outrider.toolsets.options import ToolOptions

browser_script = Toolset(
    "browser_script",
    "inject_javascript runs with the page's full rights; a person approves each call.",
    default_arguments={"sessionId": find_default_session},
)


@browser_script.tool(effect="act", title="Run a script", open_world=True, untrusted=True, timeout=60)
async def inject_javascript(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    script: Annotated[
        str, Field(min_length=1, max_length=100_000, description="Expression, or statements that return")
    ],
) -> str:
    """Run JavaScript in the page and return its result as JSON."""
    async with use_page(browsers, call, sessionId) as active:
        value = await _evaluate_script(active, script)
        url = active.tools.page.url
    piece = cut_text(json.dumps(value, ensure_ascii=False, default=str), DEFAULT_CUT_CHARS)
    note = f"\n[Cut: {piece.total} characters in total]" if piece.truncated else ""
    return options.mark_untrusted(piece.text, url) + note


async def _evaluate_script(active: ActivePage, script: str) -> object:
    """Evaluate an expression; run a script that is not an expression as a function's body."""
    timeout_s = 10.0
    try:
        return await active.tools.page.evaluate_in("", f"async () => (\n{script}\n)", timeout=timeout_s)
    except ScriptError as error:
        if "SyntaxError" not in error.message:
            raise
    return await active.tools.page.evaluate_in("", f"async () => {{\n{script}\n}}", timeout=timeout_s)
