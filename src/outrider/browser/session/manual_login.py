"""Let a person sign in in a window, and save the state."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from outrider.browser.process import flags
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.session import Session
from outrider.browser.session.states import StateStore, parse_state_id
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured, OutriderError, Refused

ProgressCallback = Callable[[float], Awaitable[None]]


class LoginBrowsers(Protocol):
    """The part of `Browsers` that a manual sign-in needs."""

    settings: BrowserSettings

    def get_state_store(self, owner: str) -> StateStore: ...
    def list_sessions(self, owner: str | None = None) -> Sequence[Session]: ...
    async def open_session(self, owner: str, url: str, options: SessionOptions) -> tuple[Session, Any]: ...
    async def close_session(self, owner: str, session_id: str) -> Any: ...
    async def end_session(self, session: Session) -> None: ...


@dataclass(frozen=True)
class LoginResult:
    """The result of a sign-in, without the content of the state.

    Attributes:
        saved: Whether there was anything to save.
        closed: Whether the person closed the window; False on a timeout.
        cookies: The number of saved cookies.
        origins: The sites whose local storage is saved.
        path: The state's file.
    """

    state_id: str
    saved: bool
    closed: bool
    cookies: int = 0
    origins: tuple[str, ...] = ()
    path: Path | None = None


async def sign_in(
    browsers: LoginBrowsers,
    owner: str,
    url: str,
    state_id: str | None,
    *,
    seconds: float,
    on_progress: ProgressCallback | None = None,
    whose: str = "",
) -> LoginResult:
    """Open a window and save its state until it is closed.

    It also ends when the time is up.

    The state is saved again whenever it has changed, so a crash loses a second of it at most. The window starts
    with an existing state of that name.

    Args:
        browsers: The sessions of this process.
        owner: The conversation that the window belongs to.
        url: The first address; empty for a blank page.
        state_id: The state's name; None and empty mean `default`.
        seconds: The longest time that the window stays open.
        on_progress: Called about once a second with the seconds that have passed.
        whose: The owner of the saved state: see `Browsers.get_state_store`.

    Raises:
        InvalidInput: The name or the address is not accepted.
        NotConfigured: No window can be shown here.
        Refused: The browser is the user's own, which keeps its sign-ins itself; or the address is not allowed.
        Unavailable: The browser or the site failed before anything could be saved.
    """
    blank_url = "about:blank"
    name = parse_state_id(state_id)
    check_window(browsers.settings)
    existing = name if browsers.get_state_store(whose).has_state(name) else None
    options = SessionOptions("Sign in", headless=False, state_id=existing, dialogs="ask", whose=whose)
    session = await open_window(browsers, owner, url or blank_url, options)
    if session is None:
        return LoginResult(name, saved=False, closed=True)
    try:
        return await _LoginRecorder(browsers, session, name).record_until_closed(seconds, on_progress)
    finally:
        await asyncio.shield(browsers.end_session(session))


async def open_window(browsers: LoginBrowsers, owner: str, url: str, options: SessionOptions) -> "Session | None":
    """Open the session with the window; return None if the person closed it before the page was loaded."""
    try:
        return (await browsers.open_session(owner, url, options))[0]
    except OutriderError as error:
        session_id = error.details.pop("sessionId", "")
        if not session_id:
            raise
        if session_id not in [session.id for session in browsers.list_sessions(owner)]:
            return None
        await browsers.close_session(owner, session_id)
        raise


def check_window(settings: BrowserSettings) -> None:
    """Check that a person can sign in in a window. Raises NotConfigured or Refused."""
    if settings.uses_own_profile:
        hint = "sign in there yourself; sessions use that sign-in"
        raise Refused("this is the user's own Chrome, which keeps its own sign-ins", code="own_browser", hint=hint)
    if settings.cdp_urls or flags.has_display():
        return
    raise NotConfigured(
        "this machine has no display on which a person could sign in",
        code="no_display",
        hint="on a machine with a display, run `outrider browser login URL --state NAME`, copy the file that it names "
        "and run `outrider browser state import FILE --state NAME` here; or set `browser.cdp_urls` to a browser with a "
        "window; or, if the user gives you the account, sign in in a session and save it with manageStates",
    )


class _LoginRecorder:
    """Saves the state of a session whenever it has changed."""

    def __init__(self, browsers: LoginBrowsers, session: "Session", name: str) -> None:
        self._browsers = browsers
        self._session = session
        self._name = name
        self._saved_state: dict[str, Any] = {"cookies": [], "origins": []}
        self._path: Path | None = None

    async def record_until_closed(self, seconds: float, on_progress: ProgressCallback | None) -> LoginResult:
        check_interval_s = 1.0
        started = time.monotonic()
        while (spent := time.monotonic() - started) < seconds:
            if await self._session.tabs.wait_until(self._is_finished, min(check_interval_s, seconds - spent)):
                break
            self._session.used_at = time.time()  # a person who only reads is not idle
            await self._save_changes()
            if on_progress:
                await on_progress(time.monotonic() - started)
        closed = self._is_finished()
        await self._save_changes()
        if self._session.lost is not None and self._path is None:
            raise self._session.lost
        origins = tuple(origin["origin"] for origin in self._saved_state["origins"])
        cookies = len(self._saved_state["cookies"])
        return LoginResult(self._name, self._path is not None, closed, cookies, origins, self._path)

    def _is_finished(self) -> bool:
        return not len(self._session.tabs) or self._session.closed or self._session.lost is not None

    async def _save_changes(self) -> None:
        """Save the state if it has changed."""
        try:
            state = await self._session.peek_state()
        except OutriderError:
            return  # the window is closing; the last saved state is good
        if state == self._saved_state or not (state["cookies"] or state["origins"]):
            return
        states = self._browsers.get_state_store(self._session.options.whose)
        info = await asyncio.to_thread(states.save, self._name, state)
        self._saved_state, self._path = state, info.path
