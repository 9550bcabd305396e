"""One connection to one server: opened at the first use, opened again when the server has died."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, CallToolResult, Implementation, Tool, ToolListChangedNotification

from outrider import __version__
from outrider.agents.settings import McpServer
from outrider.core.egress.guard import Guard
from outrider.core.errors import OutriderError
from outrider.serve.remote.transport import Words, address, program, watched

log = logging.getLogger(__name__)
OPENING = 60.0  # seconds that a server may take to start: some fetch themselves first
CLOSING = 10.0  # seconds for the SDK's own way of ending a program, which kills after four
PAGES = 50  # of a list of tools
SOON = 1.0  # seconds before a lost subscription is begun again


class Broken(Exception):
    """The connection is no more; `reason` says why as far as that is known."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Connection:
    """A connection to a server that the operator has configured.

    Args:
        name: The server's.
        server: How it is reached.
        environ: What `${NAME}` in its settings stands for.
        guard: Lets requests to addresses out.
    """

    def __init__(self, name: str, server: McpServer, environ: Mapping[str, str], guard: Guard) -> None:
        self._name = name
        self._server = server
        self._environ = environ
        self._guard = guard
        self._opening = anyio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._closing = anyio.Event()
        self._words = Words()
        self._refused: list[int] = []
        self._listed: list[Tool] | None = None

    async def tools(self) -> Sequence[Tool]:
        """What the server offers; asked again when it has said that this has changed. Raises Broken."""
        client = await self._opened()
        if self._listed is None:
            listed: list[Tool] = []
            with self._explained(), anyio.fail_after(OPENING):
                cursor: str | None = None
                for _ in range(PAGES):
                    page = await client.list_tools(cursor=cursor)
                    listed += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
            self._listed = listed
        return self._listed

    async def call(self, tool: str, arguments: dict[str, Any], **more: Any) -> CallToolResult:
        """Calls a tool. Raises Broken, and MCPError for what the server itself refuses."""
        client = await self._opened()
        with self._explained():
            return await client.call_tool(tool, arguments, **more)

    async def has_resources(self) -> bool:
        """Whether the server says that it has some. Raises Broken."""
        return (await self._opened()).server_capabilities.resources is not None

    async def read(self, uri: str) -> Sequence[Any]:
        """What stands in a resource. Raises Broken, and MCPError for what the server itself refuses."""
        client = await self._opened()
        with self._explained():
            return (await client.read_resource(uri)).contents

    async def aclose(self) -> None:
        """Ends the connection, and a program with all its children."""
        task, self._task = self._task, None
        if task is None:
            return
        self._closing.set()
        with anyio.move_on_after(CLOSING, shield=True):
            await asyncio.wait([task])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _opened(self) -> Client:
        async with self._opening:
            if self._client is None:
                await self.aclose()
                self._closing, self._refused = anyio.Event(), []
                opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
                opened.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to ask
                # A connection belongs to the task that opened it, and the first call may not be its last.
                self._task = asyncio.create_task(self._live(opened))
                await asyncio.wait([opened, self._task], timeout=OPENING, return_when=asyncio.FIRST_COMPLETED)
                if not opened.done():
                    await self._given_up()
                return await opened
            return self._client

    async def _given_up(self) -> None:
        task, self._task = self._task, None
        assert task is not None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise Broken(f"it did not answer within {OPENING:g} seconds{self._said()}")

    async def _live(self, opened: "asyncio.Future[Client]") -> None:
        """The whole life of a connection."""
        gone = anyio.Event()
        client = Client(
            watched(self._streams(), gone),
            message_handler=self._heard,
            cache=None,
            client_info=Implementation(name="outrider", version=__version__),
        )
        try:
            async with client:
                self._client, self._listed = client, None
                opened.set_result(client)
                await self._until_over(client, gone)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whoever waits for it hears it
            self._fail(opened, error)
        finally:
            self._client = None

    def _fail(self, opened: "asyncio.Future[Client]", error: BaseException) -> None:
        cause = _first(error)
        if opened.done():
            log.info("the connection to server %s ended: %s", self._name, cause)
        elif isinstance(cause, OutriderError):
            opened.set_exception(cause)
        else:
            opened.set_exception(Broken(f"{_words(cause)}{self._said()}", next(reversed(self._refused), None)))

    async def _until_over(self, client: Client, gone: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:
            if client.protocol_version >= "2026-07-28" and _lists_change(client):
                tasks.start_soon(self._follow, client)
            tasks.start_soon(_first_of, tasks.cancel_scope, gone)
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    async def _follow(self, client: Client) -> None:
        """Hears of tools that come and go, from servers of the newest protocol."""
        while True:
            with suppress(SubscriptionLost, MCPError, TimeoutError):
                async with client.listen(tools_list_changed=True) as changes:
                    self._listed = None
                    async for _ in changes:
                        self._listed = None
            await anyio.sleep(SOON)

    async def _heard(self, message: Any) -> None:
        """Hears of tools that come and go, from older servers."""
        if isinstance(message, ToolListChangedNotification):
            self._listed = None

    def _streams(self) -> Any:
        if self._server.url:
            return address(self._server, self._name, self._environ, self._guard, self._refused)
        return program(self._server, self._name, self._environ, self._words)

    def _said(self) -> str:
        return f"; it said: {self._words.text}" if self._words.text else ""

    def _explained(self) -> "_Explained":
        return _Explained(self)

    def lost(self, error: BaseException) -> Broken:
        """What broke; from now on the connection counts as closed."""
        self._client = None
        self._closing.set()
        return Broken(f"{_words(error)}{self._said()}", next(reversed(self._refused), None))


class _Explained:
    """Turns the end of the connection into Broken."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, MCPError) and _is_end(error):
            raise self._connection.lost(error) from None
        if isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError | OSError):
            raise self._connection.lost(error) from None


def _is_end(error: MCPError) -> bool:
    """Whether the error says that the connection is over; a session that a restarted server has forgotten is, too."""
    return error.code == CONNECTION_CLOSED or error.message == "Session terminated"


async def _first_of(scope: anyio.CancelScope, gone: anyio.Event) -> None:
    await gone.wait()
    scope.cancel()


def _lists_change(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed)


def _first(error: BaseException) -> BaseException:
    """The first error of a group, and of the groups in it."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _words(error: BaseException) -> str:
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text[:300]
