"""The dashboard's place in the house: beside MCP over HTTP, or on a port of its own when there is something to see."""

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
    """The dashboard beside MCP on the port of `outrider serve`, with a door of its own.

    Args:
        app: The open house.

    Attributes:
        routes: Where it is; nowhere, if it is not to be offered there.

    Raises:
        NotConfigured: Other machines shall see it, and there is no token for their people.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self.routes: list[Mount] = [self._build_mount()] if _should_mount(app) else []

    @contextmanager
    def publish_address(self, address: str) -> Generator[str]:
        """Lets `outrider dashboard` find it while the body runs; yields its address without a token, or nothing.

        Args:
            address: Where the server listens: `http://127.0.0.1:8765`.
        """
        if not self.routes:
            yield ""
            return
        from outrider.dashboard.address import publish_address

        place = f"{_from_here(address)}{DASHBOARD_PATH}/"
        self._app.artifacts.dashboard_url = self._app.loaded.settings.dashboard.url or place
        with publish_address(self._app.dashboard_services().data_dir, place, self._launch, kind="serve"):
            yield place

    def _build_mount(self) -> "Mount":
        from starlette.routing import Mount

        from outrider.dashboard.application import build_dashboard_app
        from outrider.dashboard.sign_in_tokens import SignInTokens

        settings = self._app.loaded.settings
        self._launch = SignInTokens(settings.dashboard.token)
        return Mount(
            DASHBOARD_PATH,
            build_dashboard_app(self._app.dashboard_services(), self._launch, hosts=settings.serve.allowed_hosts),
        )


def _should_mount(app: App) -> bool:
    """Whether `outrider serve` offers it. Raises NotConfigured."""
    settings = app.loaded.settings
    if not settings.dashboard.enabled or _is_loopback(settings.serve.host):
        return settings.dashboard.enabled
    if settings.dashboard.remote and not settings.dashboard.token:
        raise NotConfigured(
            f"the dashboard can be reached from other machines (serve.host {settings.serve.host}) and has no token",
            hint="set OUTRIDER_DASHBOARD__TOKEN to a long random text, or unset dashboard.remote",
        )
    return settings.dashboard.remote


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _from_here(address: str) -> str:
    """An address that listens everywhere, as this machine reaches it."""
    return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


class BackgroundDashboard:
    """The dashboard of a house, before and after it is opened.

    Attributes:
        listening: The open dashboard; None before it is opened, and where it is not offered.
    """

    def __init__(self) -> None:
        self.listening: DashboardServer | None = None

    @property
    def is_watched(self) -> bool:
        """Whether a browser shows it now."""
        return self.listening is not None and self.listening.is_watched


@asynccontextmanager
async def run_dashboard(
    app: App, *, kind: str = "mcp", after: Callable[[], Awaitable[object]] | None = None
) -> AsyncGenerator[BackgroundDashboard]:
    """Offers the dashboard while the body runs, if the settings want it.

    Args:
        app: The open house.
        kind: What it belongs to, for `outrider dashboard`: `mcp` or `dashboard`.
        after: What to wait for first. By default the first use of the database: a host that only lists tools, as all
            of them do at their start, waits for nothing that is loaded here.
    """
    offered = BackgroundDashboard()
    opening = (partial(_open_dashboard, app, kind, after or app.database.opened_event.wait, offered),)
    try:
        async with run_background(*(opening if app.loaded.settings.dashboard.enabled else ())):
            yield offered
    finally:
        if offered.listening is not None:
            with anyio.CancelScope(shield=True):
                await offered.listening.aclose()


async def _open_dashboard(
    app: App, kind: str, after: Callable[[], Awaitable[object]], offered: BackgroundDashboard
) -> None:
    await after()
    from outrider.dashboard.server import DashboardServer

    listening = DashboardServer(app.dashboard_services(), kind=kind)
    try:
        with anyio.CancelScope(shield=True):  # half open it could not be closed
            await listening.start()
    except OutriderError as error:  # tools work without it
        log.warning("there is no dashboard: %s; %s", error.message, error.hint)
        return
    offered.listening = listening
