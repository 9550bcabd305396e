"""A person signs in, in a window of their own; what the browser then holds is kept as a saved state."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outrider.browser.process import flags
from outrider.browser.process.attach import OWN_CHROME
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.session import Session
from outrider.browser.session.states import parse_state_id
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured, OutriderError, Refused

if TYPE_CHECKING:
    from outrider.browser.session.browsers import Browsers

ProgressCallback = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class LoginResult:
    """What came of it, without anything that is in the state.

    Attributes:
        saved: Whether there was anything to keep.
        closed: The person closed the window; False when the time was up first.
        cookies: How many are kept.
        origins: The sites whose local storage is kept.
        path: The state's file.
    """

    state_id: str
    saved: bool
    closed: bool
    cookies: int = 0
    origins: tuple[str, ...] = ()
    path: Path | None = None


async def _ignore_progress(_: float) -> None:
    """Nobody asked how far it is."""


async def sign_in(
    browsers: "Browsers",
    owner: str,
    url: str,
    state_id: str | None,
    *,
    seconds: float,
    told: ProgressCallback = _ignore_progress,
    whose: str = "",
) -> LoginResult:
    """Opens a window and keeps what a person does there until they close it, or until time is up.

    The state is written again whenever it has changed, so a crash costs a second of it at most. A state of that
    name is what the window begins with.

    Args:
        browsers: All sessions.
        owner: The conversation that the window belongs to.
        url: Where to begin; empty for an empty page.
        state_id: The state's name; None and empty mean `default`.
        seconds: How long the window stays open at most.
        told: Called about once a second with the seconds that have passed.
        whose: Among whose saved states it will be: see `Browsers.states_of`.

    Raises:
        InvalidInput: The name or the address.
        NotConfigured: No window can be shown here.
        Refused: The browser is the user's own, which has its sign-ins already; or the address.
        Unavailable: The browser or the site failed before anything could be kept.
    """
    blank_url = "about:blank"
    name = parse_state_id(state_id)
    check_window(browsers.settings)
    before = name if browsers.get_state_store(whose).has_state(name) else None
    options = SessionOptions("Sign in", headless=False, state_id=before, dialogs="ask", whose=whose)
    session = await _open_login_window(browsers, owner, url or blank_url, options)
    if session is None:
        return LoginResult(name, saved=False, closed=True)
    try:
        return await _LoginRecorder(browsers, session, name).record_until_closed(seconds, told)
    finally:
        await asyncio.shield(browsers.end_session(session))


async def _open_login_window(browsers: "Browsers", owner: str, url: str, options: SessionOptions) -> "Session | None":
    """The session with the window; None when the person has closed it before the page was there."""
    try:
        return (await browsers.open_session(owner, url, options))[0]
    except OutriderError as error:
        left = error.details.pop("sessionId", "")
        if not left:
            raise
        if left not in [each.id for each in browsers.list_sessions(owner)]:
            return None
        await browsers.close_session(owner, left)
        raise


def check_window(settings: BrowserSettings) -> None:
    """Whether somebody could sign in in a window. Raises NotConfigured or Refused."""
    if settings.cdp_url and settings.cdp_url.get_secret_value() == OWN_CHROME:
        hint = "sign in there by hand; sessions in it are signed in then"
        raise Refused("the user's own Chrome is in use, which keeps its sign-ins itself", code="own_browser", hint=hint)
    if settings.cdp_url or settings.cdp_urls or flags.has_display():
        return
    raise NotConfigured(
        "this machine has no display on which a person could sign in",
        code="no_display",
        hint="on a machine with one run `outrider browser login URL --state NAME`, copy the file that it names and run "
        "`outrider browser state import FILE --state NAME` here; or set `browser.cdp_url` to a browser with a window; "
        "or, if the user gives you the account, sign in in a session and save it with manageStates",
    )


class _LoginRecorder:
    """Looks at a session again and again, and keeps what it holds."""

    def __init__(self, browsers: "Browsers", session: "Session", name: str) -> None:
        self._browsers = browsers
        self._session = session
        self._name = name
        self._saved_state: dict[str, Any] = {"cookies": [], "origins": []}
        self._path: Path | None = None

    async def record_until_closed(self, seconds: float, told: ProgressCallback) -> LoginResult:
        check_interval_s = 1.0  # seconds between two looks at what there is to keep
        started = time.monotonic()
        while (spent := time.monotonic() - started) < seconds:
            if await self._session.tabs.wait_until(self._is_finished, min(check_interval_s, seconds - spent)):
                break
            self._session.used_at = time.time()  # whoever reads a page is not idle
            await self._save_changes()
            await told(time.monotonic() - started)
        closed = self._is_finished()
        await self._save_changes()
        if self._session.lost is not None and self._path is None:
            raise self._session.lost
        return self._result(closed=closed)

    def _is_finished(self) -> bool:
        return not len(self._session.tabs) or self._session.closed or self._session.lost is not None

    async def _save_changes(self) -> None:
        """Writes the state if it is another one than before."""
        try:
            state = await self._session.peek_state()
        except OutriderError:
            return  # the window is just closing; what was there a moment ago is kept
        if state == self._saved_state or not (state["cookies"] or state["origins"]):
            return
        states = self._browsers.get_state_store(self._session.options.whose)
        info = await asyncio.to_thread(states.save, self._name, state)
        self._saved_state, self._path = state, info.path

    def _result(self, *, closed: bool) -> LoginResult:
        origins = tuple(each["origin"] for each in self._saved_state["origins"])
        saved = self._path is not None
        return LoginResult(self._name, saved, closed, len(self._saved_state["cookies"]), origins, self._path)
