"""Connect to an MCP server: start a program, or open an address through the egress guard."""

import errno
import os
import re
import secrets
import shutil
import signal
import threading
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from outrider.agents.settings import McpServerSettings
from outrider.core.egress.client import build_guarded_client
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured

VARIABLE_PATTERN = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
TOKEN_VARIABLE = "OUTRIDER_MCP_SERVER"  # noqa: S105


class StderrTail:
    """The last 12 lines of a program's standard error, without the values that it was configured with."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=12)
        self._secrets: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self._lines).strip()

    def mask_values(self, values: Iterable[str]) -> None:
        """Mask these values in all further lines; programs print their configuration when they fail."""
        min_secret_chars = 4  # shorter ones are switches
        self._secrets = sorted((value for value in values if len(value) >= min_secret_chars), key=len, reverse=True)

    @asynccontextmanager
    async def open_pipe(self) -> AsyncGenerator[Any]:
        """Yield a file for the program to write to; a thread reads it until the last of its processes has ended."""
        max_line_chars = 300
        reading, writing = os.pipe()

        def read_lines() -> None:
            with os.fdopen(reading, errors="replace") as file:
                for line in file:
                    for secret in self._secrets:
                        line = line.replace(secret, "********")  # noqa: PLW2901
                    self._lines.append(line.rstrip()[:max_line_chars])

        threading.Thread(target=read_lines, daemon=True).start()
        with os.fdopen(writing, "w") as file:
            yield file


@asynccontextmanager
async def open_program(
    server: McpServerSettings, name: str, environ: Mapping[str, str], stderr: StderrTail
) -> AsyncGenerator[Any]:
    """Start a program and yield its streams; kill it and all its child processes at the end. Raises OSError.

    Its environment has HOME, PATH and the like, and the configured variables.
    """
    token = secrets.token_hex(16)
    variables = {key: expand_variables(value, name, environ) for key, value in server.env.items()}
    named = VARIABLE_PATTERN.findall(" ".join(server.args))
    stderr.mask_values([*variables.values(), *(environ.get(variable) or default for variable, default in named)])
    command = expand_variables(server.command, name, environ)
    is_path = Path(command).name != command
    if not is_path and shutil.which(command, path=variables.get("PATH")) is None:
        # The system would call it a missing permission if one folder of PATH cannot be read.
        raise FileNotFoundError(errno.ENOENT, f"{command} is not on PATH")
    parameters = StdioServerParameters(
        command=command,
        args=[expand_variables(argument, name, environ) for argument in server.args],
        env=variables | {TOKEN_VARIABLE: token},
        cwd=expand_variables(server.cwd, name, environ) or None,
    )
    try:
        async with stderr.open_pipe() as errors, stdio_client(parameters, errlog=errors) as streams:
            yield streams
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(kill_orphans, token)


@asynccontextmanager
async def open_address(
    server: McpServerSettings, name: str, environ: Mapping[str, str], guard: EgressGuard, error_statuses: list[int]
) -> AsyncGenerator[Any]:
    """Open an address and yield its streams; the statuses of refused requests are added to `error_statuses`.

    The operator chose the address, so its origin may be on this machine or in a private network; no other may.
    """
    idle_timeout_s = 300.0  # of an open stream
    url = expand_variables(server.url, name, environ)

    async def record_status(response: Any) -> None:
        if response.status_code >= 400:
            error_statuses.append(response.status_code)

    async with build_guarded_client(guard, trusted=url, seconds=max(idle_timeout_s, server.timeout_s)) as client:
        client.headers.update({key: expand_variables(value, name, environ) for key, value in server.headers.items()})
        client.event_hooks = {"response": [record_status]}
        async with streamable_http_client(url, http_client=client) as streams:
            yield streams


@asynccontextmanager
async def watch_streams(streams: Any, closed_event: anyio.Event) -> AsyncGenerator[Any]:
    """Yield the same streams, and set `closed_event` when the other side has closed them."""
    async with streams as (reading, writing):
        onward, received = anyio.create_memory_object_stream[Any](0)

        async def forward_messages() -> None:
            async with onward:
                async for message in reading:
                    await onward.send(message)
            closed_event.set()

        async with received, anyio.create_task_group() as tasks:
            tasks.start_soon(forward_messages)
            yield received, writing
            tasks.cancel_scope.cancel()


def expand_variables(text: str, name: str, environ: Mapping[str, str]) -> str:
    """Replace `${NAME}` by the environment's value, or by the default of `${NAME:-default}`. Raises NotConfigured."""

    def resolve_variable(match: re.Match[str]) -> str:
        variable, default = match.groups()
        value = environ.get(variable) or default
        if value is None:
            raise NotConfigured(
                f"mcpServers.{name}: the environment has no {variable}",
                hint=f"set {variable} where Outrider is started",
                code="mcp_server",
            )
        return value

    return VARIABLE_PATTERN.sub(resolve_variable, text)


def kill_orphans(token: str) -> int:
    """Kill every process with the token in its environment, even in other groups; return their number.

    On systems without /proc only the SDK's own cleanup applies: it ends the program's process group.
    """
    variable = f"{TOKEN_VARIABLE}={token}".encode()
    pids: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process belongs to another user, or has ended
            if variable in (folder / "environ").read_bytes().split(b"\0"):
                pids.append(int(folder.name))
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(pids)
