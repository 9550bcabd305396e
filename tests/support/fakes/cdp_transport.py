"""A fake CDP transport: records commands, answers them with empty results, and sends events."""

import json
from collections.abc import Callable
from typing import Any


class FakeCdpTransport:
    """A transport for `Connection`.

    Attributes:
        sent: The commands, in order.
        is_replying: Whether commands are answered at once.
        on_command: Called with each command, to act as the browser.
    """

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.is_replying = True
        self.on_command: Callable[[dict[str, Any]], None] = lambda _: None
        self._on_message: Callable[[bytes], None] = lambda _: None

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        self._on_message = received

    def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))
        if self.is_replying:
            self.reply_to_command(self.sent[-1])
        self.on_command(self.sent[-1])

    def reply_to_command(self, command: dict[str, Any]) -> None:
        """Answer a command with an empty result."""
        self._deliver_message({"id": command["id"], "result": {}}, command.get("sessionId"))

    def send_event(self, session: str, method: str, **params: Any) -> None:
        """Send an event of a target."""
        self._deliver_message({"method": method, "params": params}, session)

    def _deliver_message(self, message: dict[str, Any], session: str | None) -> None:
        self._on_message(json.dumps(message | ({"sessionId": session} if session else {})).encode())

    def list_input_parameters(self, *names: str) -> list[tuple[Any, ...]]:
        """Return these parameters of the input commands."""
        given = [each["params"] for each in self.sent if each["method"].startswith("Input.")]
        return [tuple(params.get(name) for name in names) for params in given]

    async def aclose(self) -> None:
        """Do nothing."""
