"""Detect pages whose own scripts block them."""

import time
from collections.abc import Callable

from outrider.browser.page.dialogs import Dialogs
from outrider.browser.protocol.cdp import BrowserGone
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import Unavailable

ANSWER_TIMEOUT_S = 5.0  # a page that is busy for longer is hanging
REOPEN_HINT = "reopen the session; it goes back to that address"


class HangDetector:
    """Probes the pages of one session.

    Args:
        dialogs: The session's dialogs; an open one blocks a page without a hang.
        add_note: Receives notes for the session's next result.
    """

    def __init__(self, dialogs: Dialogs, add_note: Callable[[str], None]) -> None:
        self._dialogs = dialogs
        self._add_note = add_note
        self._hanging: BrowserPage | None = None

    def is_hanging(self, page: BrowserPage | None) -> bool:
        """Return whether this page was hanging when last probed."""
        return page is not None and page is self._hanging

    def build_hang_error(self, page: BrowserPage) -> Unavailable:
        """Build the error of a call on a page that hangs (code `page_hangs`)."""
        cause = "opens one dialog after another" if self._dialogs.is_storm else "seems to run without end"
        message = f"the page at {page.url} does not answer: one of its scripts {cause}"
        return Unavailable(message, code="page_hangs", hint=REOPEN_HINT, details={"url": page.url})

    async def detect_hang(self, page: BrowserPage) -> bool:
        """Probe a page and return whether it hangs; an open dialog is not a hang."""
        known_hang_timeout_s = 1.0  # for a page that was hanging before
        is_storm = self._dialogs.is_storm
        if page.lost or (self._dialogs.open_dialog and not is_storm):
            return False
        timeout_s = known_hang_timeout_s if page is self._hanging or is_storm else ANSWER_TIMEOUT_S
        hangs = not await _answers_while_working(page, timeout_s)
        if hangs and (target := page.loading.navigating):
            # The browser may hold back all commands until the server of a navigation answers.
            page.stop_loading()
            hangs = not await page.is_responsive(ANSWER_TIMEOUT_S)
            if not hangs:
                self._add_note(f"the page was loading {target}, which did not answer: loading was stopped")
        self._hanging = page if hangs else None
        return hangs


async def _answers_while_working(page: BrowserPage, timeout_s: float) -> bool:
    """Return whether the page answers within this much processor time.

    Processor time of the renderers is measured, because wall time grows on a loaded machine. It is the sum over all
    sessions, so another busy page can only shorten the wait. A page that waits for a server uses no processor time: it
    counts as hanging after `idle_s`, excluding the time in which a renderer waited for a processor.
    """
    idle_s, longest_delay_s = 15.0, 45.0
    if page.loading.navigating:
        return await page.is_responsive(timeout_s)
    probe_s = min(1.0, timeout_s)
    if await page.is_responsive(probe_s):
        return True
    begun, begun_at, delay_s = await page.read_renderer_seconds(), time.monotonic() - probe_s, 0.0
    while (waited := time.monotonic() - begun_at) < idle_s + delay_s:
        if await page.is_responsive(probe_s):
            return True
        now = await page.read_renderer_seconds()
        if (now[0] - begun[0] if now and begun else waited) >= timeout_s - probe_s:
            return False
        delay_s = min(now[1] - begun[1], longest_delay_s) if now and begun else 0.0
    return False


def build_browser_gone(reason: str, url: str) -> BrowserGone:
    """Build the error of a session whose browser is gone."""
    message = f"the browser is gone: {reason}; the session was at {url}"
    return BrowserGone(message, code="browser_gone", hint=REOPEN_HINT, details={"url": url})
