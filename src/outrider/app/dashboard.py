"""The dashboard's place in the house: on a port of its own, opened when there is something to see."""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from outrider.app.app import App
from outrider.app.opening import beside
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.dashboard.listen import Listening

log = logging.getLogger(__name__)


class Offered:
    """The dashboard of a house, before and after it is opened.

    Attributes:
        listening: The open dashboard; None before it is opened, and where it is not offered.
    """

    def __init__(self) -> None:
        self.listening: Listening | None = None

    @property
    def watched(self) -> bool:
        """Whether a browser shows it now."""
        return self.listening is not None and self.listening.watched


@asynccontextmanager
async def dashboard(
    app: App, *, kind: str = "mcp", after: Callable[[], Awaitable[object]] | None = None
) -> AsyncGenerator[Offered]:
    """Offers the dashboard while the body runs, if the settings want it.

    Args:
        app: The open house.
        kind: What it belongs to, for `outrider dashboard`: `mcp` or `dashboard`.
        after: What to wait for first. By default the first use of the database: a host that only lists tools, as all
            of them do at their start, waits for nothing that is loaded here.
    """
    offered = Offered()
    opening = (partial(_opened, app, kind, after or app.database.used.wait, offered),)
    try:
        async with beside(*(opening if app.loaded.settings.dashboard.enabled else ())):
            yield offered
    finally:
        if offered.listening is not None:
            with anyio.CancelScope(shield=True):
                await offered.listening.aclose()


async def _opened(app: App, kind: str, after: Callable[[], Awaitable[object]], offered: Offered) -> None:
    await after()
    from outrider.dashboard.listen import Listening

    listening = Listening(app.house(), kind=kind)
    try:
        with anyio.CancelScope(shield=True):  # half open it could not be closed
            await listening.start()
    except OutriderError as error:  # tools work without it
        log.warning("there is no dashboard: %s; %s", error.message, error.hint)
        return
    offered.listening = listening
