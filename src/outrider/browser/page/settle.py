"""Wait until a page is quiet after an action, by observing it."""

import time
from dataclasses import dataclass

from outrider.browser.page.navigate import wait_for_navigation
from outrider.browser.protocol.cdp import CommandTimeout, ContextGone
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.scripts import ISOLATED_WORLD
from outrider.browser.protocol.values import ScriptError

# Styles do not count, because an element that only moves or fades has not changed its content.
WATCH_MUTATIONS_SCRIPT = """(quiet, limit) => new Promise(done => {
  const begun = performance.now();
  let last = begun;
  const observer = new MutationObserver(() => { last = performance.now(); });
  observer.observe(document, {subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ['class', 'hidden', 'disabled', 'open', 'checked', 'selected', 'value', 'src', 'href',
      'aria-hidden', 'aria-expanded', 'aria-busy', 'aria-disabled', 'aria-selected', 'aria-checked', 'inert']});
  const check = () => {
    const now = performance.now();
    if (now - last >= quiet || now - begun >= limit) {
      observer.disconnect();
      done(now - last >= quiet);
    } else setTimeout(check, Math.min(quiet - (now - last), limit - (now - begun)) + 1);
  };
  setTimeout(check, quiet);
})"""


@dataclass(frozen=True)
class SettleBaseline:
    """The state of a page just before an action."""

    at: float
    commits: int
    url: str


@dataclass(frozen=True)
class SettleResult:
    """How a page became quiet.

    Attributes:
        quiet: Whether changes stopped; False if the limit was reached first.
        navigated: Whether the main frame shows another document.
        seconds: How long that took.
    """

    quiet: bool
    navigated: bool
    seconds: float


def capture_baseline(page: BrowserPage) -> SettleBaseline:
    """Capture the state of the page before an action, for `wait_until_settled`."""
    return SettleBaseline(time.monotonic(), page.loading.commits, page.url)


async def wait_until_settled(
    page: BrowserPage, baseline: SettleBaseline, *, quiet: float = 0.06, limit: float = 3.0
) -> SettleResult:
    """Wait until no navigation, tree change or request since the baseline is in progress.

    Args:
        page: The page.
        baseline: The state before the action.
        quiet: Seconds without a change.
        limit: Seconds in total; a navigation may take as long again.
    """
    max_request_share = 0.7  # of the limit, for requests alone
    is_quiet = False
    deadline = time.monotonic() + limit
    while (remaining := deadline - time.monotonic()) > 0 and page.lost is None:
        await wait_for_navigation(page, baseline.commits, remaining)
        is_quiet = await _wait_for_quiet_tree(page, quiet, remaining)
        if page.loading.navigating is not None or not is_quiet:
            continue
        if not page.loading.count_open_requests(baseline.at):
            break
        request_timeout_s = min(remaining, limit * max_request_share)
        if not await page.loading.wait_until(
            lambda: not page.loading.count_open_requests(baseline.at), request_timeout_s
        ):
            break
    navigated = page.loading.commits > baseline.commits
    return SettleResult(is_quiet, navigated, time.monotonic() - baseline.at)


async def _wait_for_quiet_tree(page: BrowserPage, quiet: float, limit: float) -> bool:
    """Return whether the tree of the main frame became quiet in time."""
    try:
        return bool(
            await page.evaluate_in(
                ISOLATED_WORLD, WATCH_MUTATIONS_SCRIPT, quiet * 1e3, limit * 1e3, timeout=limit + 1.0
            )
        )
    except (ContextGone, ScriptError, CommandTimeout):
        return False
