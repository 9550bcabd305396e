"""Whether a page still answers: a script without end lets nothing else in."""

from collections.abc import Callable

from outrider.browser.cdp import BrowserGone
from outrider.browser.dialogs import Dialogs
from outrider.browser.page import Page
from outrider.core.errors import Unavailable

PATIENCE = 5.0  # seconds that a page may be busy with itself before it counts as one that hangs
KNOWN_SECONDS = 1.0  # the same for one that has hung before
REOPEN = "reopen the session; it goes back to that address"


class Pulse:
    """Feels the pages of one session.

    Args:
        dialogs: One that is open holds a page up, and is to be answered first.
        note: Tells what happened without being asked for.
    """

    def __init__(self, dialogs: Dialogs, note: Callable[[str], None]) -> None:
        self._dialogs = dialogs
        self._note = note
        self._hanging: Page | None = None

    def is_gone(self, page: Page | None) -> bool:
        """Whether this page was found hanging."""
        return page is not None and page is self._hanging

    async def lively(self, page: Page) -> Page:
        """The page, if it still answers. Raises Unavailable (code `page_hangs`) within seconds if not."""
        if not await self.hangs(page):
            return page
        message = f"the page does not answer: a script of it seems to run without end; it is at {page.url}"
        raise Unavailable(message, code="page_hangs", hint=REOPEN, details={"url": page.url})

    async def hangs(self, page: Page) -> bool:
        """Whether a page has stopped to answer; not while a dialog holds it up."""
        if self._dialogs.open or page.lost:
            return False
        known = page is self._hanging
        hangs = not await page.answers(KNOWN_SECONDS if known else PATIENCE)
        if hangs and (there := page.loading.navigating):
            hangs = not await self._kept_back(page, there)
        self._hanging = page if hangs else None
        return hangs

    async def _kept_back(self, page: Page, there: str) -> bool:
        """Whether the page answers again once it is no longer on its way elsewhere."""
        page.stop()
        if not await page.answers(PATIENCE):
            return False
        self._note(f"the page was on its way to {there}, which did not answer: that was stopped")
        return True


def browser_gone(reason: str, url: str) -> BrowserGone:
    """What is said of a session whose browser is gone."""
    message = f"the browser is gone: {reason}; the session was at {url}"
    return BrowserGone(message, code="browser_gone", hint=REOPEN, details={"url": url})
