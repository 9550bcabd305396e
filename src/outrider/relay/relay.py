"""Forward lines between host and daemon, and switch to new daemons."""

import os
import select
import time

from outrider.relay import daemon_start, frames
from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon, find_daemon_paths
from outrider.relay.handshake import Handshake, build_handshake

READ_BYTES = 65_536
PIPE_WRITE_BYTES = 4_096  # a pipe that is ready accepts this much without blocking (POSIX, PIPE_BUF)


class NoDaemonAvailable(Exception):
    """No daemon serves this host, so this process must; the message says why."""


class RelayExit(Exception):
    """The daemon asks this process to end with an exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class DaemonLost(Exception):
    """The daemon dies repeatedly, or can no longer be started."""


class DaemonConnection:
    """A connection to one daemon.

    Attributes:
        received_frames: Frames that arrived together with the welcome.
        outgoing: Bytes that the socket has not accepted yet.
        is_leaving: Whether the daemon accepts no new requests.
    """

    def __init__(self, socket: "daemon_start.daemon_socket.sockets.socket") -> None:
        self.socket = socket
        self.descriptor = socket.fileno()
        self.reader = frames.FrameReader()
        self.received_frames: list[tuple[bytes, int, bytes]] = []
        self.outgoing = bytearray()
        self.is_leaving = False

    def send_pending(self) -> None:
        """Send as much as the socket accepts."""
        del self.outgoing[: self.socket.send(self.outgoing[:READ_BYTES])]


class Relay:
    """Forwards the lines of one host.

    Args:
        paths: The files of its daemon.
        handshake: The first message to the daemon.
        pipes: The descriptors of the host's pipes.
    """

    def __init__(self, paths: DaemonPaths, handshake: Handshake, pipes: tuple[int, int]) -> None:
        self._paths = paths
        self._handshake = handshake
        self._stdin, self._stdout = pipes
        self._partial_line = bytearray()
        self._line_count = 0
        self._has_host_ended = False
        self._host_buffer = bytearray()
        self._current: DaemonConnection | None = None
        self._retiring: list[DaemonConnection] = []
        # By number: the line, the connection that has it, and how many daemons have died with it.
        self._pending: dict[int, tuple[bytes, DaemonConnection, int]] = {}
        self._replay_lines: dict[int, bytes] = {}
        self._loss_times: list[float] = []

    @property
    def _connections(self) -> list[DaemonConnection]:
        return [*self._retiring, self._current] if self._current else [*self._retiring]

    def run(self) -> int:
        """Forward lines until the host ends, and return the exit code.

        Raises NoDaemonAvailable if the first connection fails.
        """
        try:
            self._current = self._connect_daemon()
        except RelayExit as end:
            return end.code
        try:
            while self._current or self._retiring or self._host_buffer or not self._has_host_ended:
                self._process_events()
        except BrokenPipeError:
            return 0  # the host is gone
        except RelayExit as end:
            self._flush_to_host()
            return end.code
        except DaemonLost as lost:
            write_stderr(f"outrider: {lost}\n".encode())
            for line, *_ in self._pending.values():
                self._host_buffer += build_error_reply(line, str(lost))
            self._flush_to_host()
            return 4
        return 0

    def _process_events(self) -> None:
        """Wait until a descriptor is ready, and read or write there."""
        if self._current and self._current.received_frames:
            connection, early_frames = self._current, self._current.received_frames
            connection.received_frames = []
            for frame in early_frames:
                self._handle_frame(connection, *frame)
        ready = self._poll_descriptors()
        if ready.get(self._stdout):
            self._write_to_host()
        for connection in self._connections:
            if ready.get(connection.descriptor):
                self._serve_connection(connection, ready[connection.descriptor])
        if ready.get(self._stdin) and not self._has_host_ended:
            self._read_from_host()

    def _poll_descriptors(self) -> dict[int, int]:
        max_buffer_bytes = 1_000_000  # while more waits for a slow reader, its sender is not read
        poll = select.poll()
        if not self._has_host_ended and all(len(each.outgoing) < max_buffer_bytes for each in self._connections):
            poll.register(self._stdin, select.POLLIN)
        if self._host_buffer or self._has_host_ended:
            poll.register(self._stdout, select.POLLOUT if self._host_buffer else 0)
        for connection in self._connections:
            reads = select.POLLIN if len(self._host_buffer) < max_buffer_bytes else 0
            poll.register(connection.descriptor, reads | (select.POLLOUT if connection.outgoing else 0))
        return dict(poll.poll())

    # The host

    def _read_from_host(self) -> None:
        try:
            piece = os.read(self._stdin, READ_BYTES)
        except BlockingIOError:
            return
        self._partial_line += piece
        *lines, rest = self._partial_line.split(b"\n")
        if not piece and rest:
            lines, rest = [*lines, rest], bytearray()
        self._partial_line = rest
        for line in lines:
            self._forward_line(bytes(line))
        if not piece:
            self._has_host_ended = True
            for connection in self._connections:
                connection.outgoing += frames.build_frame(frames.END_FRAME)

    def _write_to_host(self) -> None:
        if not self._host_buffer:
            raise BrokenPipeError  # the host has closed its input, and reads no answers either
        try:
            del self._host_buffer[: os.write(self._stdout, self._host_buffer[:PIPE_WRITE_BYTES])]
        except BlockingIOError:
            pass  # the pipe is ready for less

    def _forward_line(self, line: bytes) -> None:
        if not line.strip():
            return
        self._line_count += 1
        to_retiring, to_current = route_line(line) if self._retiring else (False, True)
        if to_retiring:
            self._retiring[-1].outgoing += frames.build_frame(frames.LINE_FRAME, line)
        if to_current:
            self._current = self._current or self._connect_daemon()
            self._pending[self._line_count] = (line, self._current, 0)
            self._current.outgoing += frames.build_frame(frames.LINE_FRAME, line, self._line_count)

    # The daemon

    def _serve_connection(self, connection: DaemonConnection, events: int) -> None:
        try:
            if events & select.POLLOUT and connection.outgoing:
                connection.send_pending()
            if not events & ~select.POLLOUT:
                return
            piece = connection.socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        for kind, number, payload in connection.reader.feed(piece):
            self._handle_frame(connection, kind, number, payload)
        if not piece:
            self._handle_loss(connection)

    def _handle_frame(self, connection: DaemonConnection, kind: bytes, number: int, payload: bytes) -> None:
        if kind == frames.OUTPUT_FRAME:
            self._host_buffer += payload + b"\n"
            self._pending.pop(number, None)
        elif kind == frames.DONE_FRAME:
            self._pending.pop(number, None)
        elif kind == frames.KEEP_FRAME and number in self._pending:
            self._replay_lines[number] = self._pending[number][0]
        elif kind == frames.STDERR_FRAME:
            write_stderr(payload)
        elif kind == frames.EXIT_FRAME:
            write_stderr(payload)
            raise RelayExit(number)
        elif kind in (frames.MOVE_FRAME, frames.LEAVE_FRAME):
            self._retire_connection(connection, at_once=kind == frames.MOVE_FRAME)

    def _retire_connection(self, connection: DaemonConnection, *, at_once: bool) -> None:
        """Send nothing new to the daemon, which finishes its pending requests if they are short."""
        connection.is_leaving = True
        connection.outgoing += frames.build_frame(frames.LAST_REQUEST_FRAME)
        if connection is self._current:
            self._current = None
            self._retiring.append(connection)
        if at_once and not self._has_host_ended:
            self._current = self._connect_daemon()

    def _handle_loss(self, connection: DaemonConnection) -> None:
        """Hand the lines that a lost connection has not answered to the next daemon."""
        max_losses_per_minute = 4
        max_deaths = 2  # then the line is taken for the cause of the deaths
        connection.socket.close()
        if connection is self._current:
            self._current = None
        if connection in self._retiring:
            self._retiring.remove(connection)
        unanswered = [number for number, (_, holder, _) in self._pending.items() if holder is connection]
        if self._has_host_ended:
            return
        if not connection.is_leaving:
            now = time.monotonic()
            self._loss_times = [lost_at for lost_at in self._loss_times if now - lost_at < 60.0] + [now]
            if len(self._loss_times) >= max_losses_per_minute:
                raise DaemonLost(f"the Outrider process has died {max_losses_per_minute} times within a minute")
        if unanswered or not connection.is_leaving:
            self._current = self._current or self._connect_daemon()
        for number in unanswered:
            assert self._current is not None
            line, _, deaths = self._pending[number]
            deaths += not connection.is_leaving
            self._pending[number] = (line, self._current, deaths)
            kind = frames.RETRY_FRAME if deaths < max_deaths else frames.FAILED_FRAME
            self._current.outgoing += frames.build_frame(kind, line, number)

    def _connect_daemon(self) -> DaemonConnection:
        """Connect to a daemon that accepts this host.

        Raises NoDaemonAvailable for the host's first connection, DaemonLost for later ones.
        """
        max_attempts = 5
        reason = "every daemon was about to stop"
        for _ in range(max_attempts):
            try:
                connection = self._open_connection()
            except (OSError, UntrustedDaemon, daemon_start.DaemonNotStarted) as error:
                reason = str(error)
                break
            if connection is not None:
                return connection
        if self._handshake.again:
            raise DaemonLost(f"Outrider cannot be started again: {reason}")
        raise NoDaemonAvailable(reason)

    def _open_connection(self) -> DaemonConnection | None:
        """Connect and exchange the handshake; return None if the daemon is about to stop."""
        connection = DaemonConnection(daemon_start.ensure_daemon(self._paths))
        try:
            connection.socket.sendall(frames.build_frame(frames.HANDSHAKE_FRAME, self._handshake.to_payload()))
            welcome = self._read_welcome(connection)
        except TimeoutError:
            connection.socket.close()
            raise daemon_start.DaemonNotStarted("it does not answer") from None
        except (RelayExit, daemon_start.DaemonNotStarted):
            connection.socket.close()
            raise
        except OSError:
            welcome = False
        if not welcome:
            connection.socket.close()
            return None
        self._handshake.again = "1"
        connection.socket.setblocking(False)
        for number, line in self._replay_lines.items():
            connection.outgoing += frames.build_frame(frames.REPLAY_FRAME, line, number)
        return connection

    def _read_welcome(self, connection: DaemonConnection) -> bool:
        """Read until the welcome, and return whether there was one."""
        while piece := connection.socket.recv(READ_BYTES):
            connection.received_frames += connection.reader.feed(piece)
            while connection.received_frames:
                kind, number, payload = connection.received_frames.pop(0)
                if kind == frames.WELCOME_FRAME:
                    self._handshake.session = os.fsdecode(payload)
                    return True
                if kind in (frames.MOVE_FRAME, frames.LEAVE_FRAME):
                    return False
                if kind == frames.REJECT_FRAME:
                    raise daemon_start.DaemonNotStarted(payload.decode("utf-8", "replace"))
                self._handle_frame(connection, kind, number, payload)
        return False

    # The end

    def _flush_to_host(self) -> None:
        try:
            while self._host_buffer:
                del self._host_buffer[: os.write(self._stdout, self._host_buffer[:PIPE_WRITE_BYTES])]
        except OSError:
            return


def run_relay(arguments: list[str], pipes: tuple[int, int], version: str) -> int | None:
    """Serve the host through the daemon, and return the exit code.

    Args:
        arguments: The arguments after `outrider mcp`.
        pipes: The descriptors of the host's pipes.
        version: Version of this Outrider.

    Returns:
        The exit code, or None if this process must serve the host itself; nothing was read from the pipes then.
    """
    try:
        handshake = build_handshake(version, arguments)
        paths = find_daemon_paths(arguments, handshake.environ, handshake.home) if os.name == "posix" else None
        return Relay(paths, handshake, pipes).run() if paths else None
    except (NoDaemonAvailable, OSError) as reason:
        write_stderr(f"outrider: this process serves alone: {reason}\n".encode())
        return None
    except KeyboardInterrupt:
        return 130


def write_stderr(text: bytes) -> None:
    """Write a message for people without blocking.

    A host that does not read it would block us otherwise.
    """
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    try:
        if text and dict(poll.poll(0)).get(2, 0) & select.POLLOUT:
            os.write(2, text[:PIPE_WRITE_BYTES])
    except OSError:
        return


def route_line(line: bytes) -> tuple[bool, bool]:
    """Return whether a line goes to the leaving daemon, and whether it goes to the new one.

    Responses go to the leaving daemon, because it still has requests open; a cancellation may concern either.
    """
    message = _parse_message(line)
    method = message.get("method")
    if method is None:
        return True, False
    return method == "notifications/cancelled", True


def build_error_reply(line: bytes, reason: str) -> bytes:
    """Return an error line for a request that will no longer be answered; empty for other messages."""
    import json

    message = _parse_message(line)
    if "method" not in message or message.get("id") is None:
        return b""
    error = {"code": -32000, "message": f"{reason}; restart the server, then try again"}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode() + b"\n"


def _parse_message(line: bytes) -> dict[str, object]:
    import json

    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
