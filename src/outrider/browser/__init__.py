"""A browser for agents: found, started, shut in, and driven over its own debugging protocol.

`Browsers` is the front door: it opens a `Session` for a caller. A session has `Page`s; `navigate`,
`settle`, `screenshot` and their neighbours are functions over a page.
"""

from outrider.browser.browsers import Browsers
from outrider.browser.frames import MAIN, Frame
from outrider.browser.navigate import Arrival
from outrider.browser.page import Page
from outrider.browser.session import Options, Session
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
