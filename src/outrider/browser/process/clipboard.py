"""A clipboard for each session: the browser has only one, which all its contexts share.

What a session has copied is kept here and put into the browser's clipboard for no longer than the press
that pastes it. What a page's script copies by itself goes into the browser's clipboard unseen; it can be
pasted as long as the browser has had one session only.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.process.browser import Browser
from outrider.browser.protocol.keys import parse_chord
from outrider.browser.protocol.page import BrowserPage

# Both work without a permission and where a page is no secure context.
COPY_SCRIPT = """(text) => {
  addEventListener('copy', (event) => { event.clipboardData.setData('text/plain', text); event.preventDefault(); },
    {once: true});
  document.execCommand('copy');
}"""
PASTE_FIELD_SCRIPT = """() => {
  document.body.innerHTML = '<textarea></textarea>';
  document.body.firstChild.focus();
}"""


class Clipboard:
    """The clipboard of one browser, shared out to its sessions.

    Args:
        browser: Whose.
    """

    def __init__(self, browser: Browser) -> None:
        self.lock = asyncio.Lock()
        self.session_count = 0
        self._browser = browser
        self._page: BrowserPage | None = None

    def add_session(self) -> "SessionClipboard":
        """One more session's part."""
        self.session_count += 1
        return SessionClipboard(self)

    async def write(self, text: str) -> None:
        """Replaces what the browser's clipboard holds."""
        page = await self._ensure_page()
        await page.evaluate_in("", COPY_SCRIPT, text)

    async def read(self) -> str:
        """The text in it."""
        paste_event = {"type": "rawKeyDown", "key": "v", "code": "KeyV", "commands": ["paste"]}
        read_script = "() => document.body.firstChild.value"
        page = await self._ensure_page()
        await page.evaluate_in("", PASTE_FIELD_SCRIPT)
        await page.send("Input.dispatchKeyEvent", paste_event)
        return str(await page.evaluate_in("", read_script))

    async def _ensure_page(self) -> BrowserPage:
        """A page of nobody's session, opened when it is first needed."""
        if self._page is None or self._page.lost is not None:
            self._page = await self._browser.new_page()
        return self._page


class SessionClipboard:
    """What one session has copied.

    Args:
        clipboard: The browser's.

    Attributes:
        text: Copied last by keys; empty if nothing was.
    """

    def __init__(self, clipboard: Clipboard) -> None:
        self.text = ""
        self._clipboard = clipboard

    @asynccontextmanager
    async def isolate_press(self, chord: str) -> AsyncGenerator[None]:
        """Around a press of keys: what it pastes is the session's own, and so is what it copies."""
        if self._clipboard.session_count == 1 or not can_touch_clipboard(chord):
            yield
            return
        async with self._clipboard.lock:
            await self._clipboard.write(self.text)
            yield
            self.text = await self._clipboard.read()
            await self._clipboard.write("")


def can_touch_clipboard(chord: str) -> bool:
    """Whether keys may copy, cut or paste. Raises InvalidInput as `read_chord`."""
    clipboard_keys = frozenset({"c", "x", "v", "insert", "delete"})
    held, last = parse_chord(chord)
    return bool(held) and last.name.lower() in clipboard_keys
