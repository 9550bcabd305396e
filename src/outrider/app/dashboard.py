"""Serve the dashboard on the port of `outrider serve` or its own."""

import ipaddress
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import anyio

from outrider.app.app import App
from outrider.core.background import run_background
from outrider.core.errors import NotConfigured, OutriderError

if TYPE_CHECKING:
    from starlette.routing import Mount

    from outrider.dashboard.server import DashboardServer

log = logging.getLogger(__name__)
DASHBOARD_PATH = "/dashboard"


class MountedDashboard:
    """The dashboard on the port of `outrider serve`, with its own sign-in.

    Args:
        app: The open application.

    Attributes:
        routes: The dashboard's routes; empty if it is not offered there.

    Raises:
        NotConfigured: The dashboard is reachable from other machines, and has no token.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.routes: list[Mount] = []
        if not _should_mount(app):
            return
        from starlette import routing

        from outrider.dashboard.application import build_dashboard_app
        from outrider.dashboard.sign_in_tokens import SignInTokens

        settings = app.loaded.settings
        self._sign_in_tokens = SignInTokens(settings.dashboard.token)
        dashboard = build_dashboard_app(
            app.dashboard_services(), self._sign_in_tokens, hosts=settings.serve.allowed_hosts
        )
        self.routes.append(routing.Mount(DASHBOARD_PATH, dashboard))

    @contextmanager
    def publish_address(self, address: str) -> Generator[str]:
        """Let `outrider dashboard` find it while the body runs; yields its address without a token, or "".

        Args:
            address: Where the server listens, for instance `http://127.0.0.1:8765`.
        """
        if not self.routes:
            yield ""
            return
        from outrider.dashboard.address import publish_address

        # Replace a wildcard address by one that this machine can reach.
        address = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
        url = f"{address}{DASHBOARD_PATH}/"
        self._app.artifacts.dashboard_url = self._app.loaded.settings.dashboard.url or url
        with publish_address(self._app.dashboard_services().data_dir, url, self._sign_in_tokens, kind="serve"):
            yield url


def _should_mount(app: App) -> bool:
    """Return whether `outrider serve` offers the dashboard. Raises NotConfigured."""
    settings = app.loaded.settings
    try:
        is_loopback = ipaddress.ip_address(settings.serve.host.strip("[]")).is_loopback
    except ValueError:
        is_loopback = settings.serve.host == "localhost"
    if not settings.dashboard.enabled or is_loopback:
        return settings.dashboard.enabled
    if settings.dashboard.remote and not settings.dashboard.token:
        raise NotConfigured(
            f"the dashboard can be reached from other machines (serve.host {settings.serve.host}) and has no token",
            hint="set OUTRIDER_DASHBOARD__TOKEN to a long random text, or unset dashboard.remote",
        )
    return settings.dashboard.remote


class BackgroundDashboard:
    """The dashboard of an app, which may not have started yet.

    Attributes:
        listening: The running server; None before it has started, or if the dashboard is disabled.
    """

    def __init__(self) -> None:
        self.listening: DashboardServer | None = None

    @property
    def is_watched(self) -> bool:
        """Whether a browser is showing it now."""
        return self.listening is not None and self.listening.is_watched


@asynccontextmanager
async def run_dashboard(
    app: App, *, kind: str = "mcp", after: Callable[[], Awaitable[object]] | None = None
) -> AsyncGenerator[BackgroundDashboard]:
    """Run the dashboard in the background of the body, if the settings enable it.

    Args:
        app: The open application.
        kind: The command that runs it, for `outrider dashboard`: `mcp` or `dashboard`.
        after: What to wait for before starting. By default the first use of the database, so that a host that only
            lists tools, as all do at their start, does not wait for the dashboard's modules to load.
    """
    dashboard = BackgroundDashboard()
    start = partial(_start_dashboard, app, kind, after or app.database.opened_event.wait, dashboard)
    try:
        async with run_background(*([start] if app.loaded.settings.dashboard.enabled else [])):
            yield dashboard
    finally:
        if dashboard.listening is not None:
            with anyio.CancelScope(shield=True):
                await dashboard.listening.aclose()


async def _start_dashboard(
    app: App, kind: str, after: Callable[[], Awaitable[object]], dashboard: BackgroundDashboard
) -> None:
    await after()
    from outrider.app.local_rest import add_rest_interface
    from outrider.dashboard.server import DashboardServer

    server = DashboardServer(app.dashboard_services(), kind=kind, extend=partial(add_rest_interface, app))
    try:
        with anyio.CancelScope(shield=True):  # a half-started server could not be closed
            await server.start()
    except OutriderError as error:  # the tools work without it
        log.warning("the dashboard did not start: %s; %s", error.message, error.hint)
        return
    dashboard.listening = server
