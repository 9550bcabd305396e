"""Track the tabs of a session and which one is current."""

from collections.abc import Callable, Iterator

from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import NotFound


class Tabs:
    """The pages of a session in the order in which they opened.

    Args:
        limit: The most tabs that may be open; further pop-ups are closed.

    Attributes:
        opened_total: How many pop-ups have opened so far, closed ones included.
    """

    def __init__(self, limit: int = 20) -> None:
        self._pages: list[BrowserPage] = []
        self._limit = limit
        self._current: BrowserPage | None = None
        self._watchers: list[Callable[[], None]] = []
        self.opened_total = 0
        self._changed = Condition()
        self.on_crash: Callable[[BrowserPage], None] = lambda _: None  # set by the session

    def __iter__(self) -> Iterator[BrowserPage]:
        return iter(list(self._pages))

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def current(self) -> BrowserPage | None:
        """The page that calls act on."""
        return self._current

    @current.setter
    def current(self, page: BrowserPage | None) -> None:
        self._current = page
        for watcher in self._watchers:
            watcher()

    @property
    def alive_page(self) -> BrowserPage | None:
        """The current page, unless it has crashed."""
        return self._current if self._current and self._current.lost is None else None

    @property
    def url(self) -> str:
        """The current page's address."""
        return self._current.frames.main.url if self._current and self._current.frames.main else "about:blank"

    def on_current_change(self, watcher: Callable[[], None]) -> None:
        """Call `watcher` whenever the current page may have changed."""
        self._watchers.append(watcher)

    @property
    def is_full(self) -> bool:
        return len(self._pages) >= self._limit

    def count_opened(self) -> None:
        """Count a pop-up."""
        self.opened_total += 1
        self._changed.notify_all()

    def add(self, page: BrowserPage, *, front: bool) -> None:
        """Add a page; it is removed when it closes."""
        self._pages.append(page)
        self._changed.notify_all()
        page.on_lost(self._handle_lost)
        if front or self.current is None:
            self.current = page

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait until a condition about the tabs holds; return False on a timeout."""
        return await self._changed.wait_until(condition, seconds)

    def get_page(self, number: int) -> BrowserPage:
        """Return the page of that number, counted from 1. Raises NotFound."""
        if not 1 <= number <= len(self._pages):
            raise NotFound(f"tab: no such tab: {number}", hint=f"tabs are 1 to {len(self._pages)}")
        return self._pages[number - 1]

    def find_number(self, page: BrowserPage) -> int:
        """Return the number of a page, counted from 1; 0 when it is gone."""
        return self._pages.index(page) + 1 if page in self._pages else 0

    def remove_page(self, page: BrowserPage) -> None:
        """Remove a page."""
        if page in self._pages:
            self._pages.remove(page)
        if self.current is page:
            self.current = self._pages[-1] if self._pages else None

    def clear(self) -> list[BrowserPage]:
        """Remove and return all pages."""
        pages, self._pages, self.current = self._pages, [], None
        return pages

    def _handle_lost(self, page: BrowserPage) -> None:
        """Remove a closed page and make its opener, or the last page, current; keep a crashed one."""
        self._changed.notify_all()
        if page.crashed:
            self.on_crash(page)
            self.current = self._current  # notify the watchers, because it no longer has a picture
            return
        if page not in self._pages:
            return
        self._pages.remove(page)
        if self.current is page:
            opener = next((tab for tab in self._pages if tab.target_id == page.opener), None)
            self.current = opener or (self._pages[-1] if self._pages else None)
