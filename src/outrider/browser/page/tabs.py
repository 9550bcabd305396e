"""The open pages of a session, and which of them is in front."""

from collections.abc import Callable, Iterator

from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import NotFound


class Tabs:
    """Pages in the order in which they opened.

    Args:
        limit: How many there may be.

    Attributes:
        opened_total: How many opened by themselves in all, those closed again included.
    """

    def __init__(self, limit: int) -> None:
        self._pages: list[BrowserPage] = []
        self._limit = limit
        self._current: BrowserPage | None = None
        self._watchers: list[Callable[[], None]] = []
        self.opened_total = 0
        self._changed = Condition()
        self.on_crash: Callable[[BrowserPage], None] = lambda _: None

    def __iter__(self) -> Iterator[BrowserPage]:
        return iter(list(self._pages))

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def current(self) -> BrowserPage | None:
        """The one that is worked on."""
        return self._current

    @current.setter
    def current(self, page: BrowserPage | None) -> None:
        self._current = page
        for watcher in self._watchers:
            watcher()

    @property
    def alive_page(self) -> BrowserPage | None:
        """The one that is worked on, unless it has crashed."""
        return self._current if self._current and self._current.lost is None else None

    @property
    def url(self) -> str:
        """The address of the one that is worked on."""
        return self._current.frames.main.url if self._current and self._current.frames.main else "about:blank"

    def on_current_change(self, watcher: Callable[[], None]) -> None:
        """Calls `watcher` whenever another page may be worked on."""
        self._watchers.append(watcher)

    @property
    def is_full(self) -> bool:
        return len(self._pages) >= self._limit

    def count_opened(self) -> None:
        """One more has opened by itself."""
        self.opened_total += 1
        self._changed.notify_all()

    def add(self, page: BrowserPage, *, front: bool) -> None:
        """A further page; it leaves by itself when it closes."""
        self._pages.append(page)
        self._changed.notify_all()
        page.on_lost(self._handle_lost)
        if front or self.current is None:
            self.current = page

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Waits until a condition about the tabs holds; False when it did not in time."""
        return await self._changed.wait_until(condition, seconds)

    def get_page(self, number: int) -> BrowserPage:
        """The page of that number, counted from 1. Raises NotFound."""
        if not 1 <= number <= len(self._pages):
            raise NotFound(f"tab: there is no tab {number}", hint=f"tabs are 1 to {len(self._pages)}")
        return self._pages[number - 1]

    def find_number(self, page: BrowserPage) -> int:
        """The number of a page, counted from 1; 0 when it is gone."""
        return self._pages.index(page) + 1 if page in self._pages else 0

    def remove_page(self, page: BrowserPage) -> None:
        """Forgets a page."""
        if page in self._pages:
            self._pages.remove(page)
        if self.current is page:
            self.current = self._pages[-1] if self._pages else None

    def clear(self) -> list[BrowserPage]:
        """Forgets all pages, and returns them."""
        pages, self._pages, self.current = self._pages, [], None
        return pages

    def _handle_lost(self, page: BrowserPage) -> None:
        """A closed page goes, and the one that opened it, or the last one, comes to the front; a crashed one stays."""
        self._changed.notify_all()
        if page.crashed:
            self.on_crash(page)
            self.current = self._current  # still the same, and there is nothing to be seen of it any more
            return
        if page not in self._pages:
            return
        self._pages.remove(page)
        if self.current is page:
            opener = next((each for each in self._pages if each.target_id == page.opener), None)
            self.current = opener or (self._pages[-1] if self._pages else None)
