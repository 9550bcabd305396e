"""Breaks one thing of a cluster after the other, and mends what does not mend itself."""

import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio

from support.scale.cluster import Cluster, Process
from support.scale.disk import Disk
from support.scale.load import Journal

SKEWS = (-86_400, -3_600, -45, 45, 3_600, 172_800)  # seconds from the truth
SHORT, LONG = (0.5, 4.0), (26.0, 30.0)  # seconds; after the long one both ends have given the connection up


class Monkey:
    """Breaks things at random, everything once before anything twice.

    Args:
        disks: Those that can be filled, by what is on them.
    """

    def __init__(self, house: Cluster, journal: Journal, dice: random.Random, disks: dict[str, Disk]) -> None:
        self._house = house
        self._journal = journal
        self._dice = dice
        self._disks = disks

    async def rage(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        deeds = list(self._deeds(seconds))
        self._dice.shuffle(deeds)
        turn = 0
        while time.monotonic() < end:
            await deeds[turn % len(deeds)]()
            turn += 1
            await anyio.sleep(self._dice.uniform(0.5, 2.5))
        for each in self._house.processes:
            each.clock.set(0)

    def _deeds(self, seconds: float) -> Sequence[Callable[[], Awaitable[None]]]:
        deeds: list[Callable[[], Awaitable[None]]] = [
            self.kill,
            self.kill,
            self.cut,
            self.stall,
            self.restart,
            self.skew,
        ]
        if self._house.processes[0].place.cable:
            deeds += [partial(self.part, each) for each in (SHORT, LONG) if each[1] < seconds / 2]
        return deeds + [partial(self.fill, what) for what in self._disks]

    def _note(self, words: str) -> None:
        self._journal.events.append(f"{time.monotonic() - self._journal.began:5.1f} {words}")

    async def kill(self) -> None:
        """A process dies without a word, and its supervisor starts it again."""
        victim = self._any()
        self._note(f"kill -9 {victim.name}")
        await anyio.to_thread.run_sync(victim.kill)
        await anyio.sleep(self._dice.uniform(0.0, 1.0))
        victim.start()
        await victim.ready()

    async def cut(self) -> None:
        victim = self._behind_proxy()
        self._note(f"cut {victim.name} from the database")
        victim.wire.cut()
        await anyio.sleep(self._dice.uniform(0.2, 2.0))
        victim.wire.mend()

    async def stall(self) -> None:
        victim = self._behind_proxy()
        self._note(f"stall {victim.name}'s wire to the database")
        victim.wire.stall()
        await anyio.sleep(self._dice.uniform(0.2, 2.0))
        victim.wire.mend()

    async def part(self, how_long: tuple[float, float]) -> None:
        """A machine's cable is pulled."""
        victim, seconds = self._any(), self._dice.uniform(*how_long)
        self._note(f"pull {victim.name}'s cable for {seconds:.1f} s")
        await anyio.to_thread.run_sync(victim.place.cut)
        await anyio.sleep(seconds)
        await anyio.to_thread.run_sync(victim.place.mend)

    async def restart(self) -> None:
        how = self._dice.choice([signal.SIGINT, signal.SIGQUIT])
        self._note(f"Postgres is stopped by {how.name} and started")
        await anyio.to_thread.run_sync(self._house.server.stop, how)
        await anyio.to_thread.run_sync(self._house.server.start)

    async def skew(self) -> None:
        victim, seconds = self._any(), self._dice.choice(SKEWS)
        self._note(f"{victim.name}'s clock is {seconds:+} s from the truth")
        victim.clock.set(seconds)

    async def fill(self, what: str) -> None:
        """A disk is full; then somebody makes room, and starts the database if that has ended itself."""
        self._note(f"the disk of {what} is full")
        await anyio.to_thread.run_sync(self._disks[what].fill)
        await anyio.sleep(self._dice.uniform(1.0, 4.0))
        self._disks[what].clear()
        if not self._house.server.lives:
            self._note("Postgres has ended itself and is started")
            await anyio.to_thread.run_sync(self._house.server.start)

    def _any(self) -> Process:
        return self._dice.choice(self._house.processes)

    def _behind_proxy(self) -> Process:
        return self._dice.choice([each for each in self._house.processes if not each.direct])
