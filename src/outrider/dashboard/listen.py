"""The dashboard on a port of its own on this machine: beside `outrider mcp`, or alone."""

import asyncio
import logging
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import anyio
import uvicorn

from outrider.core.egress.listening import stop_listening
from outrider.core.errors import NotConfigured
from outrider.dashboard.address import posted
from outrider.dashboard.application import dashboard_app
from outrider.dashboard.house import House
from outrider.dashboard.launch import Launch

HOST = "127.0.0.1"
GRACE = 1  # seconds that answers in progress have at the end


class Listening:
    """One dashboard: `await start()` opens it, `await aclose()` ends it and every stream of it.

    Args:
        house: What is shown.
        kind: What the dashboard belongs to, for `outrider dashboard`: `mcp` or `dashboard`.
        port: 0 takes a free one; the setting's by default.

    Attributes:
        application: What answers.
        place: Its address without a token, with a final slash; empty before the start.
    """

    def __init__(self, house: House, *, kind: str = "mcp", port: int | None = None) -> None:
        self._house = house
        self._kind = kind
        self._port = house.settings.port if port is None else port
        self._launch = Launch(house.settings.token)
        self.application = dashboard_app(house, self._launch)
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None
        self._posted = ExitStack()
        self.place = ""

    @property
    def address(self) -> str:
        """The address that signs a browser in once; another one afterwards."""
        return f"{self.place}?token={self._launch.token}"

    @property
    def watched(self) -> bool:
        """Whether a browser shows the dashboard now."""
        state = self.application.state
        return state.feeds.streams > 0 or (hasattr(state, "room") and state.room.watchers > 0)

    async def start(self) -> None:
        """Opens the port. Raises NotConfigured when it is taken or may not be used."""
        config = uvicorn.Config(
            self.application,
            host=HOST,
            port=self._port,
            log_config=None,
            access_log=False,  # addresses are nobody's business, the first one least of all
            lifespan="off",
            server_header=False,
            ws_per_message_deflate=False,  # pictures are compressed already
            timeout_graceful_shutdown=GRACE,
        )
        taken = _bound(config)
        self.place = f"http://{HOST}:{taken.getsockname()[1]}/"
        self._server = _Server(config)
        self._task = asyncio.create_task(self._server.serve(sockets=[taken]))
        await self._server.listening.wait()
        self._house.artifacts.web_address = self.place
        self._posted.enter_context(posted(self._house.data_dir, self.place, self._launch, kind=self._kind))

    async def aclose(self) -> None:
        """Ends it; what browsers still ask for is answered first."""
        self._posted.close()
        self._house.artifacts.web_address = ""
        if self._server is None or self._task is None:
            return
        self.application.state.feeds.close()
        self._server.should_exit = True
        with anyio.CancelScope(shield=True):
            await self._task
        self._server = self._task = None


class _Server(uvicorn.Server):
    """A server that is a guest in its process: the signals are somebody else's."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = anyio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: Any = None) -> None:
        try:
            await super().startup(sockets)
        finally:
            self.listening.set()

    async def shutdown(self, sockets: Any = None) -> None:
        for server in self.servers:
            await stop_listening(server)
        await super().shutdown(sockets)


def _bound(config: uvicorn.Config) -> Any:
    """The listening socket. Raises NotConfigured."""
    with suppress(SystemExit), _quiet(logging.getLogger("uvicorn.error")):
        return config.bind_socket()
    raise NotConfigured(
        f"dashboard.port {config.port} cannot be listened on", hint="set another, or 0, which takes a free one"
    )


@contextmanager
def _quiet(logger: logging.Logger) -> Generator[None]:
    """Without its words, which we say better."""
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before
