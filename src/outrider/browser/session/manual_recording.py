"""Let a person act in a window and record it."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from outrider.browser.actions.outcome import PerformedAction
from outrider.browser.process import flags
from outrider.browser.session.manual_login import LoginBrowsers, open_window
from outrider.browser.session.options import SessionOptions
from outrider.browser.session.person_recorder import PAGE_ERRORS, PersonRecorder
from outrider.browser.session.session import Session
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import NotConfigured, Refused


@dataclass(frozen=True)
class PersonRecording:
    """The actions of a person in a window.

    Attributes:
        actions: The actions that can be repeated.
        notes: Lines for the person, about other actions and about requirements of the flow.
    """

    actions: list[PerformedAction]
    notes: list[str]


async def record_person(
    browsers: LoginBrowsers,
    owner: str,
    url: str,
    *,
    on_step: Callable[[str], None],
    is_stopped: Callable[[], bool],
    secrets: Collection[str] = (),
) -> PersonRecording:
    """Open a window at an address and record the person's actions.

    It ends when the window is closed.

    Args:
        browsers: The sessions of this process.
        owner: The conversation that the window belongs to.
        url: The first address.
        on_step: Called with a line on each step.
        is_stopped: Returns whether to end before the window is closed; called several times a second.
        secrets: Texts that must not appear in lines.

    Raises:
        InvalidInput: The address is not accepted.
        NotConfigured: No window can be shown here.
        Refused: The browser is the user's own; or the address is not allowed.
        Unavailable: The browser or the site failed before anything was done.
    """
    check_window(browsers.settings)
    options = SessionOptions("Record a flow", headless=False, dialogs="ask")
    session = await open_window(browsers, owner, "about:blank", options)
    if session is None:
        return PersonRecording([], [])
    session.actions.secrets.update(secrets)
    session.recorder = recorder = PersonRecorder(session.actions, session.tabs, on_step)
    try:
        for page in session.tabs:
            await page.add_channel_setup(lambda channel, page=page: recorder.set_up_channel(page, channel))
        try:
            await session.goto(url)
        except PAGE_ERRORS:  # even if the person went on before the page was loaded
            page = session.tabs.alive_page
            if page is not None and (page.url == "about:blank" or page.main.failed):
                raise
        await _record_until_closed(session, recorder, is_stopped)
    finally:
        await asyncio.shield(browsers.end_session(session))
    done = session.actions.list_since()
    actions = done if any(action.kind != "open" for action in done) else []
    missed = [*recorder.missed, *["what was done before the others"] * (session.actions.total - len(done))]
    return PersonRecording(actions, [*dict.fromkeys(recorder.notes), *_describe_missed(missed)])


def _describe_missed(missed: Sequence[str]) -> list[str]:
    """Return a single note on all actions that were not recorded, if any."""
    max_names = 10
    if not missed:
        return []
    count = "1 action was" if len(missed) == 1 else f"{len(missed)} actions were"
    names = list(dict.fromkeys(missed))
    more = ["and others"] if len(names) > max_names else []
    return [f"{count} not recorded: {'; '.join(names[:max_names] + more)}"]


async def _record_until_closed(session: Session, recorder: PersonRecorder, is_stopped: Callable[[], bool]) -> None:
    look_interval_s = 0.3

    def is_finished() -> bool:
        return is_stopped() or not len(session.tabs) or session.closed or session.lost is not None

    while not is_finished():
        session.used_at = time.time()  # a person who only reads is not idle
        await recorder.watch()
        await recorder.changed.wait_until(lambda: recorder.has_reports or is_finished(), look_interval_s)
        await recorder.process_reports()
    await recorder.finish()


def check_window(settings: BrowserSettings) -> None:
    """Check that a person can act in a window. Raises NotConfigured or Refused."""
    if settings.uses_own_profile:
        hint = "unset browser.cdp_profile for this command; the flow can use a saved sign-in when it runs"
        raise Refused("flows are not recorded in the user's own Chrome", code="own_browser", hint=hint)
    if not (settings.cdp_urls or flags.has_display()):
        raise NotConfigured(
            "this machine has no display on which a person could act",
            code="no_display",
            hint="record on a machine with one and copy the file of .outrider/flows here; or act by `outrider browser` "
            "commands, then `outrider flow save NAME`",
        )
