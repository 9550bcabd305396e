"""Carries lines between a host and the daemon, over as many daemons as the host lives to see."""

import os
import select
import time

from outrider.relay import frames, start
from outrider.relay.hello import Hello, own
from outrider.relay.lost import answered_for, parting
from outrider.relay.places import Place, Untrusted, wanted

SIZE = 65_536
PIECE = 4_096  # a pipe that is ready takes so much at once without making us wait (POSIX, PIPE_BUF)
FULL = 1_000_000  # bytes that wait for a slow reader before we read no more
TRIES = 5  # daemons that one connection may find to be leaving
DEATHS = 2  # daemons that may die with a call under way, before it is taken for the reason
LIVES = 4  # daemons that may be lost within a minute
MINUTE = 60.0


class Alone(Exception):
    """There is no daemon for this host, and why: it is served by this process itself."""


class Ended(Exception):
    """The daemon says how this process ends: the exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Lost(Exception):
    """The daemon dies again and again, or cannot be started any more."""


class Connection:
    """One connection to one daemon.

    Attributes:
        heard: Frames that came together with the welcome.
        outgoing: What its socket has not taken yet.
        leaving: Whether this daemon takes nothing new.
    """

    def __init__(self, socket: "start.door.sockets.socket") -> None:
        self.socket = socket
        self.number = socket.fileno()
        self.reader = frames.Reader()
        self.heard: list[tuple[bytes, int, bytes]] = []
        self.outgoing = bytearray()
        self.leaving = False
        self._ends = False

    def send(self) -> None:
        """Sends what the socket takes."""
        del self.outgoing[: self.socket.send(self.outgoing[:SIZE])]
        if self._ends and not self.outgoing:
            self.socket.shutdown(start.door.sockets.SHUT_WR)

    def shut(self) -> None:
        """The host says no more: the daemon hears so once it has all that was said before."""
        self._ends = True
        if not self.outgoing:
            self.send()


class Relay:
    """One host.

    Args:
        place: Where its daemon is.
        hello: What to say there first.
        wire: The descriptors of the host's pipes.
    """

    def __init__(self, place: Place, hello: Hello, wire: tuple[int, int]) -> None:
        self._place = place
        self._hello = hello
        self._stdin, self._stdout = wire
        self._line = bytearray()
        self._count = 0
        self._ended = False  # the host says no more
        self._to_host = bytearray()
        self._now: Connection | None = None
        self._before: list[Connection] = []
        self._under_way: dict[int, tuple[bytes, Connection, int]] = {}  # and how many processes have died of it
        self._kept: dict[int, bytes] = {}
        self._losses: list[float] = []

    def run(self) -> int:
        """Serves until the host ends; the exit code. Raises Alone if there was no daemon from the beginning."""
        try:
            self._now = self._connect()
        except Ended as end:
            return end.code
        try:
            while self._now or self._before or self._to_host or not self._ended:
                self._turn()
        except BrokenPipeError:
            return 0  # the host is gone
        except Ended as end:
            self._flush()
            return end.code
        except Lost as lost:
            self._give_up(str(lost))
            return 4
        return 0

    def _turn(self) -> None:
        """Waits until something can be read or written, and does it."""
        if self._now and self._now.heard:
            now, heard = self._now, self._now.heard
            now.heard = []
            for each in heard:
                self._hear(now, *each)
        ready = self._poll()
        if ready.get(self._stdout) and self._to_host:
            self._write()
        for connection in [each for each in (*self._before, self._now) if each is not None]:
            if ready.get(connection.number):
                self._serve(connection, ready[connection.number])
        if ready.get(self._stdin) and not self._ended:
            self._read()

    def _poll(self) -> dict[int, int]:
        poll = select.poll()
        every = [each for each in (*self._before, self._now) if each is not None]
        if not self._ended and all(len(each.outgoing) < FULL for each in every):
            poll.register(self._stdin, select.POLLIN)
        if self._to_host:
            poll.register(self._stdout, select.POLLOUT)
        for each in every:
            reads = select.POLLIN if len(self._to_host) < FULL else 0
            poll.register(each.number, reads | (select.POLLOUT if each.outgoing else 0))
        return dict(poll.poll())

    # The host

    def _write(self) -> None:
        try:
            del self._to_host[: os.write(self._stdout, self._to_host[:PIECE])]
        except BlockingIOError:
            return  # it is ready for less than a piece

    def _read(self) -> None:
        try:
            piece = os.read(self._stdin, SIZE)
        except BlockingIOError:
            return
        self._line += piece
        *lines, rest = self._line.split(b"\n")
        if not piece and rest:
            lines, rest = [*lines, rest], bytearray()
        self._line = rest
        for line in lines:
            self._take(bytes(line))
        if not piece:
            self._ended = True
            for each in (*self._before, self._now):
                if each is not None:
                    each.shut()

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        self._count += 1
        places = parting(line) if self._before else (False, True)
        if places[0]:
            self._before[-1].outgoing += frames.frame(frames.LINE, line)
        if places[1]:
            self._now = self._now or self._connect()
            self._under_way[self._count] = (line, self._now, 0)
            self._now.outgoing += frames.frame(frames.LINE, line, self._count)

    # The daemon

    def _serve(self, connection: Connection, events: int) -> None:
        try:
            if events & select.POLLOUT and connection.outgoing:
                connection.send()
            if not events & ~select.POLLOUT:
                return
            piece = connection.socket.recv(SIZE)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        for kind, number, payload in connection.reader.feed(piece):
            self._hear(connection, kind, number, payload)
        if not piece:
            self._lose(connection)

    def _hear(self, connection: Connection, kind: bytes, number: int, payload: bytes) -> None:
        if kind == frames.OUTPUT:
            self._to_host += payload + b"\n"
            self._under_way.pop(number, None)
        elif kind == frames.DONE:
            self._under_way.pop(number, None)
        elif kind == frames.KEEP and number in self._under_way:
            self._kept[number] = self._under_way[number][0]
        elif kind == frames.WORDS:
            say(payload)
        elif kind == frames.EXIT:
            say(payload)
            raise Ended(number)
        elif kind in (frames.MOVE, frames.LEAVE):
            self._depart(connection, at_once=kind == frames.MOVE)

    def _depart(self, connection: Connection, *, at_once: bool) -> None:
        """The daemon takes nothing new; what is under way there it finishes, if it is not long."""
        connection.leaving = True
        connection.outgoing += frames.frame(frames.LAST)
        if connection is self._now:
            self._now = None
            self._before.append(connection)
        if at_once and not self._ended:
            self._now = self._connect()

    def _lose(self, connection: Connection) -> None:
        """The connection has ended: what it has not answered, the next daemon judges."""
        connection.socket.close()
        if connection is self._now:
            self._now = None
        if connection in self._before:
            self._before.remove(connection)
        left = [number for number, (_, at, _) in self._under_way.items() if at is connection]
        if self._ended:
            return
        if not connection.leaving:
            self._count_loss()
        if left or not connection.leaving:
            self._now = self._now or self._connect()
        for number in left:
            assert self._now is not None
            line, _, deaths = self._under_way[number]
            deaths += not connection.leaving
            self._under_way[number] = (line, self._now, deaths)
            kind = frames.RETRY if deaths < DEATHS else frames.FAILED
            self._now.outgoing += frames.frame(kind, line, number)

    def _count_loss(self) -> None:
        now = time.monotonic()
        self._losses = [each for each in self._losses if now - each < MINUTE] + [now]
        if len(self._losses) >= LIVES:
            raise Lost(f"the Outrider process has died {LIVES} times within a minute")

    def _connect(self) -> Connection:
        """A daemon that takes this host. Raises Alone for the first connection of all, Lost for later ones."""
        reason = "every daemon found was about to leave"
        for _ in range(TRIES):
            try:
                found = self._greet()
            except (OSError, Untrusted, start.NotStarted) as error:
                reason = str(error)
                break
            if found is not None:
                return found
        if self._hello.again:
            raise Lost(f"Outrider cannot be started again: {reason}")
        raise Alone(reason)

    def _greet(self) -> Connection | None:
        """A connection that was welcomed; None if the daemon is about to leave."""
        connection = Connection(start.connected(self._place))
        try:
            connection.socket.sendall(frames.frame(frames.HELLO, self._hello.packed()))
            welcome = self._first(connection)
        except TimeoutError:
            connection.socket.close()
            raise start.NotStarted("it does not answer") from None
        except OSError:
            welcome = False
        if not welcome:
            connection.socket.close()
            return None
        self._hello.again = "1"
        connection.socket.setblocking(False)
        for number, line in self._kept.items():
            connection.outgoing += frames.frame(frames.REPLAY, line, number)
        return connection

    def _first(self, connection: Connection) -> bool:
        """Reads up to the welcome; whether there was one."""
        while piece := connection.socket.recv(SIZE):
            connection.heard += connection.reader.feed(piece)
            while connection.heard:
                kind, number, payload = connection.heard.pop(0)
                if kind == frames.SESSION:
                    self._hello.session = os.fsdecode(payload)
                    return True
                if kind in (frames.MOVE, frames.LEAVE):
                    return False
                if kind == frames.ALONE:
                    raise start.NotStarted(payload.decode("utf-8", "replace"))
                self._hear(connection, kind, number, payload)
        return False

    # The end

    def _give_up(self, reason: str) -> None:
        say(f"outrider: {reason}\n".encode())
        for line, *_ in self._under_way.values():
            self._to_host += answered_for(line, reason)
        self._flush()

    def _flush(self) -> None:
        try:
            while self._to_host:
                del self._to_host[: os.write(self._stdout, self._to_host[:PIECE])]
        except OSError:
            return


def relayed(arguments: list[str], wire: tuple[int, int], version: str) -> int | None:
    """Serves the host by way of the daemon; the exit code, or None where this process must serve by itself.

    Args:
        arguments: What stands after `outrider mcp`.
        wire: The descriptors of the host's pipes; nothing of them was read if the answer is None.
        version: Of this Outrider.
    """
    try:
        hello = own(version, arguments)
        place = wanted(arguments, hello.environ, hello.home) if os.name == "posix" else None
        return Relay(place, hello, wire).run() if place else None
    except (Alone, OSError) as reason:
        say(f"outrider: this process serves alone: {reason}\n".encode())
        return None
    except KeyboardInterrupt:
        return 130


def say(text: bytes) -> None:
    """Words for a person; a host that does not read them shall not stop us."""
    poll = select.poll()
    poll.register(2, select.POLLOUT)
    try:
        if text and dict(poll.poll(0)).get(2, 0) & select.POLLOUT:
            os.write(2, text[:PIECE])
    except OSError:
        return
