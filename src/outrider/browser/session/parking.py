"""Park the tabs of an idle session and restore them later."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from outrider.browser.page.navigate import BLANK_URL
from outrider.browser.page.tabs import Tabs
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.core.errors import OutriderError

CAPTURE_TAB_SCRIPT = """() => {
  const untyped = ['hidden', 'submit', 'button', 'reset', 'image', 'range', 'color', 'file'];
  const typed = each => ['checkbox', 'radio'].includes(each.type) ? each.checked !== each.defaultChecked
    : !untyped.includes(each.type) && each.value !== each.defaultValue;
  return {storage: Object.entries(sessionStorage).slice(0, 500), x: scrollX, y: scrollY,
    typed: [...document.querySelectorAll('input, textarea')].some(typed)};
}"""


@dataclass(frozen=True)
class ParkedTabs:
    """Addresses, session storage and scroll position of parked tabs."""

    urls: tuple[str, ...]
    front: int
    storage: tuple[tuple[str, str], ...] = ()
    scroll: tuple[float, float] = (0, 0)

    @property
    def url(self) -> str:
        """The address of the current tab."""
        return self.urls[self.front]

    def to_blank(self) -> "ParkedTabs":
        """Return a blank tab with the same scroll position.

        This is for a session that will navigate anyway.
        """
        return replace(self, urls=(BLANK_URL,), front=0, storage=())


async def capture_tabs(tabs: Tabs) -> ParkedTabs | None:
    """Return the data to restore the tabs; None when parking would lose something."""
    front = tabs.current
    if front is None:
        return None
    report = await front.evaluate_in(ISOLATED_WORLD, CAPTURE_TAB_SCRIPT, timeout=2.0)
    if report["typed"] or front.frames.main is None or front.main.failed:
        return None
    storage = tuple((str(name), str(value)) for name, value in report["storage"])
    urls = tuple(page.url for page in tabs)
    return ParkedTabs(urls, tabs.find_number(front) - 1, storage, (report["x"], report["y"]))


async def restore_tabs(
    parked: ParkedTabs,
    open_tab: "Callable[[bool], Awaitable[BrowserPage]]",
    navigate: "Callable[[BrowserPage, str], Awaitable[object]]",
) -> bool:
    """Open the parked tabs again; return whether there was anything to load.

    Args:
        parked: The parked tabs.
        open_tab: Opens a tab, as the current one or not.
        navigate: Opens an address in a page.
    """
    for number, url in enumerate(parked.urls):
        page = await open_tab(number == parked.front)
        if url == BLANK_URL:
            continue
        script = await _restore_session_storage(page, url, parked) if number == parked.front else None
        with suppress(OutriderError):
            await navigate(page, url)
        if script:
            await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
            with suppress(OutriderError):
                await page.evaluate_in(ISOLATED_WORLD, "(x, y) => scrollTo(x, y)", *parked.scroll, timeout=2.0)
    return any(url != BLANK_URL for url in parked.urls)


async def _restore_session_storage(page: BrowserPage, url: str, parked: ParkedTabs) -> str:
    """Restore a tab's session storage before the page's own scripts run; return the script's identifier."""
    parts = urlsplit(url)
    origin = json.dumps(f"{parts.scheme}://{parts.netloc}")
    items = json.dumps(parked.storage)
    source = (
        f"if (location.origin === {origin} && !sessionStorage.length)"
        f" for (const [name, value] of {items}) sessionStorage.setItem(name, value);"
    )
    answer = await page.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": ISOLATED_WORLD})
    return str(answer["identifier"])
