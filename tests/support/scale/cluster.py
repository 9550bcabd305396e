"""A cluster on this machine: Postgres, replicas and workers as processes, and the proxies between them."""

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

from support.busy_machine import scale_to_load
from support.databases import postgres
from support.scale.networks import Machine, MachineNetwork
from support.scale.proxies import FaultyProxy, balance_connections, proxy_to_socket

SCALE_FOLDER = Path(__file__).parent
MODERN_VERSION = "2026-07-28"
START_TIMEOUT_S = 90.0  # for the start of a process on a busy machine
SHARED_STATE_KEY = "a key that all replicas of the test share, of more than 32 characters"
SHARED_CLIENT_TOKEN = "a token that all clients of the test share"
# On a small disk, its write-ahead log must leave space for the rest.
SMALL_WAL_OPTIONS = ("-c", "max_wal_size=64MB", "-c", "min_wal_size=32MB")


@dataclass(frozen=True)
class ProcessClock:
    """The clock of a process; see `clock/sitecustomize.py`."""

    file: Path

    def set_offset(self, seconds: int) -> None:
        """Set the clock this many seconds ahead."""
        draft = self.file.with_suffix(".draft")
        draft.write_text(str(seconds))
        draft.replace(self.file)


@dataclass
class ClusterProcess:
    """A replica or a worker, with its own home and its own connection to the database.

    Attributes:
        database_proxy: The proxy between it and the database.
        direct_database: The database's address without that proxy (and the query), if it connects directly.
        port: Its port; 0 for a worker.
        machine: Its machine.
        clock: Its clock.
    """

    name: str
    home: Path
    database_proxy: FaultyProxy
    clock: ProcessClock
    environment: dict[str, str]
    settings: Sequence[str]
    port: int = 0
    direct_database: str = ""
    machine: Machine = field(default_factory=Machine)
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://{self.machine.host}:{self.port}/mcp"

    @property
    def database_url(self) -> str:
        """The database's address for this process."""
        host, _, query = (self.direct_database or f"{self.database_proxy.host}:{self.database_proxy.port}").partition(
            "?"
        )
        return f"postgresql://outrider@{host}/postgres" + (f"?{query}" if query else "")

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self._process is not None
        return self._process.pid

    @property
    def log_file(self) -> Path:
        return self.home / "stderr.txt"

    def start(self) -> None:
        """Start it without waiting until it is ready."""
        given = [*self.settings, f"database={self.database_url}"]
        given += [f"serve.port={self.port}", f"serve.host={self.machine.host}"] if self.port else []
        command = [*self.machine.command_prefix, sys.executable, "-m", "outrider", "serve" if self.port else "worker"]
        command += [word for each in given for word in ("--set", each)]
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(command, env=self.environment, cwd=self.home, stderr=log, stdout=log)

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    async def wait_until_ready(self) -> None:
        """Wait until it reports that it is ready."""
        assert self._process is not None
        end = time.monotonic() + scale_to_load(START_TIMEOUT_S)
        while lacks := await self._explain_not_ready():
            assert self._process.poll() is None, self.log_file.read_text()[-3_000:]
            assert time.monotonic() < end, f"{self.name} is not ready: {lacks}\n{self.log_file.read_text()[-3_000:]}"
            await anyio.sleep(0.1)

    async def _explain_not_ready(self) -> str:
        """Return why it is not ready; empty if it is."""
        if not self.port:
            said = b"outrider worker is running"
            return "" if said in self.log_file.read_bytes() else "it does not say that it is running"
        try:
            async with httpx2.AsyncClient(trust_env=False, timeout=5) as client:
                answer = await client.get(f"http://{self.machine.host}:{self.port}/readyz")
        except httpx2.HTTPError as error:
            return repr(error)
        return "" if answer.status_code == 200 else answer.text


