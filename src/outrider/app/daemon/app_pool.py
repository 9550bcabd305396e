"""The open houses: hosts with equal settings live in one, and all of them share what they can."""

import asyncio
import logging
from contextvars import Context
from dataclasses import dataclass, field

from outrider.app.app import App
from outrider.app.dashboard import BackgroundDashboard, run_dashboard
from outrider.app.lifecycle import open_app
from outrider.app.shared_components import SharedComponents
from outrider.settings import LoadedSettings

log = logging.getLogger(__name__)
MAX_IDLE_APPS = 8  # houses that stay open without a host, so that the next host finds one warm


@dataclass(eq=False)
class PooledApp:
    """An open house.

    Attributes:
        loaded: What it was built from.
        has_dashboard: Whether the dashboard is here; it shows what all of them share.
        host_count: How many hosts use it.
    """

    loaded: LoadedSettings
    has_dashboard: bool = False
    host_count: int = 0
    _dashboard: BackgroundDashboard | None = None
    _close_requested: asyncio.Event = field(default_factory=asyncio.Event)
    _opened_app: "asyncio.Future[App]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _task: "asyncio.Task[None] | None" = None

    def matches(self, loaded: LoadedSettings) -> bool:
        """Whether it is what would be built from these."""
        ours, theirs = self.loaded, loaded
        same = ours.settings == theirs.settings and ours.workspace == theirs.workspace
        return same and dict(ours.environ) == dict(theirs.environ)

    @property
    def has_run_agents(self) -> bool:
        """Whether agents run here, or have run: then it stays until the end, as their engine does."""
        done = self._opened_app.done() and not self._opened_app.cancelled() and self._opened_app.exception() is None
        return done and self._opened_app.result().runs.is_started

    @property
    def is_busy(self) -> bool:
        """Whether agents run here now."""
        return self.has_run_agents and self._opened_app.result().runs.is_busy

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at the dashboard."""
        return self._dashboard is not None and self._dashboard.is_watched

    @property
    def dashboard_url(self) -> str:
        """Where the dashboard is; empty while it is not open."""
        listening = self._dashboard.listening if self._dashboard else None
        return listening.base_url if listening else ""

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or never came to be."""
        return self._task is None or self._task.done()

    def start(self, shared: SharedComponents) -> None:
        """Begins to open."""
        self._task = asyncio.create_task(self._run_app(shared), context=Context())  # its words are nobody's own

    async def wait_until_open(self) -> App:
        """The open house. Raises what kept it from opening."""
        return await asyncio.shield(self._opened_app)

    async def close(self) -> None:
        """Closes it; what runs there ends."""
        self._close_requested.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run_app(self, shared: SharedComponents) -> None:
        """Opened and closed by one and the same task, as its task group wants."""
        try:
            async with open_app(self.loaded, shared=shared) as app:
                if not self.has_dashboard:
                    self._opened_app.set_result(app)
                    await self._close_requested.wait()
                    return
                async with run_dashboard(app) as self._dashboard:
                    self._opened_app.set_result(app)
                    await self._close_requested.wait()
        except BaseException as error:
            if self._opened_app.done():
                log.exception("a house has fallen in")
                raise
            self._opened_app.set_exception(error)
            self._opened_app.exception()  # whoever waits hears of it; that nobody does is no news


class AppPool:
    """All of them."""

    def __init__(self) -> None:
        self._shared = SharedComponents()
        self._apps: list[PooledApp] = []

    def __len__(self) -> int:
        return len(self._list_open())

    @property
    def is_busy(self) -> bool:
        """Whether agents run in any of them, or a person looks on."""
        return any(each.is_busy or each.is_watched for each in self._list_open())

    @property
    def dashboard_url(self) -> str:
        """The dashboard's address without its token; empty before anything has happened that it could show."""
        return next((each.dashboard_url for each in self._list_open() if each.dashboard_url), "")

    def explain_mismatch(self, loaded: LoadedSettings) -> str:
        """Why these settings cannot be served beside those that are; empty if they can."""
        ours = {each.loaded.settings.database_url for each in self._list_open()}
        if ours and loaded.settings.database_url not in ours:
            return "the shared process works with another `database`"
        return ""

    async def acquire(self, loaded: LoadedSettings) -> tuple[PooledApp, App]:
        """The house for these settings, for one more host. Raises OutriderError where it cannot be opened."""
        found = next((each for each in self._list_open() if each.matches(loaded)), None)
        if found is None:
            offers = loaded.settings.dashboard.enabled
            found = PooledApp(loaded, has_dashboard=offers and not any(each.has_dashboard for each in self._apps))
            found.start(self._shared)
            self._apps.append(found)
        found.host_count += 1
        try:
            return found, await found.wait_until_open()
        except BaseException:
            found.host_count -= 1
            raise

    async def release(self, pooled: PooledApp) -> None:
        """One host less; houses that have stood empty for longest are closed where there are many."""
        pooled.host_count -= 1
        self._apps.remove(pooled)
        self._apps.append(pooled)
        empty = [
            each for each in self._list_open() if not (each.host_count or each.has_run_agents or each.has_dashboard)
        ]
        for each in empty[:-MAX_IDLE_APPS]:
            self._apps.remove(each)
            await each.close()

    async def close(self) -> None:
        """Closes all of them."""
        open_, self._apps = self._apps, []
        await asyncio.gather(*(each.close() for each in open_))

    def _list_open(self) -> list[PooledApp]:
        self._apps = [each for each in self._apps if not each.is_closed]
        return self._apps
