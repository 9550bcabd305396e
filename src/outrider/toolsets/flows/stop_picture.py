"""Take a picture of the page where a run stopped."""

from contextlib import suppress
from typing import TYPE_CHECKING

import anyio

from outrider.core.errors import OutriderError
from outrider.flows.run import MAX_PICTURE_BYTES, RunPicture
from outrider.toolsets.browser.results import translate_errors
from outrider.toolsets.flows.secret_filter import SecretFilter
from outrider.toolsets.flows.session_page import SessionPage

if TYPE_CHECKING:
    from outrider.browser.session.session import Session


async def take_stop_picture(session: "Session", hidden: SecretFilter) -> RunPicture | None:
    """Take a picture of what is in view; None where that fails or would show a secret."""
    from outrider.browser.page.screenshot import take_fitting_screenshot

    timeout_s, max_side_px = 20.0, 1_280
    page = SessionPage(session)
    with suppress(OutriderError), anyio.move_on_after(timeout_s):
        # An open dialog holds up the page. Fields with secrets show dots; what the page itself repeats does not.
        if session.dialogs.unanswered or await _shows_secret(page, hidden):
            return None
        async with translate_errors(), session.acquire_page() as active:
            shot = await take_fitting_screenshot(active, max_side_px=max_side_px, max_bytes=MAX_PICTURE_BYTES)
        # The page may have changed since it was read.
        if len(shot.data) <= MAX_PICTURE_BYTES and not await _shows_secret(page, hidden):
            return RunPicture(shot.data, shot.mime_type)
    return None


async def _shows_secret(page: SessionPage, hidden: SecretFilter) -> bool:
    """Return whether the page shows the value of a secret, as text or in a field."""
    max_chars = 200_000
    if not hidden.values:
        return False
    view = await page.read_view()
    shown = f"{view.title}\n{view.text}\n{await page.read_outline(max_chars)}"
    return hidden.hide(shown) != shown
