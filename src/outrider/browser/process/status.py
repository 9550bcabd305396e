"""What is to be said about the browser: which one, how shut in, and what its traffic passes."""

from collections.abc import Sequence
from typing import Any

from outrider.browser.process import flags
from outrider.browser.process.attach import AttachedBrowser
from outrider.browser.process.engine import BrowserEngine
from outrider.browser.process.find import find_browser
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured


def collect_status(
    settings: BrowserSettings, running: "Sequence[BrowserEngine | AttachedBrowser]" = ()
) -> dict[str, Any]:
    """Facts for `doctor`: executable, version, sandbox, guarded, running, and warnings. Never raises."""
    root_warning = (
        "Chromium's sandbox is off: it does not run for root; run as another user, or in a container of its own"
    )
    unguarded_warning = (
        "an attached browser uses its own network: the egress guard only checks addresses that are asked for"
    )
    warnings = []
    if settings.cdp_url or settings.cdp_urls:
        warnings.append(unguarded_warning)
        facts: dict[str, Any] = {"executable": None, "how": "attached", "sandbox": None, "guarded": False}
    else:
        shut_in = flags.can_sandbox() if settings.sandbox is None else settings.sandbox
        if not shut_in:
            warnings.append(root_warning if settings.sandbox is None else "Chromium's sandbox is off by the settings")
        facts = _find_executable(settings) | {"sandbox": shut_in, "guarded": True}
    versions = [engine.version for engine in running]
    return facts | {"running": versions, "display": flags.has_display(), "warnings": warnings}


def _find_executable(settings: BrowserSettings) -> dict[str, Any]:
    try:
        found = find_browser(settings.executable)
    except NotConfigured as error:
        return {"executable": None, "how": error.message, "remedy": error.hint}
    return {"executable": str(found.path), "how": found.how}
