"""A connection to an MCP server, opened at first use.

It is opened again after the server has ended.
"""

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
OPEN_TIMEOUT_S = 60.0  # some servers download themselves first


class ConnectionBroken(Exception):
    """The connection ended, for `reason` if known.

    The HTTP status is included if there is one.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class RemoteConnection:
    """A connection to a server that the operator has configured.

    Args:
        name: The server's name.
        server: Its settings.
        environ: The environment for `${NAME}` in its settings.
        guard: Checks requests to addresses.
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
        """Return the server's tools, listed again after it has reported a change. Raises ConnectionBroken."""
        max_pages = 50
        client = await self._ensure_open()
        if self._tools is None:
            tools: list[Tool] = []
            with self._translate_errors(), anyio.fail_after(OPEN_TIMEOUT_S):
                cursor: str | None = None
                for _ in range(max_pages):
                    page = await client.list_tools(cursor=cursor)
                    tools += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
            self._tools = tools
        return self._tools

    async def call_tool(self, tool: str, arguments: dict[str, Any], **options: Any) -> CallToolResult:
        """Call a tool. Raises ConnectionBroken, and MCPError if the server refuses the call."""
        client = await self._ensure_open()
        with self._translate_errors():
            return await client.call_tool(tool, arguments, **options)

    async def has_resources(self) -> bool:
        """Return whether the server announces resources. Raises ConnectionBroken."""
        return (await self._ensure_open()).server_capabilities.resources is not None

    async def read_resource(self, uri: str) -> Sequence[Any]:
        """Read a resource. Raises ConnectionBroken, and MCPError if the server refuses the request."""
        client = await self._ensure_open()
        with self._translate_errors():
            return (await client.read_resource(uri)).contents

    async def aclose(self) -> None:
        """End the connection, and a program with all its child processes."""
        close_timeout_s = 10.0  # the SDK kills a program that does not end within 4 s
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
                # Mark the exception as retrieved, even if the caller has gone.
                opened.add_done_callback(lambda done: done.cancelled() or done.exception())
                # A connection belongs to the task that opened it, and must outlive the first call.
                task = self._task = asyncio.create_task(self._run_connection(opened))
                await asyncio.wait([opened, task], timeout=OPEN_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
                if not opened.done():
                    self._task = None
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)
                    self._log_stderr()
                    raise ConnectionBroken(f"no answer within {OPEN_TIMEOUT_S:g} seconds")
                return await opened
            return self._client

    async def _run_connection(self, opened: "asyncio.Future[Client]") -> None:
        """Open the connection, and keep it until it ends or is closed.

        It is reported in `opened`.
        """
        closed_event = anyio.Event()
        if self._server.url:
            streams: Any = open_address(self._server, self._name, self._environ, self._guard, self._error_statuses)
        else:
            streams = open_program(self._server, self._name, self._environ, self._stderr)
        client = Client(
            watch_streams(streams, closed_event),
            message_handler=self._handle_message,
            cache=None,
            client_info=Implementation(name="outrider", version=__version__),
        )
        try:
            async with client:
                self._client, self._tools = client, None
                opened.set_result(client)
                await self._wait_until_closed(client, closed_event)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - it is raised where `opened` is awaited
            cause = _find_first_error(error)
            if opened.done():
                log.info("the connection to server %s ended: %s", self._name, cause)
            elif isinstance(cause, OutriderError):
                opened.set_exception(cause)
            else:
                opened.set_exception(self._describe_break(cause))
        finally:
            self._client = None

    async def _wait_until_closed(self, client: Client, closed_event: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:

            async def cancel_when_gone() -> None:
                await closed_event.wait()
                tasks.cancel_scope.cancel()

            tools = client.server_capabilities.tools
            if client.protocol_version >= "2026-07-28" and tools and tools.list_changed:
                tasks.start_soon(self._follow_list_changes, client)
            tasks.start_soon(cancel_when_gone)
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    async def _follow_list_changes(self, client: Client) -> None:
        """Discard the known tools whenever a server of the newest protocol reports a change."""
        retry_delay_s = 1.0
        while True:
            with suppress(SubscriptionLost, MCPError, TimeoutError):
                async with client.listen(tools_list_changed=True) as changes:
                    self._tools = None
                    async for _ in changes:
                        self._tools = None
            await anyio.sleep(retry_delay_s)

    async def _handle_message(self, message: Any) -> None:
        """Discard the known tools when an older server reports a change."""
        if isinstance(message, ToolListChangedNotification):
            self._tools = None

    def _log_stderr(self) -> None:
        """Log what the program wrote, for the person who configured it; models read errors, but no log."""
        if text := self._stderr.text:
            log.warning("MCP server %s wrote to its standard error:\n%s", self._name, text)

    def _translate_errors(self) -> "_ConnectionErrors":
        return _ConnectionErrors(self)

    def mark_lost(self, error: BaseException) -> ConnectionBroken:
        """Close the connection and return the error to raise."""
        self._client = None
        self._closing.set()
        return self._describe_break(error)

    def _describe_break(self, error: BaseException) -> ConnectionBroken:
        reason = str(getattr(error, "strerror", None) or error).strip() or type(error).__name__
        status = self._error_statuses[-1] if self._error_statuses else None
        self._log_stderr()
        return ConnectionBroken(reason[:300], status)


class _ConnectionErrors:
    """Turns errors that end the connection into ConnectionBroken."""

    def __init__(self, connection: RemoteConnection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        # A restarted server has forgotten the session and answers "Session terminated".
        is_end = isinstance(error, MCPError) and (
            error.code == CONNECTION_CLOSED or error.message == "Session terminated"
        )
        if error is not None and (
            is_end or isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError | OSError)
        ):
            raise self._connection.mark_lost(error) from None


def _find_first_error(error: BaseException) -> BaseException:
    """Return the first error of a group, or of the groups in it."""
    return _find_first_error(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
