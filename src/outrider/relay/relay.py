"""Carries lines between a host and the daemon, over as many daemons as the host lives to see."""

import os
import select
import time

from outrider.relay import daemon_start, frames
from outrider.relay.daemon_paths import DaemonPaths, UntrustedDaemon, find_daemon_paths
from outrider.relay.handshake import Handshake, build_handshake
from outrider.relay.line_routing import build_error_reply, route_line

READ_BYTES = 65_536
PIPE_WRITE_BYTES = 4_096  # a pipe that is ready takes so much at once without making us wait (POSIX, PIPE_BUF)


class NoDaemonAvailable(Exception):
    """There is no daemon for this host, and why: it is served by this process itself."""


class RelayExit(Exception):
    """The daemon says how this process ends: the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class DaemonLost(Exception):
    """The daemon dies again and again, or cannot be started any more."""


class DaemonConnection:
    """One connection to one daemon.

    Attributes:
        received_frames: Frames that came together with the welcome.
        outgoing: What its socket has not taken yet.
        is_leaving: Whether this daemon takes nothing new.
    """

    def __init__(self, socket: "daemon_start.daemon_socket.sockets.socket") -> None:
        self.socket = socket
        self.descriptor = socket.fileno()
        self.reader = frames.FrameReader()
        self.received_frames: list[tuple[bytes, int, bytes]] = []
        self.outgoing = bytearray()
        self.is_leaving = False
        self._is_finishing = False

    def send_pending(self) -> None:
        """Sends what the socket takes."""
        del self.outgoing[: self.socket.send(self.outgoing[:READ_BYTES])]
        if self._is_finishing and not self.outgoing:
            self.socket.shutdown(daemon_start.daemon_socket.sockets.SHUT_WR)

    def finish_sending(self) -> None:
        """The host says no more: the daemon hears so once it has all that was said before."""
        self._is_finishing = True
        if not self.outgoing:
            self.send_pending()


class Relay:
    """One host.

    Args:
        place: Where its daemon is.
        hello: What to say there first.
        wire: The descriptors of the host's pipes.
    """

    def __init__(self, place: DaemonPaths, hello: Handshake, wire: tuple[int, int]) -> None:
        self._paths = place
        self._handshake = hello
        self._stdin, self._stdout = wire
        self._partial_line = bytearray()
        self._line_count = 0
        self._has_host_ended = False  # the host says no more
        self._host_buffer = bytearray()
        self._current: DaemonConnection | None = None
        self._retiring: list[DaemonConnection] = []
        self._pending: dict[int, tuple[bytes, DaemonConnection, int]] = {}  # and how many processes have died of it
        self._replay_lines: dict[int, bytes] = {}
        self._loss_times: list[float] = []

    def run(self) -> int:
        """Serves until the host ends; the exit code. Raises Alone if there was no daemon from the beginning."""
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
            self._give_up(str(lost))
            return 4
        return 0

    def _process_events(self) -> None:
        """Waits until something can be read or written, and does it."""
        if self._current and self._current.received_frames:
            now, heard = self._current, self._current.received_frames
            now.received_frames = []
            for each in heard:
                self._handle_frame(now, *each)
        ready = self._poll_descriptors()
        if ready.get(self._stdout) and self._host_buffer:
            self._write()
        for connection in [each for each in (*self._retiring, self._current) if each is not None]:
            if ready.get(connection.descriptor):
                self._serve_connection(connection, ready[connection.descriptor])
        if ready.get(self._stdin) and not self._has_host_ended:
            self._read_from_host()

    def _poll_descriptors(self) -> dict[int, int]:
        max_buffer_bytes = 1_000_000  # bytes that wait for a slow reader before we read no more
        poll = select.poll()
        every = [each for each in (*self._retiring, self._current) if each is not None]
        if not self._has_host_ended and all(len(each.outgoing) < max_buffer_bytes for each in every):
            poll.register(self._stdin, select.POLLIN)
        if self._host_buffer:
            poll.register(self._stdout, select.POLLOUT)
        for each in every:
            reads = select.POLLIN if len(self._host_buffer) < max_buffer_bytes else 0
            poll.register(each.descriptor, reads | (select.POLLOUT if each.outgoing else 0))
        return dict(poll.poll())

    # The host

    def _write(self) -> None:
        try:
            del self._host_buffer[: os.write(self._stdout, self._host_buffer[:PIPE_WRITE_BYTES])]
        except BlockingIOError:
            return  # it is ready for less than a piece

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
            for each in (*self._retiring, self._current):
                if each is not None:
                    each.finish_sending()

    def _forward_line(self, line: bytes) -> None:
        if not line.strip():
            return
        self._line_count += 1
        places = route_line(line) if self._retiring else (False, True)
        if places[0]:
            self._retiring[-1].outgoing += frames.build_frame(frames.LINE_FRAME, line)
        if places[1]:
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
        """The daemon takes nothing new; what is under way there it finishes, if it is not long."""
        connection.is_leaving = True
        connection.outgoing += frames.build_frame(frames.LAST_REQUEST_FRAME)
        if connection is self._current:
            self._current = None
            self._retiring.append(connection)
        if at_once and not self._has_host_ended:
            self._current = self._connect_daemon()

    def _handle_loss(self, connection: DaemonConnection) -> None:
        """The connection has ended: what it has not answered, the next daemon judges."""
        max_deaths = 2  # daemons that may die with a call under way, before it is taken for the reason
        connection.socket.close()
        if connection is self._current:
            self._current = None
        if connection in self._retiring:
            self._retiring.remove(connection)
        left = [number for number, (_, at, _) in self._pending.items() if at is connection]
        if self._has_host_ended:
            return
        if not connection.is_leaving:
            self._count_loss()
        if left or not connection.is_leaving:
            self._current = self._current or self._connect_daemon()
        for number in left:
            assert self._current is not None
            line, _, deaths = self._pending[number]
            deaths += not connection.is_leaving
            self._pending[number] = (line, self._current, deaths)
            kind = frames.RETRY_FRAME if deaths < max_deaths else frames.FAILED_FRAME
            self._current.outgoing += frames.build_frame(kind, line, number)

    def _count_loss(self) -> None:
        window_s = 60.0
        max_losses = 4  # daemons that may be lost within a minute
        now = time.monotonic()
        self._loss_times = [each for each in self._loss_times if now - each < window_s] + [now]
        if len(self._loss_times) >= max_losses:
            raise DaemonLost(f"the Outrider process has died {max_losses} times within a minute")

    def _connect_daemon(self) -> DaemonConnection:
        """A daemon that takes this host. Raises Alone for the first connection of all, Lost for later ones."""
        max_attempts = 5  # daemons that one connection may find to be leaving
        reason = "every daemon found was about to leave"
        for _ in range(max_attempts):
            try:
                found = self._open_connection()
            except (OSError, UntrustedDaemon, daemon_start.DaemonNotStarted) as error:
                reason = str(error)
                break
            if found is not None:
                return found
        if self._handshake.again:
            raise DaemonLost(f"Outrider cannot be started again: {reason}")
        raise NoDaemonAvailable(reason)

    def _open_connection(self) -> DaemonConnection | None:
        """A connection that was welcomed; None if the daemon is about to leave."""
        connection = DaemonConnection(daemon_start.ensure_daemon(self._paths))
        try:
            connection.socket.sendall(frames.build_frame(frames.HANDSHAKE_FRAME, self._handshake.to_payload()))
            welcome = self._read_welcome(connection)
        except TimeoutError:
            connection.socket.close()
            raise daemon_start.DaemonNotStarted("it does not answer") from None
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
        """Reads up to the welcome; whether there was one."""
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

    def _give_up(self, reason: str) -> None:
        write_stderr(f"outrider: {reason}\n".encode())
        for line, *_ in self._pending.values():
            self._host_buffer += build_error_reply(line, reason)
        self._flush_to_host()

    def _flush_to_host(self) -> None:
        try:
            while self._host_buffer:
                del self._host_buffer[: os.write(self._stdout, self._host_buffer[:PIPE_WRITE_BYTES])]
        except OSError:
            return


def run_relay(arguments: list[str], wire: tuple[int, int], version: str) -> int | None:
    """Serves the host by way of the daemon; the exit code, or None where this process must serve by itself.

    Args:
        arguments: What stands after `outrider mcp`.
        wire: The descriptors of the host's pipes; nothing of them was read if the answer is None.
        version: Of this Outrider.
    """
    try:
        hello = build_handshake(version, arguments)
        place = find_daemon_paths(arguments, hello.environ, hello.home) if os.name == "posix" else None
        return Relay(place, hello, wire).run() if place else None
    except (NoDaemonAvailable, OSError) as reason:
        write_stderr(f"outrider: this process serves alone: {reason}\n".encode())
        return None
    except KeyboardInterrupt:
        return 130


def write_stderr(text: bytes) -> None:
    """Words for a person; a host that does not read them shall not stop us."""
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    try:
        if text and dict(poll.poll(0)).get(2, 0) & select.POLLOUT:
            os.write(2, text[:PIPE_WRITE_BYTES])
    except OSError:
        return
