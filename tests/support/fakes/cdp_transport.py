"""A browser's protocol without a browser: what is sent is kept, and answered with nothing; events are played."""

import json
from collections.abc import Callable
from typing import Any


class FakeCdpTransport:
    """A transport for `Connection`.

    Attributes:
        sent: The commands, in order.
        is_replying: Whether they are answered at once.
        on_command: Is told each command; plays the browser.
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
        """Answers a command with an empty result."""
        self._deliver_message({"id": command["id"], "result": {}}, command.get("sessionId"))

    def send_event(self, session: str, method: str, **params: Any) -> None:
        """Something happens in a target."""
        self._deliver_message({"method": method, "params": params}, session)

    def _deliver_message(self, message: dict[str, Any], session: str | None) -> None:
        self._on_message(json.dumps(message | ({"sessionId": session} if session else {})).encode())

    def list_input_parameters(self, *names: str) -> list[tuple[Any, ...]]:
        """These parameters of what was sent as input."""
        given = [each["params"] for each in self.sent if each["method"].startswith("Input.")]
        return [tuple(params.get(name) for name in names) for params in given]

    async def aclose(self) -> None:
        """Nothing to close."""
