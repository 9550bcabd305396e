"""Sessions that are put away while nobody uses them: what they need to come back, and how they do."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from outrider.browser.navigate import BLANK
from outrider.browser.page import Page
from outrider.browser.tabs import Tabs
from outrider.core.errors import OutriderError

KEEP_TAB = """() => {
  const odd = ['hidden', 'submit', 'button', 'reset', 'image', 'range', 'color', 'file'];
  const typed = each => ['checkbox', 'radio'].includes(each.type) ? each.checked !== each.defaultChecked
    : !odd.includes(each.type) && each.value !== each.defaultValue;
  return {storage: Object.entries(sessionStorage).slice(0, 500), x: scrollX, y: scrollY,
    typed: [...document.querySelectorAll('input, textarea')].some(typed)};
}"""


@dataclass(frozen=True)
class Parked:
    """What a session that was put away needs to come back: addresses, and what the tab itself had stored."""

    urls: tuple[str, ...]
    front: int
    storage: tuple[tuple[str, str], ...] = ()
    scroll: tuple[float, float] = (0, 0)

    @property
    def url(self) -> str:
        """Where it was."""
        return self.urls[self.front]

    def empty(self) -> "Parked":
        """The same for a session that is going elsewhere anyway."""
        return replace(self, urls=(BLANK,), front=0, storage=())


async def kept(tabs: Tabs) -> Parked | None:
    """What brings these tabs back; None when something would be lost by putting them away."""
    front = tabs.current
    if front is None:
        return None
    told = await front.evaluate_in("outrider", KEEP_TAB, timeout=2.0)
    if told["typed"] or front.frames.main is None or front.main.failed:
        return None
    pairs = tuple((str(name), str(value)) for name, value in told["storage"])
    return Parked(tuple(page.url for page in tabs), tabs.number(front) - 1, pairs, (told["x"], told["y"]))


async def woken(
    parked: Parked, open_tab: "Callable[[bool], Awaitable[Page]]", go: "Callable[[Page, str], Awaitable[object]]"
) -> bool:
    """Opens the pages again that were put away; whether there was anything to load.

    Args:
        parked: What was kept.
        open_tab: Makes a tab, in front or not.
        go: Takes a page to an address.
    """
    for number, url in enumerate(parked.urls):
        page = await open_tab(number == parked.front)
        if url == BLANK:
            continue
        script = await _remember(page, url, parked) if number == parked.front else None
        with suppress(OutriderError):
            await go(page, url)
        if script:
            await page.send("Page.removeScriptToEvaluateOnNewDocument", {"identifier": script})
            with suppress(OutriderError):
                await page.evaluate_in("outrider", "(x, y) => scrollTo(x, y)", *parked.scroll, timeout=2.0)
    return any(url != BLANK for url in parked.urls)


async def _remember(page: Page, url: str, parked: Parked) -> str:
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
