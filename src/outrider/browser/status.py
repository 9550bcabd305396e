"""What is to be said about the browser: which one, how shut in, and what its traffic passes."""

from collections.abc import Sequence
from typing import Any

from outrider.browser import flags
from outrider.browser.attach import Attached
from outrider.browser.engine import Engine
from outrider.browser.find import find_browser
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured

UNGUARDED = "an attached browser uses its own network: the egress guard only checks addresses that are asked for"
ROOT = "Chromium's sandbox is off: it does not run for root; run as another user, or in a container of its own"


def status(settings: BrowserSettings, running: "Sequence[Engine | Attached]" = ()) -> dict[str, Any]:
    """Facts for `doctor`: executable, version, sandbox, guarded, running, and warnings. Never raises."""
    warnings = []
    if settings.cdp_url or settings.cdp_urls:
        warnings.append(UNGUARDED)
        facts: dict[str, Any] = {"executable": None, "how": "attached", "sandbox": None, "guarded": False}
    else:
        shut_in = flags.can_sandbox() if settings.sandbox is None else settings.sandbox
        if not shut_in:
            warnings.append(ROOT if settings.sandbox is None else "Chromium's sandbox is off by the settings")
        facts = _found(settings) | {"sandbox": shut_in, "guarded": True}
    versions = [engine.version for engine in running]
    return facts | {"running": versions, "display": flags.has_display(), "warnings": warnings}


def _found(settings: BrowserSettings) -> dict[str, Any]:
    try:
        found = find_browser(settings.executable)
    except NotConfigured as error:
        return {"executable": None, "how": error.message, "remedy": error.hint}
    return {"executable": str(found.path), "how": found.how}
