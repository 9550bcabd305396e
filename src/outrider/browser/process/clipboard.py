"""Separate the clipboards of sessions.

A browser has a single clipboard for all contexts.

Text that a session copies is kept here, and is only in the browser's clipboard during the key press that pastes it.
Text that a page's script copies goes to the browser's clipboard unnoticed; it can only be pasted while the browser has
a single session.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.process.browser import Browser
from outrider.browser.protocol.keys import parse_chord
from outrider.browser.protocol.page import BrowserPage

# Both scripts work without permissions and without a secure context.
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
    """The clipboard of one browser.

    Args:
        browser: The browser.
    """

    def __init__(self, browser: Browser) -> None:
        self.lock = asyncio.Lock()
        self.session_count = 0
        self._browser = browser
        self._page: BrowserPage | None = None

    def add_session(self) -> "SessionClipboard":
        """Return the clipboard of one more session."""
        self.session_count += 1
        return SessionClipboard(self)

    async def write(self, text: str) -> None:
        """Replace the content of the browser's clipboard."""
        page = await self._ensure_page()
        await page.evaluate_in("", COPY_SCRIPT, text)

    async def read(self) -> str:
        """Return the text in the browser's clipboard."""
        paste_event = {"type": "rawKeyDown", "key": "v", "code": "KeyV", "commands": ["paste"]}
        read_script = "() => document.body.firstChild.value"
        page = await self._ensure_page()
        await page.evaluate_in("", PASTE_FIELD_SCRIPT)
        await page.send("Input.dispatchKeyEvent", paste_event)
        return str(await page.evaluate_in("", read_script))

    async def _ensure_page(self) -> BrowserPage:
        """Return a page outside all sessions; open it on first use."""
        if self._page is None or self._page.lost is not None:
            self._page = await self._browser.new_page()
        return self._page


class SessionClipboard:
    """The clipboard of one session.

    Args:
        clipboard: The browser's clipboard.

    Attributes:
        text: The text that was last copied by keys; empty if there is none.
    """

    def __init__(self, clipboard: Clipboard) -> None:
        self.text = ""
        self._clipboard = clipboard

    @asynccontextmanager
    async def isolate_press(self, chord: str) -> AsyncGenerator[None]:
        """Use the session's own text for a key press that pastes or copies."""
        if self._clipboard.session_count == 1 or not can_touch_clipboard(chord):
            yield
            return
        async with self._clipboard.lock:
            await self._clipboard.write(self.text)
            yield
            self.text = await self._clipboard.read()
            await self._clipboard.write("")


def can_touch_clipboard(chord: str) -> bool:
    """Return whether a chord may copy, cut or paste. Raises InvalidInput as `parse_chord`."""
    clipboard_keys = frozenset({"c", "x", "v", "insert", "delete"})
    modifiers, last = parse_chord(chord)
    return bool(modifiers) and last.name.lower() in clipboard_keys
