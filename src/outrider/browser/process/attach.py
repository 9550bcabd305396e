"""Attach to a browser that this process did not start: a remote one or the user's own Chrome.

Its traffic does not pass the egress guard. Only contexts and pages opened here are used and closed.
"""

import asyncio
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
from outrider.browser.settings import OWN_CHROME
from outrider.core.egress import EgressGuard
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import HttpClient

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
    """An attached browser, with the interface of `BrowserEngine`.

    Args:
        connection: The CDP connection.
        own: Whether it is the user's own Chrome; then its default context is used, with the user's sign-ins.
    """

    guarded = False
    clipboard = None

    def __init__(self, connection: CdpConnection, *, own: bool) -> None:
        self.browser = Browser(connection, is_guarded=False)
        self.version = ""
        self.user_agent = ""
        self.reserved_sessions = 0  # sessions that will open soon
        self._is_own = own
        self._own_contexts: list[BrowserContext] = []
        self._folder = tempfile.TemporaryDirectory(prefix="outrider-downloads-", ignore_cleanup_errors=True)

    @property
    def connection(self) -> CdpConnection:
        """The CDP connection."""
        return self.browser.connection

    @property
    def staging(self) -> Path:
        """A temporary folder for unfinished downloads."""
        return Path(self._folder.name)

    async def start(self) -> None:
        """Start following the pages opened here."""
        await self.browser.start(others=True)
        answer = await self.connection.send("Browser.getVersion")
        self.version = str(answer.get("product", ""))

    def reserve_session(self) -> None:
        """Count a session that will open soon."""
        self.reserved_sessions += 1

    async def acquire_context(self) -> tuple[BrowserContext, BrowserPage]:
        """Return a new page in a new context, or in the user's own one."""
        self.reserved_sessions = max(0, self.reserved_sessions - 1)
        if not self._is_own:
            return await open_context(self.browser, None)
        context = BrowserContext(self.browser, None, None)
        self._own_contexts.append(context)
        return context, await context.new_page()

    async def aclose(self) -> None:
        """Close the tabs that were opened here and disconnect; the browser stays open."""
        close_timeout_s = 3.0
        if self.connection.lost is None:
            # Separate contexts end with the connection; tabs in the user's context do not.
            closing = [asyncio.wait_for(context.aclose(), close_timeout_s) for context in self._own_contexts]
            await asyncio.gather(*closing, return_exceptions=True)
        await self.connection.aclose()
        self._folder.cleanup()


async def attach_to_url(address: str, guard: EgressGuard, *, own: bool = False) -> AttachedBrowser:
    """Connect to the browser at `ws://…` or `http://host:port`, or for `chrome` to the user's own.

    With `own`, sessions open in its default context, with the user's sign-ins.

    Raises NotConfigured or Unavailable.
    """
    url = _find_own_browser_url() if address == OWN_CHROME else await _resolve_websocket_url(address, guard)
    connection = CdpConnection(await open_websocket(guard, url))
    connection.start()
    attached = AttachedBrowser(connection, own=own or address == OWN_CHROME)
    try:
        await attached.start()
    except BaseException:
        await attached.aclose()
        raise
    return attached


async def _resolve_websocket_url(url: str, guard: EgressGuard) -> str:
    """Return the WebSocket address that a browser at `http://host:port` reports under /json/version."""
    if not url.startswith(("http://", "https://")):
        return url

    http = HttpClient(guard)
    try:
        version = (await http.get(url.rstrip("/") + "/json/version", trusted=True)).json()
    finally:
        await http.close()
    address = version.get("webSocketDebuggerUrl") if isinstance(version, dict) else None
    if not address:
        raise Unavailable("the server at browser.cdp_urls is not a browser", code="protocol", hint="check the port")
    # Behind a tunnel, the reported port is only valid on the browser's machine, so use host and port of the request.
    parts = urlsplit(url)
    scheme = "wss" if parts.scheme == "https" else "ws"
    return urlsplit(address)._replace(netloc=parts.netloc, scheme=scheme).geturl()


def _find_own_browser_url() -> str:
    """Return the WebSocket address of the user's running Chrome, if it allows debugging."""
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
        "no running Chrome allows remote debugging",
        code="no_browser",
        hint="open chrome://inspect/#remote-debugging in it and allow remote debugging",
    )
