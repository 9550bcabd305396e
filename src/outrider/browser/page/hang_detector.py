"""Whether a page still answers: a script without end lets nothing else in."""

from collections.abc import Callable

from outrider.browser.page.dialogs import Dialogs
from outrider.browser.protocol.cdp import BrowserGone
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import Unavailable

ANSWER_TIMEOUT_S = 5.0  # seconds that a page may be busy with itself before it counts as one that hangs
REOPEN_HINT = "reopen the session; it goes back to that address"


class HangDetector:
    """Feels the pages of one session.

    Args:
        dialogs: One that is open holds a page up, and is to be answered first.
        note: Tells what happened without being asked for.
    """

    def __init__(self, dialogs: Dialogs, note: Callable[[str], None]) -> None:
        self._dialogs = dialogs
        self._add_note = note
        self._hanging: BrowserPage | None = None

    def is_hanging(self, page: BrowserPage | None) -> bool:
        """Whether this page was found hanging."""
        return page is not None and page is self._hanging

    async def require_responsive(self, page: BrowserPage) -> BrowserPage:
        """The page, if it still answers. Raises Unavailable (code `page_hangs`) within seconds if not."""
        if not await self.detect_hang(page):
            return page
        message = f"the page does not answer: a script of it seems to run without end; it is at {page.url}"
        raise Unavailable(message, code="page_hangs", hint=REOPEN_HINT, details={"url": page.url})

    async def detect_hang(self, page: BrowserPage) -> bool:
        """Whether a page has stopped to answer; not while a dialog holds it up."""
        known_hang_timeout_s = 1.0  # the same for one that has hung before
        if self._dialogs.open_dialog or page.lost:
            return False
        known = page is self._hanging
        hangs = not await page.is_responsive(known_hang_timeout_s if known else ANSWER_TIMEOUT_S)
        if hangs and (there := page.loading.navigating):
            hangs = not await self._unblock_navigation(page, there)
        self._hanging = page if hangs else None
        return hangs

    async def _unblock_navigation(self, page: BrowserPage, there: str) -> bool:
        """Whether the page answers again once it is no longer on its way elsewhere."""
        page.stop_loading()
        if not await page.is_responsive(ANSWER_TIMEOUT_S):
            return False
        self._add_note(f"the page was on its way to {there}, which did not answer: that was stopped")
        return True


def build_browser_gone(reason: str, url: str) -> BrowserGone:
    """What is said of a session whose browser is gone."""
    message = f"the browser is gone: {reason}; the session was at {url}"
    return BrowserGone(message, code="browser_gone", hint=REOPEN_HINT, details={"url": url})
