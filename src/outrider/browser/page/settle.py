"""Waiting until a page has come to rest after something was done to it: by watching it, not by the clock."""

import time
from dataclasses import dataclass

from outrider.browser.page.navigate import wait_for_navigation
from outrider.browser.protocol.cdp import CommandTimeout, ContextGone
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.values import ScriptError

QUIET_PERIOD_S = 0.06  # seconds without a change
SETTLE_TIMEOUT_S = 3.0  # seconds after which a page counts as one that never rests
# Styles are left out: what only moves or fades has not changed what is there.
WATCH_MUTATIONS_SCRIPT = """(quiet, limit) => new Promise(done => {
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
class SettleBaseline:
    """A page just before something is done to it."""

    at: float
    commits: int
    url: str


@dataclass(frozen=True)
class SettleResult:
    """How a page came to rest.

    Attributes:
        quiet: Nothing changed any more; False when the limit came first.
        navigated: The page itself shows another document.
        seconds: How long it took.
    """

    quiet: bool
    navigated: bool
    seconds: float


def capture_baseline(page: BrowserPage) -> SettleBaseline:
    """Remembers the page as it is now; take it before acting, give it to `settle`."""
    return SettleBaseline(time.monotonic(), page.loading.commits, page.url)


async def wait_until_settled(
    page: BrowserPage, baseline: SettleBaseline, *, quiet: float = QUIET_PERIOD_S, limit: float = SETTLE_TIMEOUT_S
) -> SettleResult:
    """Waits until neither documents, nor the tree, nor requests begun since the mark are under way.

    Args:
        page: The page.
        baseline: Taken before the action.
        quiet: Seconds in which nothing may change.
        limit: Seconds for everything; a navigation may take as long again.
    """
    network_share = 0.7  # of the limit, for requests alone
    calm = False
    deadline = time.monotonic() + limit
    while (left := deadline - time.monotonic()) > 0 and page.lost is None:
        await wait_for_navigation(page, baseline.commits, left)
        calm = await _wait_for_quiet_tree(page, quiet, left)
        if page.loading.navigating is not None or not calm:
            continue
        if not page.loading.count_open_requests(baseline.at):
            break
        enough = min(left, limit * network_share)
        if not await page.loading.wait_until(lambda: not page.loading.count_open_requests(baseline.at), enough):
            break
    navigated = page.loading.commits > baseline.commits
    return SettleResult(calm, navigated, time.monotonic() - baseline.at)


async def _wait_for_quiet_tree(page: BrowserPage, quiet: float, limit: float) -> bool:
    """Whether the tree of the page's own frame came to rest in time."""
    world = "outrider"
    try:
        calm = await page.evaluate_in(world, WATCH_MUTATIONS_SCRIPT, quiet * 1e3, limit * 1e3, timeout=limit + 1.0)
    except (ContextGone, ScriptError, CommandTimeout):
        return False
    return bool(calm)
