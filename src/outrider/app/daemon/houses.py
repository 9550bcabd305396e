"""The open houses: hosts with equal settings live in one, and all of them share what they can."""

import asyncio
import logging
from contextvars import Context
from dataclasses import dataclass, field

from outrider.app.app import App
from outrider.app.dashboard import Offered, dashboard
from outrider.app.opening import open_app
from outrider.app.sharing import Shared
from outrider.settings import Loaded

log = logging.getLogger(__name__)
EMPTY = 8  # houses that stay open without a host, so that the next host finds one warm


@dataclass(eq=False)
class House:
    """An open house.

    Attributes:
        loaded: What it was built from.
        first: Whether the dashboard is here; it shows what all of them share.
        hosts: How many hosts use it.
    """

    loaded: Loaded
    first: bool = False
    hosts: int = 0
    _offered: Offered | None = None
    _leave: asyncio.Event = field(default_factory=asyncio.Event)
    _opened: "asyncio.Future[App]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _task: "asyncio.Task[None] | None" = None

    def fits(self, loaded: Loaded) -> bool:
        """Whether it is what would be built from these."""
        ours, theirs = self.loaded, loaded
        same = ours.settings == theirs.settings and ours.workspace == theirs.workspace
        return same and dict(ours.environ) == dict(theirs.environ)

    @property
    def works(self) -> bool:
        """Whether agents run here, or have run: then it stays until the end, as their engine does."""
        done = self._opened.done() and not self._opened.cancelled() and self._opened.exception() is None
        return done and self._opened.result().runs.works

    @property
    def busy(self) -> bool:
        """Whether agents run here now."""
        return self.works and self._opened.result().runs.busy

    @property
    def watched(self) -> bool:
        """Whether somebody looks at the dashboard."""
        return self._offered is not None and self._offered.watched

    @property
    def dashboard(self) -> str:
        """Where the dashboard is; empty while it is not open."""
        listening = self._offered.listening if self._offered else None
        return listening.place if listening else ""

    @property
    def over(self) -> bool:
        """Whether it was closed, or never came to be."""
        return self._task is None or self._task.done()

    def open(self, shared: Shared) -> None:
        """Begins to open."""
        self._task = asyncio.create_task(self._live(shared), context=Context())  # its words are nobody's own

    async def app(self) -> App:
        """The open house. Raises what kept it from opening."""
        return await asyncio.shield(self._opened)

    async def close(self) -> None:
        """Closes it; what runs there ends."""
        self._leave.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _live(self, shared: Shared) -> None:
        """Opened and closed by one and the same task, as its task group wants."""
        try:
            async with open_app(self.loaded, shared=shared) as app:
                if not self.first:
                    self._opened.set_result(app)
                    await self._leave.wait()
                    return
                async with dashboard(app) as self._offered:
                    self._opened.set_result(app)
                    await self._leave.wait()
        except BaseException as error:
            if self._opened.done():
                log.exception("a house has fallen in")
                raise
            self._opened.set_exception(error)
            self._opened.exception()  # whoever waits hears of it; that nobody does is no news


class Houses:
    """All of them."""

    def __init__(self) -> None:
        self._shared = Shared()
        self._open: list[House] = []

    def __len__(self) -> int:
        return len(self._standing())

    @property
    def busy(self) -> bool:
        """Whether agents run in any of them, or a person looks on."""
        return any(each.busy or each.watched for each in self._standing())

    @property
    def dashboard(self) -> str:
        """The dashboard's address without its token; empty before anything has happened that it could show."""
        return next((each.dashboard for each in self._standing() if each.dashboard), "")

    def stranger(self, loaded: Loaded) -> str:
        """Why these settings cannot be served beside those that are; empty if they can."""
        ours = {each.loaded.settings.database_url for each in self._standing()}
        if ours and loaded.settings.database_url not in ours:
            return "the shared process works with another `database`"
        return ""

    async def enter(self, loaded: Loaded) -> tuple[House, App]:
        """The house for these settings, for one more host. Raises OutriderError where it cannot be opened."""
        found = next((each for each in self._standing() if each.fits(loaded)), None)
        if found is None:
            offers = loaded.settings.dashboard.enabled
            found = House(loaded, first=offers and not any(each.first for each in self._open))
            found.open(self._shared)
            self._open.append(found)
        found.hosts += 1
        try:
            return found, await found.app()
        except BaseException:
            found.hosts -= 1
            raise

    async def leave(self, house: House) -> None:
        """One host less; houses that have stood empty for longest are closed where there are many."""
        house.hosts -= 1
        self._open.remove(house)
        self._open.append(house)
        empty = [each for each in self._standing() if not (each.hosts or each.works or each.first)]
        for each in empty[:-EMPTY]:
            self._open.remove(each)
            await each.close()

    async def close(self) -> None:
        """Closes all of them."""
        open_, self._open = self._open, []
        await asyncio.gather(*(each.close() for each in open_))

    def _standing(self) -> list[House]:
        self._open = [each for each in self._open if not each.over]
        return self._open
