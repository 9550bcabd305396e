"""A pool of open apps: hosts with equal settings share one, and all apps share components."""

import asyncio
import logging
from contextvars import Context
from dataclasses import dataclass, field

from outrider.app.app import App
from outrider.app.dashboard import BackgroundDashboard, run_dashboard
from outrider.app.lifecycle import open_app
from outrider.app.shared_components import SharedComponents
from outrider.core.background import run_background
from outrider.settings import LoadedSettings

log = logging.getLogger(__name__)
MAX_IDLE_APPS = 8  # stay open without a host, so that the next host need not wait for one to open


@dataclass(eq=False)
class PooledApp:
    """An app in the pool.

    Attributes:
        loaded: Its settings.
        has_dashboard: Whether it runs the dashboard, which shows the shared components of all apps.
        host_count: The number of hosts that use it.
    """

    loaded: LoadedSettings
    has_dashboard: bool = False
    host_count: int = 0
    _dashboard: BackgroundDashboard | None = None
    _close_requested: asyncio.Event = field(default_factory=asyncio.Event)
    _opened_app: "asyncio.Future[App]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _task: "asyncio.Task[None] | None" = None

    def matches(self, loaded: LoadedSettings) -> bool:
        """Return whether an app with these settings would be equal to this one."""
        own = self.loaded
        is_same = own.settings == loaded.settings and own.workspace == loaded.workspace
        return is_same and dict(own.environ) == dict(loaded.environ)

    @property
    def has_run_agents(self) -> bool:
        """Whether agents have run in this app; such an app stays open, because their engine does."""
        app = self._get_app()
        return app is not None and app.runs.is_started

    @property
    def is_busy(self) -> bool:
        """Whether agents are running in this app."""
        return self.has_run_agents and self._opened_app.result().runs.is_busy

    @property
    def has_watches(self) -> bool:
        """Whether this app looks at pages on a schedule."""
        app = self._get_app()
        return app is not None and app.watcher.is_watching

    @property
    def has_scheduled_flows(self) -> bool:
        """Whether flows of this app's project have schedules; such an app stays open, because no other runs them."""
        app = self._get_app()
        return app is not None and app.flow_scheduler.is_active

    @property
    def must_stay_open(self) -> bool:
        """Whether it is used, or has work that no other app would do."""
        return bool(self.host_count) or self.has_run_agents or self.has_dashboard or self.has_scheduled_flows

    @property
    def is_watched(self) -> bool:
        """Whether a browser is showing its dashboard."""
        return self._dashboard is not None and self._dashboard.is_watched

    @property
    def dashboard_url(self) -> str:
        """The dashboard's address; empty while it is not running."""
        listening = self._dashboard.listening if self._dashboard else None
        return listening.base_url if listening else ""

    def _get_app(self) -> App | None:
        future = self._opened_app
        is_open = future.done() and not future.cancelled() and future.exception() is None
        return future.result() if is_open else None

    @property
    def is_closed(self) -> bool:
        """Whether it was closed, or failed to open."""
        return self._task is None or self._task.done()

    def start(self, shared: SharedComponents) -> None:
        """Start opening the app."""
        # In an empty context, so that its log records are not sent to the host that happens to be served now.
        self._task = asyncio.create_task(self._run_app(shared), context=Context())

    async def wait_until_open(self) -> App:
        """Return the open app. Raises the error if it could not be opened."""
        return await asyncio.shield(self._opened_app)

    async def close(self) -> None:
        """Close the app and end everything that runs in it."""
        self._close_requested.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run_app(self, shared: SharedComponents) -> None:
        """Open and close the app in one task, as its task group requires."""
        try:
            async with open_app(self.loaded, shared=shared) as app, run_background(app.run_schedules):
                if not self.has_dashboard:
                    self._opened_app.set_result(app)
                    await self._close_requested.wait()
                    return
                async with run_dashboard(app) as self._dashboard:
                    self._opened_app.set_result(app)
                    await self._close_requested.wait()
        except BaseException as error:
            if self._opened_app.done():
                log.exception("an app has failed")
                raise
            self._opened_app.set_exception(error)
            self._opened_app.exception()  # prevents a warning if no host is waiting any longer


class AppPool:
    """All open apps of the process."""

    def __init__(self) -> None:
        self._shared = SharedComponents()
        self._apps: list[PooledApp] = []

    def __len__(self) -> int:
        return len(self._list_open())

    @property
    def is_busy(self) -> bool:
        """Whether agents run, anything is scheduled, or the dashboard is open.

        This covers all apps.
        """
        return any(
            each.is_busy or each.has_watches or each.has_scheduled_flows or each.is_watched
            for each in self._list_open()
        )

    @property
    def dashboard_url(self) -> str:
        """The dashboard's address without its token; empty while it is not running."""
        return next((each.dashboard_url for each in self._list_open() if each.dashboard_url), "")

    def explain_mismatch(self, loaded: LoadedSettings) -> str:
        """Return why these settings cannot be served by this process; empty if they can."""
        databases = {each.loaded.settings.database_url for each in self._list_open()}
        if databases and loaded.settings.database_url not in databases:
            return "the shared process uses another `database`"
        return ""

    async def acquire(self, loaded: LoadedSettings) -> tuple[PooledApp, App]:
        """Return the app for these settings, for one more host. Raises OutriderError if it cannot be opened."""
        pooled = next((each for each in self._list_open() if each.matches(loaded)), None)
        if pooled is None:
            needs_dashboard = not any(each.has_dashboard for each in self._apps)
            pooled = PooledApp(loaded, has_dashboard=loaded.settings.dashboard.enabled and needs_dashboard)
            pooled.start(self._shared)
            self._apps.append(pooled)
        pooled.host_count += 1
        try:
            return pooled, await pooled.wait_until_open()
        except BaseException:
            pooled.host_count -= 1
            raise

    async def release(self, pooled: PooledApp) -> None:
        """End one host's use of an app.

        Apps without hosts are closed, except the last used ones.
        """
        pooled.host_count -= 1
        self._apps.remove(pooled)
        self._apps.append(pooled)
        idle = [each for each in self._list_open() if not each.must_stay_open]
        for each in idle[:-MAX_IDLE_APPS]:
            self._apps.remove(each)
            await each.close()

    async def close(self) -> None:
        """Close all apps."""
        apps, self._apps = self._apps, []
        await asyncio.gather(*(each.close() for each in apps))

    def _list_open(self) -> list[PooledApp]:
        self._apps = [each for each in self._apps if not each.is_closed]
        return self._apps
