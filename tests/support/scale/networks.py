"""Machines of a network of this machine's own: each process in a namespace, on a cable that can be pulled.

What is cut here is what a pulled cable cuts: nobody is told, packets are gone. It takes root; without, a cluster has
only its proxies (`scale_wires`), which end connections or hold their bytes back.
"""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

NEEDED = ("ip", "unshare", "nsenter")
RANGES = ("10.99", "198.18")  # private (RFC 1918), and of test networks (RFC 2544)
ARRIVES = 10.0  # seconds in which a packet does, or never
THERE = """
import socket, sys
host, gate, port = sys.argv[1:]
with socket.create_server((host, 0)) as server:
    with socket.create_connection((gate, int(port))) as client:
        client.sendall(str(server.getsockname()[1]).encode())
        server.accept()
"""


@dataclass(frozen=True)
class Place:
    """Where a process is.

    Attributes:
        host: Its address.
        prefix: What its command begins with, so that it runs there.
        cable: The end of its cable on our side; empty where there is none to be pulled.
    """

    host: str = "127.0.0.1"
    prefix: tuple[str, ...] = ()
    cable: str = ""

    def cut(self) -> None:
        """Nothing arrives any more on either side, and nobody is told, until `mend`."""
        _do("ip", "link", "set", self.cable, "down")

    def mend(self) -> None:
        _do("ip", "link", "set", self.cable, "up")


@dataclass
class Network:
    """A switch with cables to machines.

    Attributes:
        gate: Our own address on it; without a network that is loopback's.
    """

    gate: str = "127.0.0.1"
    switch: str = ""
    _stack: ExitStack = field(default_factory=ExitStack)
    _count: int = 1

    def place(self) -> Place:
        """One more machine."""
        if not self.switch:
            return Place()
        self._count += 1
        number, cable = self._count, f"{self.switch}v{self._count}"
        holder = self._stack.enter_context(_namespace())
        address = f"{self.gate.rpartition('.')[0]}.{number}"
        inside = ("nsenter", f"--net=/proc/{holder}/ns/net", "--")
        _do("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", str(holder))
        _do("ip", "link", "set", cable, "master", self.switch, "up")
        for command in ("link set lo up", f"address add {address}/24 dev eth0", "link set eth0 up"):
            _do(*inside, "ip", *command.split())
        return Place(address, inside, cable)


@contextmanager
def network() -> Generator[Network]:
    """A network, or loopback alone where this user may make none or its packets do not arrive."""
    missing = [each for each in NEEDED if shutil.which(each) is None]
    why = "it takes root" if os.geteuid() else f"{', '.join(missing)} is not installed" if missing else ""
    with ExitStack() as stack:
        for range_ in () if why else RANGES:
            attempt = stack.enter_context(ExitStack())
            try:
                net = attempt.enter_context(_switched(f"{range_}.{os.getpid() % 200 + 20}.1"))
                _try_out(net)
            except (subprocess.CalledProcessError, OSError) as error:
                said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
                why += f"{'; ' if why else ''}{range_}.x: {said}"
                attempt.close()
                continue
            yield net
            return
        print(f"NOT TRIED: network namespaces ({why}); wires are cut and stalled by proxies alone")
        yield Network()


@contextmanager
def _switched(gate: str) -> Generator[Network]:
    switch = f"or{os.getpid() % 100_000}"
    _do("ip", "link", "add", switch, "type", "bridge")
    with ExitStack() as stack:
        stack.callback(_do, "ip", "link", "delete", switch)
        _do("ip", "address", "add", f"{gate}/24", "dev", switch)
        _do("ip", "link", "set", switch, "up")
        yield Network(gate, switch, stack.enter_context(ExitStack()))


def _try_out(net: Network) -> None:
    """Connects there and back; firewalls and foreign routes let a network be made through which nothing passes.

    Raises:
        OSError: Nothing arrived.
    """
    place = net.place()
    with socket.create_server((net.gate, 0)) as ours:
        ours.settimeout(ARRIVES)
        command = [*place.prefix, sys.executable, "-Sc", THERE, place.host, *map(str, ours.getsockname())]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as there:
            try:
                theirs, _ = ours.accept()
                with theirs:
                    theirs.settimeout(ARRIVES)
                    port = theirs.recv(9)
                    socket.create_connection((place.host, int(port or 0)), ARRIVES).close()
            finally:
                there.kill()


@contextmanager
def _namespace() -> Generator[int]:
    """A network namespace that lives as long as this process; the id of who holds it."""
    ours = Path("/proc/self/ns/net").readlink()
    with subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) as holder:
        assert holder.stdin
        try:
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == ours:
                os.sched_yield()
            yield holder.pid
        finally:
            holder.stdin.close()  # cat ends


def _do(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