@dataclass
class Cluster:
    """A running cluster.

    Attributes:
        url: The address of the load balancer.
        headers: The headers of every request.
    """

    server: postgres.PostgresServer
    replicas: list[ClusterProcess]
    workers: list[ClusterProcess]
    load_balancer: FaultyProxy
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.load_balancer.port}/mcp"

    @property
    def processes(self) -> list[ClusterProcess]:
        return [*self.replicas, *self.workers]

    async def call_tool(
        self,
        tool: str,
        arguments: dict[str, Any],
        *,
        session: str = "scale",
        url: str = "",
        mode: Any = MODERN_VERSION,
        progress: Any = None,
        meta: dict[str, Any] | None = None,
        seconds: float = 90,
    ) -> Any:
        """Make one call by a new client on a new connection, which any replica may get."""
        given: Any = {"session_id": session} | (meta or {})
        async with self.open_client(url, mode=mode, seconds=seconds) as client:
            return await client.call_tool(tool, arguments, meta=given, progress_callback=progress)

    @asynccontextmanager
    async def open_client(
        self, url: str = "", *, mode: Any = MODERN_VERSION, seconds: float = 90
    ) -> AsyncGenerator[Client]:
        """Open a client on a new connection, to that replica or to any."""
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=seconds, headers=self.headers) as http,
            Client(streamable_http_client(url or self.url, http_client=http), mode=mode) as client,
        ):
            yield client

    def query_rows(self, query: str) -> list[list[str]]:
        """Query the database."""
        return [line.split("|") for line in self.server.run_sql(query).splitlines()]


@asynccontextmanager
async def start_cluster(
    folder: Path,
    *,
    replicas: int,
    workers: int,
    settings: Sequence[str],
    environment: dict[str, str],
    prepare: Callable[[Path], None] = lambda home: None,
    programs: Path,
    network: MachineNetwork | None = None,
    disk: Path | None = None,
    proxied: bool = True,
) -> AsyncGenerator[Cluster]:
    """Start the whole cluster, and end it afterwards.

    Args:
        folder: The folder for the homes of the processes.
        replicas: The number of serving processes.
        workers: The number of processes that only work.
        settings: Settings of all processes, in the form of `--set`.
        environment: Environment variables of all processes, besides HOME and PATH.
        prepare: Prepares each home.
        programs: The folder of Postgres' programs.
        network: The network in which each process has its own machine, and every other one connects to the database
            directly.
        disk: The folder of Postgres' data, on a disk that can be filled up.
        proxied: Whether a proxy in this process is in front of the database; it can be cut, and takes time.
    """
    async with AsyncExitStack() as stack:
        net = network or MachineNetwork()
        listens = ("-h", net.gateway) if net.bridge else ()
        server = stack.enter_context(postgres.start_server(programs, disk, *SMALL_WAL_OPTIONS, *listens))
        _allow_network_clients(server)
        made: list[ClusterProcess] = []
        straight = "" if proxied else f"?host={server.folder}"
        own = [f"serve.state_key={SHARED_STATE_KEY}", *([f"serve.token={SHARED_CLIENT_TOKEN}"] if net.bridge else [])]
        for number in range(replicas + workers):
            name = f"replica{number}" if number < replicas else f"worker{number - replicas}"
            home = folder / name
            home.mkdir(parents=True)
            prepare(home)
            clock = ProcessClock(home / "clock")
            clock.set_offset(0)
            wire = await stack.enter_async_context(proxy_to_socket(server.folder / ".s.PGSQL.5432", net.gateway))
            made.append(
                ClusterProcess(
                    name,
                    home,
                    wire,
                    clock,
                    _build_environment(home, clock, environment),
                    [*settings, *own],
                    port=_find_free_port() if number < replicas else 0,
                    direct_database=f"{net.gateway}:5432" if net.bridge and number % 2 == 0 else straight,
                    machine=net.add_machine(),
                )
            )
            stack.callback(made[-1].kill)
        balancer = await stack.enter_async_context(
            balance_connections([(each.machine.host, each.port) for each in made[:replicas]])
        )
        made[0].start()
        await made[0].wait_until_ready()  # it creates the tables
        for each in made[1:]:
            each.start()
        for each in made[1:]:
            await each.wait_until_ready()
        headers = {"Authorization": f"Bearer {SHARED_CLIENT_TOKEN}"} if net.bridge else {}
        yield Cluster(server, made[:replicas], made[replicas:], balancer, headers)


def _build_environment(home: Path, clock: ProcessClock, more: dict[str, str]) -> dict[str, str]:
    path = os.pathsep.join(filter(None, (str(SCALE_FOLDER / "clock"), more.get("PYTHONPATH", ""))))
    own = {"HOME": str(home), "PATH": os.environ["PATH"], "WRONG_BY": str(clock.file), "PGAPPNAME": home.name}
    return own | more | {"PYTHONPATH": path}


def _allow_network_clients(server: postgres.PostgresServer) -> None:
    """Allow clients from the network."""
    with (server.folder / "data" / "pg_hba.conf").open("a") as rules:
        rules.write("host all all 10.0.0.0/8 trust\nhost all all 198.18.0.0/15 trust\n")
    server.run_sql("SELECT pg_reload_conf()")


def _find_free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
