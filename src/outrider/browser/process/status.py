"""Report which browser is used, its sandbox and its network guard."""

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
    """Return executable, sandbox, guarded, running, display and warnings for `doctor`. Never raises."""
    root_warning = "Chromium's sandbox is off, because it does not run as root; run as another user, or in a container"
    unguarded_warning = "an attached browser uses its own network: the egress guard checks only requested addresses"
    warnings = []
    facts: dict[str, Any]
    if settings.cdp_urls:
        warnings.append(unguarded_warning)
        facts = {"executable": None, "how": "attached", "sandbox": None, "guarded": False}
    else:
        sandboxed = flags.can_sandbox() if settings.sandbox is None else settings.sandbox
        if not sandboxed:
            warnings.append(root_warning if settings.sandbox is None else "Chromium's sandbox is off by the settings")
        try:
            found = find_browser(settings.executable)
            facts = {"executable": str(found.path), "how": found.how, "sandbox": sandboxed, "guarded": True}
        except NotConfigured as error:
            facts = {"executable": None, "how": error.message, "remedy": error.hint}
            facts |= {"sandbox": sandboxed, "guarded": True}
    versions = [engine.version for engine in running]
    return facts | {"running": versions, "display": flags.has_display(), "warnings": warnings}
