"""Using a browser that somebody else has started: a remote one, or the user's own Chrome.

Its traffic does not pass the egress guard. Only what we open is touched, and only that is closed.
"""

import os
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from outrider.browser.process.browser import Browser
from outrider.browser.process.context import BrowserContext, open_context
from outrider.browser.protocol.cdp import CdpConnection
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.websocket import open_websocket
from outrider.browser.settings import BrowserSettings
from outrider.core.egress import EgressGuard
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import HttpClient

OWN_CHROME = "chrome"
USER_DATA_FOLDERS = {
    "linux": ("~/.config/google-chrome", "~/.config/chromium", "~/.config/microsoft-edge"),
    "darwin": (
        "~/Library/Application Support/Google/Chrome",
        "~/Library/Application Support/Chromium",
        "~/Library/Application Support/Microsoft Edge",
    ),
    "win32": (r"~\AppData\Local\Google\Chrome\User Data", r"~\AppData\Local\Microsoft\Edge\User Data"),
}


class AttachedBrowser:
    """Somebody else's browser, with the same face as `Engine`.

    Args:
        connection: The protocol.
        own: Whether it is the user's own: then its own context is used, with their sign-ins.
    """

    guarded = False
    clipboard = None

    def __init__(self, connection: CdpConnection, *, own: bool) -> None:
        self.browser = Browser(connection)
        self.version = ""
        self.user_agent = ""
        self.reserved_sessions = 0  # sessions that are about to come
        self._is_own = own
        self._folder = tempfile.TemporaryDirectory(prefix="outrider-downloads-", ignore_cleanup_errors=True)

    @property
    def connection(self) -> CdpConnection:
        """Its protocol connection."""
        return self.browser.connection

    @property
    def staging(self) -> Path:
        """A folder of ours, for downloads on their way."""
        return Path(self._folder.name)

    async def start(self) -> None:
        """Begins to follow the pages that are ours."""
        await self.browser.start(others=True)
        told = await self.connection.send("Browser.getVersion")
        self.version = str(told.get("product", ""))

    def reserve_session(self) -> None:
        """A session is about to come."""
        self.reserved_sessions += 1

    async def acquire_context(self) -> tuple[BrowserContext, BrowserPage]:
        """A page in a context of its own, or in the user's."""
        self.reserved_sessions = max(0, self.reserved_sessions - 1)
        if not self._is_own:
            return await open_context(self.browser, None)
        context = BrowserContext(self.browser, None, None)
        return context, await context.new_page()

    async def aclose(self) -> None:
        """Lets the browser go; it stays open."""
        await self.connection.aclose()
        self._folder.cleanup()


async def attach_from_settings(settings: BrowserSettings, guard: EgressGuard) -> AttachedBrowser:
    """Connects to the browser of `browser.cdp_url`. Raises NotConfigured or Unavailable."""
    return await attach_to_url(settings.cdp_url.get_secret_value() if settings.cdp_url else "", guard)


async def attach_to_url(wanted: str, guard: EgressGuard) -> AttachedBrowser:
    """Connects to the browser at `ws://…`, `http://host:port`, or to the user's own. Raises as `attach`."""
    url = _find_own_browser_url() if wanted == OWN_CHROME else await _resolve_websocket_url(wanted, guard)
    connection = CdpConnection(await open_websocket(guard, url))
    connection.start()
    attached = AttachedBrowser(connection, own=wanted == OWN_CHROME)
    try:
        await attached.start()
    except BaseException:
        await attached.aclose()
        raise
    return attached


async def _resolve_websocket_url(url: str, guard: EgressGuard) -> str:
    """The WebSocket address behind `http://host:port`, which a browser tells under /json/version."""
    if not url.startswith(("http://", "https://")):
        return url

    http = HttpClient(guard)
    try:
        told = (await http.get(url.rstrip("/") + "/json/version", trusted=True)).json()
    finally:
        await http.close()
    address = told.get("webSocketDebuggerUrl") if isinstance(told, dict) else None
    if not address:
        raise Unavailable("browser.cdp_url answers, but not as a browser", code="protocol", hint="check the port")
    # The browser tells the host by which it was asked for, but not the port of a tunnel to it.
    return urlsplit(address)._replace(netloc=urlsplit(url).netloc, scheme=_secure(url)).geturl()


def _secure(url: str) -> str:
    return "wss" if url.startswith("https:") else "ws"


def _find_own_browser_url() -> str:
    """Where the user's running Chrome listens, if they let it."""
    port_file = "DevToolsActivePort"  # Chrome writes its port and path there
    names = USER_DATA_FOLDERS.get(sys.platform, ())
    folders = [Path(name).expanduser() for name in (os.environ.get("CHROME_USER_DATA_DIR", ""), *names) if name]
    for folder in folders:
        try:
            port, path = (folder / port_file).read_text(encoding="ascii").split()[:2]
        except (OSError, ValueError):
            continue
        return f"ws://127.0.0.1:{int(port)}{path}"
    raise NotConfigured(
        "no running Chrome lets itself be used",
        code="no_browser",
        hint="open chrome://inspect/#remote-debugging in it and allow remote debugging",
    )
