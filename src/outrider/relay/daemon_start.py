"""Start a single daemon, even if several hosts start at once."""

import os
import select
import sys

from outrider.relay import daemon_socket
from outrider.relay.child_environment import DESKTOP_PREFIXES, select_child_environment
from outrider.relay.daemon_paths import DaemonPaths


class DaemonNotStarted(Exception):
    """The daemon did not start; the message says why."""


def ensure_daemon(paths: DaemonPaths) -> "daemon_socket.sockets.socket":
    """Connect to the daemon, and start it if necessary. Raises DaemonNotStarted, UntrustedDaemon and OSError."""
    try:
        return daemon_socket.connect_daemon(paths)
    except daemon_socket.DaemonUnreachable:
        pass
    import fcntl

    paths.create_run_dir()
    lock = os.open(paths.start_lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a second relay waits here until the first has started the daemon
        try:
            return daemon_socket.connect_daemon(paths)
        except daemon_socket.DaemonUnreachable:
            start_daemon(paths)
        return daemon_socket.connect_daemon(paths)
    except daemon_socket.DaemonUnreachable:
        raise DaemonNotStarted("it does not answer") from None
    finally:
        os.close(lock)


def start_daemon(paths: DaemonPaths) -> None:
    """Start a daemon and wait until it listens. Raises DaemonNotStarted."""
    if not sys.executable:
        raise DaemonNotStarted("no Python program was found to start it with")
    ready_end, daemon_end = os.pipe()
    try:
        os.set_inheritable(daemon_end, True)
        null_streams = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
        null_streams += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        command = [sys.executable, "-P", "-m", "outrider", "daemon", "run", paths.data_dir, str(daemon_end)]
        # Settings and keys in the environment are each host's own: the daemon must not inherit them. It needs what
        # libraries read there themselves: Python, libpq, telemetry, Playwright's browsers, numpy's threads.
        library_prefixes = ("PYTHON", "VIRTUAL_ENV", "PG", "OTEL_", "PLAYWRIGHT_", "OPENBLAS_", "OMP_", "MALLOC_")
        environ = select_child_environment(dict(os.environ), *DESKTOP_PREFIXES, *library_prefixes)
        child = os.posix_spawn(sys.executable, command, environ, file_actions=null_streams)
        os.close(daemon_end)
        daemon_end = -1
        os.waitpid(child, 0)  # the child forks the daemon, and ends
        _wait_until_ready(ready_end)
    finally:
        os.close(ready_end)
        if daemon_end >= 0:
            os.close(daemon_end)


def _wait_until_ready(ready_end: int) -> None:
    """Read `ready`, or the reason why the daemon ends."""
    timeout_s = 60.0  # a start may take long on a busy machine
    message = b""
    while not message.endswith(b"\n"):
        if not select.select([ready_end], [], [], timeout_s)[0]:
            raise DaemonNotStarted(f"it did not start to listen within {timeout_s:.0f} seconds")
        piece = os.read(ready_end, 4_096)
        if not piece:
            break
        message += piece
    if message != b"ready\n":
        raise DaemonNotStarted(message.decode("utf-8", "replace").strip() or "it ended at once")
