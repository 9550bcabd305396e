"""Waiting until a page has come to rest after something was done to it: by watching it, not by the clock."""

import time
from dataclasses import dataclass

from outrider.browser.cdp import ContextGone, Hung
from outrider.browser.navigate import wait_for_navigation
from outrider.browser.page import Page
from outrider.browser.values import ScriptError

WORLD = "outrider"
QUIET = 0.06  # seconds without a change
LIMIT = 3.0  # seconds after which a page counts as one that never rests
NETWORK_SHARE = 0.7  # of the limit, for requests alone
# Styles are left out: what only moves or fades has not changed what is there.
WATCH = """(quiet, limit) => new Promise(done => {
  const begun = performance.now();
  let last = begun;
  const observer = new MutationObserver(() => { last = performance.now(); });
  observer.observe(document, {subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ['class', 'hidden', 'disabled', 'open', 'checked', 'selected', 'value', 'src', 'href',
      'aria-hidden', 'aria-expanded', 'aria-busy', 'aria-disabled', 'aria-selected', 'aria-checked', 'inert']});
  const look = () => {
    const now = performance.now();
    if (now - last >= quiet || now - begun >= limit) {
      observer.disconnect();
      done(now - last >= quiet);
    } else setTimeout(look, Math.min(quiet - (now - last), limit - (now - begun)) + 1);
  };
  setTimeout(look, quiet);
})"""


@dataclass(frozen=True)
class Mark:
    """A page just before something is done to it."""

    at: float
    commits: int
    url: str


@dataclass(frozen=True)
class Rest:
    """How a page came to rest.

    Attributes:
        quiet: Nothing changed any more; False when the limit came first.
        navigated: The page itself shows another document.
        seconds: How long it took.
    """

    quiet: bool
    navigated: bool
    seconds: float


def mark(page: Page) -> Mark:
    """Remembers the page as it is now; take it before acting, give it to `settle`."""
    return Mark(time.monotonic(), page.loading.commits, page.url)


async def settle(page: Page, since: Mark, *, quiet: float = QUIET, limit: float = LIMIT) -> Rest:
    """Waits until neither documents, nor the tree, nor requests begun since the mark are under way.

    Args:
        page: The page.
        since: Taken before the action.
        quiet: Seconds in which nothing may change.
        limit: Seconds for everything; a navigation may take as long again.
    """
    calm = False
    deadline = time.monotonic() + limit
    while (left := deadline - time.monotonic()) > 0 and page.lost is None:
        await wait_for_navigation(page, since.commits, left)
        calm = await _watched(page, quiet, left)
        if page.loading.navigating is not None or not calm:
            continue
        if not page.loading.busy(since.at):
            break
        enough = min(left, limit * NETWORK_SHARE)
        if not await page.loading.until(lambda: not page.loading.busy(since.at), enough):
            break
    navigated = page.loading.commits > since.commits
    return Rest(calm, navigated, time.monotonic() - since.at)


async def _watched(page: Page, quiet: float, limit: float) -> bool:
    """Whether the tree of the page's own frame came to rest in time."""
    try:
        calm = await page.evaluate_in(WORLD, WATCH, quiet * 1e3, limit * 1e3, timeout=limit + 1.0)
    except (ContextGone, ScriptError, Hung):
        return False
    return bool(calm)
