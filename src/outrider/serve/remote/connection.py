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
from outrider.agents.settings import McpServerSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import OutriderError
from outrider.serve.remote.transport import StderrTail, open_address, open_program, watch_streams

log = logging.getLogger(__name__)
OPEN_TIMEOUT_S = 60.0  # seconds that a server may take to start: some fetch themselves first


class ConnectionBroken(Exception):
    """The connection is no more; `reason` says why as far as that is known."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class RemoteConnection:
    """A connection to a server that the operator has configured.

    Args:
        name: The server's.
        server: How it is reached.
        environ: What `${NAME}` in its settings stands for.
        guard: Lets requests to addresses out.
    """

    def __init__(self, name: str, server: McpServerSettings, environ: Mapping[str, str], guard: EgressGuard) -> None:
        self._name = name
        self._server = server
        self._environ = environ
        self._guard = guard
        self._opening = anyio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._closing = anyio.Event()
        self._stderr = StderrTail()
        self._error_statuses: list[int] = []
        self._tools: list[Tool] | None = None

    async def list_tools(self) -> Sequence[Tool]:
        """What the server offers; asked again when it has said that this has changed. Raises Broken."""
        max_pages = 50  # of a list of tools
        client = await self._ensure_open()
        if self._tools is None:
            listed: list[Tool] = []
            with self._translate_errors(), anyio.fail_after(OPEN_TIMEOUT_S):
                cursor: str | None = None
                for _ in range(max_pages):
                    page = await client.list_tools(cursor=cursor)
                    listed += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
            self._tools = listed
        return self._tools

    async def call_tool(self, tool: str, arguments: dict[str, Any], **more: Any) -> CallToolResult:
        """Calls a tool. Raises Broken, and MCPError for what the server itself refuses."""
        client = await self._ensure_open()
        with self._translate_errors():
            return await client.call_tool(tool, arguments, **more)

    async def has_resources(self) -> bool:
        """Whether the server says that it has some. Raises Broken."""
        return (await self._ensure_open()).server_capabilities.resources is not None

    async def read_resource(self, uri: str) -> Sequence[Any]:
        """What stands in a resource. Raises Broken, and MCPError for what the server itself refuses."""
        client = await self._ensure_open()
        with self._translate_errors():
            return (await client.read_resource(uri)).contents

    async def aclose(self) -> None:
        """Ends the connection, and a program with all its children."""
        close_timeout_s = 10.0  # seconds for the SDK's own way of ending a program, which kills after four
        task, self._task = self._task, None
        if task is None:
            return
        self._closing.set()
        with anyio.move_on_after(close_timeout_s, shield=True):
            await asyncio.wait([task])
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def _ensure_open(self) -> Client:
        async with self._opening:
            if self._client is None:
                await self.aclose()
                self._closing, self._error_statuses = anyio.Event(), []
                opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
                opened.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be left to ask
                # A connection belongs to the task that opened it, and the first call may not be its last.
                self._task = asyncio.create_task(self._run_connection(opened))
                await asyncio.wait([opened, self._task], timeout=OPEN_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
                if not opened.done():
                    await self._abort_opening()
                return await opened
            return self._client

    async def _abort_opening(self) -> None:
        task, self._task = self._task, None
        assert task is not None
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise ConnectionBroken(f"it did not answer within {OPEN_TIMEOUT_S:g} seconds{self._format_stderr()}")

    async def _run_connection(self, opened: "asyncio.Future[Client]") -> None:
        """The whole life of a connection."""
        gone = anyio.Event()
        client = Client(
            watch_streams(self._open_streams(), gone),
            message_handler=self._handle_message,
            cache=None,
            client_info=Implementation(name="outrider", version=__version__),
        )
        try:
            async with client:
                self._client, self._tools = client, None
                opened.set_result(client)
                await self._wait_until_closed(client, gone)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - whoever waits for it hears it
            self._report_failure(opened, error)
        finally:
            self._client = None

    def _report_failure(self, opened: "asyncio.Future[Client]", error: BaseException) -> None:
        cause = _find_first_error(error)
        if opened.done():
            log.info("the connection to server %s ended: %s", self._name, cause)
        elif isinstance(cause, OutriderError):
            opened.set_exception(cause)
        else:
            opened.set_exception(
                ConnectionBroken(
                    f"{_format_error(cause)}{self._format_stderr()}", next(reversed(self._error_statuses), None)
                )
            )

    async def _wait_until_closed(self, client: Client, gone: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:
            if client.protocol_version >= "2026-07-28" and _lists_change(client):
                tasks.start_soon(self._follow_list_changes, client)
            tasks.start_soon(_cancel_when_gone, tasks.cancel_scope, gone)
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    async def _follow_list_changes(self, client: Client) -> None:
        """Hears of tools that come and go, from servers of the newest protocol."""
        retry_delay_s = 1.0  # seconds before a lost subscription is begun again
        while True:
            with suppress(SubscriptionLost, MCPError, TimeoutError):
                async with client.listen(tools_list_changed=True) as changes:
                    self._tools = None
                    async for _ in changes:
                        self._tools = None
            await anyio.sleep(retry_delay_s)

    async def _handle_message(self, message: Any) -> None:
        """Hears of tools that come and go, from older servers."""
        if isinstance(message, ToolListChangedNotification):
            self._tools = None

    def _open_streams(self) -> Any:
        if self._server.url:
            return open_address(self._server, self._name, self._environ, self._guard, self._error_statuses)
        return open_program(self._server, self._name, self._environ, self._stderr)

    def _format_stderr(self) -> str:
        return f"; it said: {self._stderr.text}" if self._stderr.text else ""

    def _translate_errors(self) -> "_ConnectionErrors":
        return _ConnectionErrors(self)

    def mark_lost(self, error: BaseException) -> ConnectionBroken:
        """What broke; from now on the connection counts as closed."""
        self._client = None
        self._closing.set()
        return ConnectionBroken(
            f"{_format_error(error)}{self._format_stderr()}", next(reversed(self._error_statuses), None)
        )


class _ConnectionErrors:
    """Turns the end of the connection into Broken."""

    def __init__(self, connection: RemoteConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, MCPError) and _is_connection_end(error):
            raise self._connection.mark_lost(error) from None
        if isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError | OSError):
            raise self._connection.mark_lost(error) from None


def _is_connection_end(error: MCPError) -> bool:
    """Whether the error says that the connection is over; a session that a restarted server has forgotten is, too."""
    return error.code == CONNECTION_CLOSED or error.message == "Session terminated"


async def _cancel_when_gone(scope: anyio.CancelScope, gone: anyio.Event) -> None:
    await gone.wait()
    scope.cancel()


def _lists_change(client: Client) -> bool:
    tools = client.server_capabilities.tools
    return bool(tools and tools.list_changed)


def _find_first_error(error: BaseException) -> BaseException:
    """The first error of a group, and of the groups in it."""
    return _find_first_error(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _format_error(error: BaseException) -> str:
    text = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
    return text[:300]
