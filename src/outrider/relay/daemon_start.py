"""Starts the daemon: exactly one, however many hosts begin at the same moment."""

import os
import select
import sys

from outrider.relay import daemon_socket
from outrider.relay.daemon_paths import DaemonPaths


class DaemonNotStarted(Exception):
    """The daemon did not start, and why."""


def ensure_daemon(place: DaemonPaths) -> "daemon_socket.sockets.socket":
    """A connection to the daemon, which is started if there is none. Raises NotStarted, Untrusted and OSError."""
    try:
        return daemon_socket.connect_daemon(place)
    except daemon_socket.DaemonUnreachable:
        pass
    import fcntl

    place.create_run_dir()
    lock = os.open(place.start_lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # who comes second waits here, until the first has started it
        try:
            return daemon_socket.connect_daemon(place)
        except daemon_socket.DaemonUnreachable:
            start_daemon(place)
        return daemon_socket.connect_daemon(place)
    except daemon_socket.DaemonUnreachable:
        raise DaemonNotStarted("it does not answer") from None
    finally:
        os.close(lock)


def start_daemon(place: DaemonPaths) -> None:
    """Starts a daemon and waits until it listens. Raises NotStarted."""
    if not sys.executable:
        raise DaemonNotStarted("there is no Python program to start it with")
    ready, told = os.pipe()
    try:
        os.set_inheritable(told, True)
        nothing = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
        nothing += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        command = [sys.executable, "-P", "-m", "outrider", "daemon", "run", place.data_dir, str(told)]
        child = os.posix_spawn(sys.executable, command, _environ(), file_actions=nothing)
        os.close(told)
        told = -1
        os.waitpid(child, 0)  # it goes on as nobody's child
        _wait_until_ready(ready)
    finally:
        os.close(ready)
        if told >= 0:
            os.close(told)


def _wait_until_ready(ready: int) -> None:
    """The daemon writes `ready`, or why it ends."""
    timeout_s = 60.0  # seconds that a start may take on a busy machine
    words = b""
    while not words.endswith(b"\n"):
        if not select.select([ready], [], [], timeout_s)[0]:
            raise DaemonNotStarted(f"it did not begin to listen in {timeout_s:.0f} seconds")
        piece = os.read(ready, 4_096)
        if not piece:
            break
        words += piece
    if words != b"ready\n":
        raise DaemonNotStarted(words.decode("utf-8", "replace").strip() or "it ended at once")


def _environ() -> dict[str, str]:
    """The person's environment without the settings and keys in it: those are each host's own."""
    secret_suffixes = ("_KEY", "_TOKEN", "_SECRET")
    own = {name for name in os.environ if name.startswith("OUTRIDER_") or name.endswith(secret_suffixes)}
    return {name: os.environ[name] for name in os.environ if name not in own}
