"""A browser's protocol without a browser: what is sent is kept, and answered with nothing; events are played."""

import json
from collections.abc import Callable
from typing import Any


class Wire:
    """A transport for `Connection`.

    Attributes:
        sent: The commands, in order.
        answering: Whether they are answered at once.
        heard: Is told each command; plays the browser.
    """

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.answering = True
        self.heard: Callable[[dict[str, Any]], None] = lambda _: None
        self._received: Callable[[bytes], None] = lambda _: None

    def start(self, received: Callable[[bytes], None], lost: Callable[[str], None]) -> None:
        self._received = received

    def send(self, message: bytes) -> None:
        self.sent.append(json.loads(message))
        if self.answering:
            self.answer(self.sent[-1])
        self.heard(self.sent[-1])

    def answer(self, command: dict[str, Any]) -> None:
        """Answers a command with an empty result."""
        self._say({"id": command["id"], "result": {}}, command.get("sessionId"))

    def event(self, session: str, method: str, **params: Any) -> None:
        """Something happens in a target."""
        self._say({"method": method, "params": params}, session)

    def _say(self, message: dict[str, Any], session: str | None) -> None:
        self._received(json.dumps(message | ({"sessionId": session} if session else {})).encode())

    def inputs(self, *names: str) -> list[tuple[Any, ...]]:
        """These parameters of what was sent as input."""
        given = [each["params"] for each in self.sent if each["method"].startswith("Input.")]
        return [tuple(params.get(name) for name in names) for params in given]

    async def aclose(self) -> None:
        """Nothing to close."""
