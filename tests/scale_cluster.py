"""A cluster on this machine: Postgres, replicas and workers as processes, and the wires between them."""

import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import postgres
from scale_wires import Wire, spread, to_socket

HERE = Path(__file__).parent
MODERN = "2026-07-28"
STARTED = 90.0  # seconds that a process may need on a busy machine
KEY = "a key that all replicas of the test share, of more than 32 characters"


@dataclass
class Process:
    """A replica or a worker: one home of its own, one wire to the database.

    Attributes:
        port: Where it serves; 0 for a worker.
    """

    name: str
    home: Path
    wire: Wire
    environment: dict[str, str]
    settings: Sequence[str]
    port: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def number(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> Path:
        return self.home / "stderr.txt"

    def start(self) -> None:
        """Begins to start it."""
        given = [*self.settings, f"database=postgresql://outrider@127.0.0.1:{self.wire.port}/postgres"]
        given += [f"serve.port={self.port}"] if self.port else []
        command = [sys.executable, "-m", "outrider", "serve" if self.port else "worker"]
        command += [word for each in given for word in ("--set", each)]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, env=self.environment, cwd=self.home, stderr=log, stdout=log)

    def kill(self) -> None:
        """As a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def ready(self) -> None:
        """Waits until it says that it is there."""
        assert self._process is not None
        seen = self.log.read_bytes().count(b"outrider ") if self.log.exists() else 0
        end = time.monotonic() + STARTED
        while not await self._answers(seen):
            assert self._process.poll() is None, self.log.read_text()[-3_000:]
            assert time.monotonic() < end, self.log.read_text()[-3_000:]
            await anyio.sleep(0.1)

    async def _answers(self, seen: int) -> bool:
        if not self.port:
            return self.log.read_bytes().count(b"outrider worker is at work") > 0
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
                return (await client.get(f"http://127.0.0.1:{self.port}/readyz")).status_code == 200
        except httpx2.HTTPError:
            return False


@dataclass
class Cluster:
    """A running cluster.

    Attributes:
        url: Of the load balancer.
    """

    server: postgres.Server
    replicas: list[Process]
    workers: list[Process]
    balancer: Wire

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.balancer.port}/mcp"

    @property
    def processes(self) -> list[Process]:
        return [*self.replicas, *self.workers]

    async def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        session: str = "scale",
        url: str = "",
        mode: Any = MODERN,
        progress: Any = None,
        meta: dict[str, Any] | None = None,
        seconds: float = 90,
    ) -> Any:
        """One call of a client of its own, on a connection of its own: it may land on any replica."""
        given: Any = {"session_id": session} | (meta or {})
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=seconds) as http,
            Client(streamable_http_client(url or self.url, http_client=http), mode=mode) as client,
        ):
            return await client.call_tool(tool, arguments, meta=given, progress_callback=progress)

    def rows(self, query: str) -> list[list[str]]:
        """What the database says."""
        return [line.split("|") for line in self.server.sql(query).splitlines()]


@asynccontextmanager
async def cluster(
    folder: Path,
    *,
    replicas: int,
    workers: int,
    settings: Sequence[str],
    environment: dict[str, str],
    prepare: Callable[[Path], None] = lambda home: None,
    programs: Path,
) -> AsyncGenerator[Cluster]:
    """Starts all of it, and ends it.

    Args:
        folder: For the homes of the processes.
        replicas: How many serve.
        workers: How many only work.
        settings: Of all, as `--set` takes them.
        environment: Of all, beside HOME and PATH.
        prepare: Puts into each home what it needs.
        programs: Of Postgres.
    """
    async with AsyncExitStack() as stack:
        server = stack.enter_context(postgres.serving(programs))
        path = server.folder / ".s.PGSQL.5432"
        made: list[Process] = []
        for number in range(replicas + workers):
            name = f"replica{number}" if number < replicas else f"worker{number - replicas}"
            home = folder / name
            home.mkdir(parents=True)
            prepare(home)
            env = {"HOME": str(home), "PATH": os.environ["PATH"]} | environment
            wire = await stack.enter_async_context(to_socket(path))
            port = _free_port() if number < replicas else 0
            own = [*settings, f"serve.state_key={KEY}"]
            made.append(Process(name, home, wire, env, own, port))
            stack.callback(made[-1].kill)
        balancer = await stack.enter_async_context(spread([each.port for each in made[:replicas]]))
        made[0].start()
        await made[0].ready()  # it makes the tables
        for each in made[1:]:
            each.start()
        for each in made[1:]:
            await each.ready()
        yield Cluster(server, made[:replicas], made[replicas:], balancer)


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
