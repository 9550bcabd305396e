"""Sessions that are put away while nobody uses them: what they need to come back, and how they do."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from outrider.browser.page.navigate import BLANK_URL
from outrider.browser.page.tabs import Tabs
from outrider.browser.protocol.page import BrowserPage
from outrider.core.errors import OutriderError

CAPTURE_TAB_SCRIPT = """() => {
  const odd = ['hidden', 'submit', 'button', 'reset', 'image', 'range', 'color', 'file'];
  const typed = each => ['checkbox', 'radio'].includes(each.type) ? each.checked !== each.defaultChecked
    : !odd.includes(each.type) && each.value !== each.defaultValue;
  return {storage: Object.entries(sessionStorage).slice(0, 500), x: scrollX, y: scrollY,
    typed: [...document.querySelectorAll('input, textarea')].some(typed)};
}"""


@dataclass(frozen=True)
class ParkedTabs:
    """What a session that was put away needs to come back: addresses, and what the tab itself had stored."""

    urls: tuple[str, ...]
    front: int
    storage: tuple[tuple[str, str], ...] = ()
    scroll: tuple[float, float] = (0, 0)

    @property
    def url(self) -> str:
        """Where it was."""
        return self.urls[self.front]

    def to_blank(self) -> "ParkedTabs":
        """The same for a session that is going elsewhere anyway."""
        return replace(self, urls=(BLANK_URL,), front=0, storage=())


async def capture_tabs(tabs: Tabs) -> ParkedTabs | None:
    """What brings these tabs back; None when something would be lost by putting them away."""
    front = tabs.current
    if front is None:
        return None
    told = await front.evaluate_in("outrider", CAPTURE_TAB_SCRIPT, timeout=2.0)
    if told["typed"] or front.frames.main is None or front.main.failed:
        return None
    pairs = tuple((str(name), str(value)) for name, value in told["storage"])
    return ParkedTabs(tuple(page.url for page in tabs), tabs.find_number(front) - 1, pairs, (told["x"], told["y"]))


async def restore_tabs(
    parked: ParkedTabs,
    open_tab: "Callable[[bool], Awaitable[BrowserPage]]",
    go: "Callable[[BrowserPage, str], Awaitable[object]]",
) -> bool:
    """Opens the pages again that were put away; whether there was anything to load.

    Args:
        parked: What was kept.
        open_tab: Makes a tab, in front or not.
        go: Takes a page to an address.
    """
    for number, url in enumerate(parked.urls):
        page = await open_tab(number == parked.front)
        if url == BLANK_URL:
            continue
        script = await _restore_session_storage(page, url, parked) if number == parked.front else None
        with suppress(OutriderError):
            await go(page, url)
        if script:
            await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
            with suppress(OutriderError):
                await page.evaluate_in("outrider", "(x, y) => scrollTo(x, y)", *parked.scroll, timeout=2.0)
    return any(url != BLANK_URL for url in parked.urls)


async def _restore_session_storage(page: BrowserPage, url: str, parked: ParkedTabs) -> str:
    """Puts back what a tab had in its session storage, before the page's own scripts look."""
    parts = urlsplit(url)
    origin = json.dumps(f"{parts.scheme}://{parts.netloc}")
    items = json.dumps(parked.storage)
    source = (
        f"if (location.origin === {origin} && !sessionStorage.length)"
        f" for (const [name, value] of {items}) sessionStorage.setItem(name, value);"
    )
    answer = await page.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": "outrider"})
    return str(answer["identifier"])
