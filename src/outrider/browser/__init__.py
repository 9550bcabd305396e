"""A browser for agents: found, started, shut in, and driven over its own debugging protocol.

`Browsers` is the front door: it opens a `Session` for a caller. A session has `Page`s; `navigate`,
`settle`, `screenshot` and their neighbours are functions over a page.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outrider.browser.browsers import Browsers
    from outrider.browser.frames import MAIN, Frame
    from outrider.browser.navigate import Arrival
    from outrider.browser.options import Options
    from outrider.browser.page import Page
    from outrider.browser.session import Session
    from outrider.browser.settings import BrowserSettings
    from outrider.browser.values import Handle, ScriptError

__all__ = [
    "MAIN",
    "Arrival",
    "BrowserSettings",
    "Browsers",
    "Frame",
    "Handle",
    "Options",
    "Page",
    "ScriptError",
    "Session",
]
# The settings are read at every start, the rest only when somebody wants a browser.
WHERE = {
    "MAIN": "frames",
    "Arrival": "navigate",
    "BrowserSettings": "settings",
    "Browsers": "browsers",
    "Frame": "frames",
    "Handle": "values",
    "Options": "options",
    "Page": "page",
    "ScriptError": "values",
    "Session": "session",
}


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{WHERE[name]}"), name)
