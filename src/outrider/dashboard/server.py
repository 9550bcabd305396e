"""Serve the dashboard on its own loopback port."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack

import anyio
import uvicorn
from starlette.types import ASGIApp

from outrider.dashboard.address import publish_address
from outrider.dashboard.application import build_dashboard_app
from outrider.dashboard.services import DashboardServices
from outrider.dashboard.sign_in_tokens import SignInTokens
from outrider.serve.uvicorn_server import EmbeddedServer, bind_server_socket


class DashboardServer:
    """One dashboard: `start()` opens it, `aclose()` ends it and its streams.

    Args:
        services: The services behind the pages.
        kind: The command that runs it, for `outrider dashboard`: `mcp` or `dashboard`.
        port: The port, by default that of the settings; 0 takes a free one.
        extend: Returns the dashboard extended by more paths.

    Attributes:
        application: The served application.
        base_url: Its address without a token, with a final slash; empty before the start.
    """

    def __init__(
        self,
        services: DashboardServices,
        *,
        kind: str = "mcp",
        port: int | None = None,
        extend: Callable[[ASGIApp], ASGIApp] = lambda dashboard: dashboard,
    ) -> None:
        self._services = services
        self._kind = kind
        self._port = services.settings.port if port is None else port
        self._tokens = SignInTokens(services.settings.token)
        self.application = build_dashboard_app(services, self._tokens)
        self._served = extend(self.application)
        self._server: EmbeddedServer | None = None
        self._task: asyncio.Task[None] | None = None
        self._address_file = ExitStack()
        self.base_url = ""

    @property
    def sign_in_url(self) -> str:
        """A single-use URL that signs a browser in."""
        return f"{self.base_url}?token={self._tokens.token}"

    @property
    def is_watched(self) -> bool:
        """Whether a browser shows the dashboard now."""
        state = self.application.state
        return state.feeds.streams > 0 or (hasattr(state, "room") and state.room.watchers > 0)

    async def start(self) -> None:
        """Open the port. Raises NotConfigured when it is taken or forbidden."""
        shutdown_grace_s = 1  # for responses in progress
        loopback_host = "127.0.0.1"
        config = uvicorn.Config(
            self._served,
            host=loopback_host,
            port=self._port,
            log_config=None,
            access_log=False,  # the first address holds the sign-in token
            lifespan="off",
            server_header=False,
            ws_per_message_deflate=False,  # pictures are compressed already
            timeout_graceful_shutdown=shutdown_grace_s,
        )
        server_socket = bind_server_socket(config, "dashboard.port")
        self.base_url = f"http://{loopback_host}:{server_socket.getsockname()[1]}/"
        self._server = EmbeddedServer(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[server_socket]))
        await self._server.listening.wait()
        self._services.artifacts.dashboard_url = self.base_url
        self._address_file.enter_context(
            publish_address(self._services.data_dir, self.base_url, self._tokens, kind=self._kind)
        )

    async def aclose(self) -> None:
        """Finish running requests and end."""
        self._address_file.close()
        self._services.artifacts.dashboard_url = ""
        if self._server is None or self._task is None:
            return
        self.application.state.feeds.close()
        self._server.should_exit = True
        with anyio.CancelScope(shield=True):
            await self._task
        self._server = self._task = None
