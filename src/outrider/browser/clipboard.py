"""A clipboard for each session: the browser has only one, which all its contexts share.

What a session has copied is kept here and put into the browser's clipboard for no longer than the press
that pastes it. What a page's script copies by itself goes into the browser's clipboard unseen; it can be
pasted as long as the browser has had one session only.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from outrider.browser.browser import Browser
from outrider.browser.keys import read_chord
from outrider.browser.page import Page

# Both work without a permission and where a page is no secure context.
WRITE = """(text) => {
  addEventListener('copy', (event) => { event.clipboardData.setData('text/plain', text); event.preventDefault(); },
    {once: true});
  document.execCommand('copy');
}"""
EMPTY_FIELD = """() => {
  document.body.innerHTML = '<textarea></textarea>';
  document.body.firstChild.focus();
}"""
FIELD = "() => document.body.firstChild.value"
PASTE = {"type": "rawKeyDown", "key": "v", "code": "KeyV", "commands": ["paste"]}
KEYS = frozenset({"c", "x", "v", "insert", "delete"})


class Clipboard:
    """The clipboard of one browser, shared out to its sessions.

    Args:
        browser: Whose.
    """

    def __init__(self, browser: Browser) -> None:
        self.lock = asyncio.Lock()
        self.shares = 0
        self._browser = browser
        self._page: Page | None = None

    def share(self) -> "Share":
        """One more session's part."""
        self.shares += 1
        return Share(self)

    async def write(self, text: str) -> None:
        """Replaces what the browser's clipboard holds."""
        page = await self._own_page()
        await page.evaluate_in("", WRITE, text)

    async def read(self) -> str:
        """The text in it."""
        page = await self._own_page()
        await page.evaluate_in("", EMPTY_FIELD)
        await page.send("Input.dispatchKeyEvent", PASTE)
        return str(await page.evaluate_in("", FIELD))

    async def _own_page(self) -> Page:
        """A page of nobody's session, opened when it is first needed."""
        if self._page is None or self._page.lost is not None:
            self._page = await self._browser.new_page()
        return self._page


class Share:
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
    async def during(self, chord: str) -> AsyncGenerator[None]:
        """Around a press of keys: what it pastes is the session's own, and so is what it copies."""
        if self._clipboard.shares == 1 or not touches(chord):
            yield
            return
        async with self._clipboard.lock:
            await self._clipboard.write(self.text)
            yield
            self.text = await self._clipboard.read()
            await self._clipboard.write("")


def touches(chord: str) -> bool:
    """Whether keys may copy, cut or paste. Raises InvalidInput as `read_chord`."""
    held, last = read_chord(chord)
    return bool(held) and last.name.lower() in KEYS
