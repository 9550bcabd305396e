"""A connection to a tool server that can have several pending requests."""

import os
import sys
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from outrider import __version__
from outrider.relay.relay import run_relay

if TYPE_CHECKING:
    import subprocess
import itertools
import json
from collections.abc import Callable
from typing import Any

PROTOCOL_VERSION = "2025-11-25"
METHOD_NOT_FOUND = -32601
# Receives the messages for a request: questions and progress, then the response; None when the server has ended.
Inbox = Callable[[dict[str, Any] | None], object]


class ConnectionEnded(Exception):
    """The server ended before it had answered."""

    def __init__(self) -> None:
        hint = "the reason is on standard error, or in the log that `outrider daemon status` names"
        super().__init__(f"the Outrider process ended before it answered; {hint}")


class UnknownTool(Exception):
    """No such tool is offered; the message names the nearest."""


class ServerConnection:
    """Exchanges messages with the shared process; its methods may be called in any thread.

    Args:
        session: The session of the calls; empty takes that of the working directory, which stays open afterwards.
        options: Further options of `outrider mcp`.
        can_answer: Whether a person can be asked.
    """

    def __init__(self, session: str, options: tuple[str, ...], *, can_answer: bool) -> None:
        session_options = ["--session", session] if session else ["--join"]
        self._pipes = ServerPipes([*session_options, *options])
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._inboxes: dict[int, Inbox] = {}
        self._has_ended = False
        # Its answer is not waited for: the first call follows at once.
        self.send_request(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "capabilities": {"elicitation": {}} if can_answer else {},
                "clientInfo": {"name": "outrider", "version": __version__},
            },
            lambda _: None,
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        threading.Thread(target=self._read_messages, daemon=True).start()

    def close(self) -> None:
        """End the connection. A named or joined session stays open."""
        self._pipes.close()

    def send_request(self, method: str, params: dict[str, Any], inbox: Inbox, *, wants_progress: bool = False) -> int:
        """Send a request and return its number; `inbox` is called in another thread."""
        with self._lock:
            number = next(self._numbers)
            if not self._has_ended:
                self._inboxes[number] = inbox
        if self._has_ended:
            inbox(None)
        elif wants_progress:
            params = params | {"_meta": {"progressToken": number}}
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def cancel_request(self, number: int) -> None:
        """Ask the server to cancel a request."""
        if self._inboxes.pop(number, None) is not None:
            self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message. If the server has ended, the inboxes are notified, and no error is raised."""
        with self._lock:
            try:
                self._pipes.outgoing.write(json.dumps(message).encode() + b"\n")
                self._pipes.outgoing.flush()
            except (BrokenPipeError, ValueError):  # the other end, or this one, is closed
                pass

    def _read_messages(self) -> None:
        with self._pipes.incoming as incoming:
            for line in incoming:
                self._route_message(json.loads(line))
        with self._lock:
            self._has_ended = True
            inboxes, self._inboxes = list(self._inboxes.values()), {}
        for inbox in inboxes:
            inbox(None)

    def _route_message(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            inbox = self._inboxes.pop(message.get("id", 0), None)
        elif method == "notifications/progress":
            inbox = self._inboxes.get(message["params"]["progressToken"])
        elif method == "elicitation/create":
            # Over pipes a question does not name its call, so the longest waiting call asks it.
            inbox = next(iter(self._inboxes.values()), None)
            if inbox is None:
                self.send(build_form_answer(message, None))
        else:
            inbox = None
            if "id" in message:  # other notifications are ignored
                error = {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}
                answer = {"result": {}} if method == "ping" else {"error": error}
                self.send({"jsonrpc": "2.0", "id": message["id"]} | answer)
        if inbox is not None:
            inbox(message)


def read_response(message: dict[str, Any] | None) -> dict[str, Any]:
    """Return the result in a response. Raises UnknownTool and ConnectionEnded."""
    if message is None:
        raise ConnectionEnded
    if "error" in message:
        raise UnknownTool(message["error"]["message"])
    return message["result"]


def build_form_answer(question: dict[str, Any], content: dict[str, Any] | None) -> dict[str, Any]:
    """Return the message that answers a question; without content the person has declined."""
    result = {"action": "decline"} if content is None else {"action": "accept", "content": content}
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


class ServerPipes:
    """The two ends of the pipes, and the thread that serves them.

    Args:
        arguments: As after `outrider mcp`.

    Attributes:
        outgoing: Takes one message per line.
        incoming: Yields one message per line.
    """

    def __init__(self, arguments: list[str]) -> None:
        request_end, write_end = os.pipe()
        read_end, answer_end = os.pipe()
        self.outgoing: IO[bytes] = os.fdopen(write_end, "wb")
        self.incoming: IO[bytes] = os.fdopen(read_end, "rb")
        self._own_server: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._serve, args=(arguments, request_end, answer_end), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the connection, and with it the server if it is ours."""
        with suppress(OSError):
            self.outgoing.close()
        self._thread.join(timeout=5.0)
        if self._own_server is not None:
            self._own_server.terminate()

    def _serve(self, arguments: list[str], request_end: int, answer_end: int) -> None:
        try:
            if run_relay(arguments, (request_end, answer_end), __version__) is None:
                import subprocess  # slower to import than everything else here

                command = [sys.executable, "-m", "outrider", "mcp", "--no-daemon", *arguments]
                self._own_server = subprocess.Popen(command, stdin=request_end, stdout=answer_end)  # noqa: S603
                os.close(request_end)
                request_end = -1
                self._own_server.wait()
        finally:
            for descriptor in (request_end, answer_end):
                if descriptor >= 0:
                    os.close(descriptor)
