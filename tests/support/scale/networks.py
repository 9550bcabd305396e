"""A network of virtual machines: each process in a network namespace that can be disconnected.

A disconnected machine loses packets without a notice, as with a pulled cable. This needs root; without it, a cluster
only has its proxies (`proxies`), which end connections or stall them.
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

REQUIRED_PROGRAMS = ("ip", "unshare", "nsenter")
ADDRESS_PREFIXES = ("10.99", "198.18")  # private (RFC 1918), and of test networks (RFC 2544)
PACKET_TIMEOUT_S = 10.0  # after which a packet is lost
PROBE_SOURCE = """
import socket, sys
host, gate, port = sys.argv[1:]
with socket.create_server((host, 0)) as server:
    with socket.create_connection((gate, int(port))) as client:
        client.sendall(str(server.getsockname()[1]).encode())
        server.accept()
"""


@dataclass(frozen=True)
class Machine:
    """The machine of a process.

    Attributes:
        host: Its address.
        command_prefix: The beginning of its command that makes it run there.
        cable: Our end of its virtual cable; empty if it cannot be disconnected.
    """

    host: str = "127.0.0.1"
    command_prefix: tuple[str, ...] = ()
    cable: str = ""

    def disconnect(self) -> None:
        """Drop all packets on both sides without a notice, until reconnected."""
        _run_command("ip", "link", "set", self.cable, "down")

    def reconnect(self) -> None:
        _run_command("ip", "link", "set", self.cable, "up")


@dataclass
class MachineNetwork:
    """A virtual switch with machines.

    Attributes:
        gateway: Our own address on it; the loopback address without a network.
    """

    gateway: str = "127.0.0.1"
    bridge: str = ""
    _stack: ExitStack = field(default_factory=ExitStack)
    _count: int = 1

    def add_machine(self) -> Machine:
        """Add a machine."""
        if not self.bridge:
            return Machine()
        self._count += 1
        number, cable = self._count, f"{self.bridge}v{self._count}"
        holder = self._stack.enter_context(_create_namespace())
        address = f"{self.gateway.rpartition('.')[0]}.{number}"
        inside = ("nsenter", f"--net=/proc/{holder}/ns/net", "--")
        _run_command("ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", str(holder))
        _run_command("ip", "link", "set", cable, "master", self.bridge, "up")
        for command in ("link set lo up", f"address add {address}/24 dev eth0", "link set eth0 up"):
            _run_command(*inside, "ip", *command.split())
        return Machine(address, inside, cable)


@contextmanager
def create_network() -> Generator[MachineNetwork]:
    """Create a network; use loopback if this user may not create one or its packets do not arrive."""
    missing = [each for each in REQUIRED_PROGRAMS if shutil.which(each) is None]
    why = "it takes root" if os.geteuid() else f"{', '.join(missing)} is not installed" if missing else ""
    with ExitStack() as stack:
        for range_ in () if why else ADDRESS_PREFIXES:
            attempt = stack.enter_context(ExitStack())
            try:
                net = attempt.enter_context(_create_bridge(f"{range_}.{os.getpid() % 200 + 20}.1"))
                _check_connectivity(net)
            except (subprocess.CalledProcessError, OSError) as error:
                said = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
                why += f"{'; ' if why else ''}{range_}.x: {said}"
                attempt.close()
                continue
            yield net
            return
        print(f"NOT TRIED: network namespaces ({why}); wires are cut and stalled by proxies alone")
        yield MachineNetwork()


@contextmanager
def _create_bridge(gateway: str) -> Generator[MachineNetwork]:
    switch = f"or{os.getpid() % 100_000}"
    _run_command("ip", "link", "add", switch, "type", "bridge")
    with ExitStack() as stack:
        stack.callback(_run_command, "ip", "link", "delete", switch)
        _run_command("ip", "address", "add", f"{gateway}/24", "dev", switch)
        _run_command("ip", "link", "set", switch, "up")
        yield MachineNetwork(gateway, switch, stack.enter_context(ExitStack()))


def _check_connectivity(net: MachineNetwork) -> None:
    """Connect in both directions, because firewalls and other routes can block a network that was created.

    Raises:
        OSError: Nothing arrived.
    """
    place = net.add_machine()
    with socket.create_server((net.gateway, 0)) as ours:
        ours.settimeout(PACKET_TIMEOUT_S)
        command = [
            *place.command_prefix,
            sys.executable,
            "-Sc",
            PROBE_SOURCE,
            place.host,
            *map(str, ours.getsockname()),
        ]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as there:
            try:
                theirs, _ = ours.accept()
                with theirs:
                    theirs.settimeout(PACKET_TIMEOUT_S)
                    port = theirs.recv(9)
                    socket.create_connection((place.host, int(port or 0)), PACKET_TIMEOUT_S).close()
            finally:
                there.kill()


@contextmanager
def _create_namespace() -> Generator[int]:
    """Create a network namespace that lives as long as this process; return the id of its holder."""
    ours = Path("/proc/self/ns/net").readlink()
    with subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE) as holder:
        assert holder.stdin
        try:
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == ours:
                os.sched_yield()
            yield holder.pid
        finally:
            holder.stdin.close()  # cat ends


def _run_command(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
