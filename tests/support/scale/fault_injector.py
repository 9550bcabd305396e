"""Break parts of a cluster in turn, and repair those that do not recover."""

import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from support.scale.cluster import Cluster, ClusterProcess
from support.scale.disk import SmallDisk
from support.scale.load import LoadJournal

CLOCK_SKEWS_S = (-86_400, -3_600, -45, 45, 3_600, 172_800)  # offsets of clocks
SHORT_CUT_S, LONG_CUT_S = (0.5, 4.0), (26.0, 30.0)  # after the long one, both ends have given up the connection


class FaultInjector:
    """Breaks parts at random, each once before any a second time.

    Args:
        disks: The disks that can be filled up, by their content.
    """

    def __init__(self, cluster: Cluster, journal: LoadJournal, rng: random.Random, disks: dict[str, SmallDisk]) -> None:
        self._cluster = cluster
        self._journal = journal
        self._rng = rng
        self._disks = disks

    async def inject_faults(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        deeds = list(self._list_faults(seconds))
        self._rng.shuffle(deeds)
        turn = 0
        while time.monotonic() < end:
            await deeds[turn % len(deeds)]()
            turn += 1
            await anyio.sleep(self._rng.uniform(0.5, 2.5))
        for each in self._cluster.processes:
            each.clock.set_offset(0)

    def _list_faults(self, seconds: float) -> Sequence[Callable[[], Awaitable[None]]]:
        deeds: list[Callable[[], Awaitable[None]]] = [
            self.kill_process,
            self.kill_process,
            self.cut_database_connection,
            self.stall_database_connection,
            self.restart_database,
            self.skew_clock,
        ]
        if self._cluster.processes[0].machine.cable:
            deeds += [
                partial(self.disconnect_machine, each) for each in (SHORT_CUT_S, LONG_CUT_S) if each[1] < seconds / 2
            ]
        return deeds + [partial(self.fill_disk, what) for what in self._disks]

    def _record_event(self, words: str) -> None:
        self._journal.events.append(f"{time.monotonic() - self._journal.started_at:5.1f} {words}")

    async def kill_process(self) -> None:
        """Kill a process without notice, and start it again like a supervisor."""
        victim = self._pick_process()
        self._record_event(f"kill -9 {victim.name}")
        await anyio.to_thread.run_sync(victim.kill)
        await anyio.sleep(self._rng.uniform(0.0, 1.0))
        victim.start()
        await victim.wait_until_ready()

    async def cut_database_connection(self) -> None:
        victim = self._pick_proxied_process()
        self._record_event(f"cut {victim.name} from the database")
        victim.database_proxy.cut_connections()
        await anyio.sleep(self._rng.uniform(0.2, 2.0))
        victim.database_proxy.restore()

    async def stall_database_connection(self) -> None:
        victim = self._pick_proxied_process()
        self._record_event(f"stall {victim.name}'s wire to the database")
        victim.database_proxy.stall_connections()
        await anyio.sleep(self._rng.uniform(0.2, 2.0))
        victim.database_proxy.restore()

    async def disconnect_machine(self, seconds_range: tuple[float, float]) -> None:
        """Disconnect a machine from the network."""
        victim, seconds = self._pick_process(), self._rng.uniform(*seconds_range)
        self._record_event(f"pull {victim.name}'s cable for {seconds:.1f} s")
        await anyio.to_thread.run_sync(victim.machine.disconnect)
        await anyio.sleep(seconds)
        await anyio.to_thread.run_sync(victim.machine.reconnect)

    async def restart_database(self) -> None:
        how = self._rng.choice([signal.SIGINT, signal.SIGQUIT])
        self._record_event(f"Postgres is stopped by {how.name} and started")
        await anyio.to_thread.run_sync(self._cluster.server.stop, how)
        await anyio.to_thread.run_sync(self._cluster.server.start)

    async def skew_clock(self) -> None:
        victim, seconds = self._pick_process(), self._rng.choice(CLOCK_SKEWS_S)
        self._record_event(f"{victim.name}'s clock is {seconds:+} s from the truth")
        victim.clock.set_offset(seconds)

    async def fill_disk(self, label: str) -> None:
        """Fill up a disk, then free space and restart the database if it has ended."""
        self._record_event(f"the disk of {label} is full")
        await anyio.to_thread.run_sync(self._disks[label].fill_up)
        await anyio.sleep(self._rng.uniform(1.0, 4.0))
        self._disks[label].free_space()
        if not self._cluster.server.is_alive:
            self._record_event("Postgres has ended itself and is started")
            await anyio.to_thread.run_sync(self._cluster.server.start)

    def _pick_process(self) -> ClusterProcess:
        return self._rng.choice(self._cluster.processes)

    def _pick_proxied_process(self) -> ClusterProcess:
        return self._rng.choice([each for each in self._cluster.processes if not each.direct_database])
