"""A client of the shared process, which speaks MCP in lines of JSON."""

import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from outrider import __version__
from outrider.client.server_pipes import ServerPipes

PROTOCOL_VERSION = "2025-11-25"
METHOD_NOT_FOUND = -32601
# Gets a question and the JSON schema of its answer; returns the answer, or None if the person declines.
QuestionAnswerer = Callable[[str, dict[str, Any]], dict[str, Any] | None]


class ConnectionEnded(Exception):
    """The server ended before it had answered."""


class UnknownTool(Exception):
    """No such tool is offered; the message names the nearest."""


class ToolClient:
    """A connection to the shared process, which is started if it does not run.

    Args:
        session: The session of the calls; empty takes that of the working directory, which stays open afterwards.
        options: Further options of `outrider mcp`.
        answer_question: Asks the person at this terminal; None if there is none.
    """

    def __init__(
        self, session: str = "", options: tuple[str, ...] = (), answer_question: QuestionAnswerer | None = None
    ) -> None:
        session_options = ["--session", session] if session else ["--join"]
        self._pipes = ServerPipes([*session_options, *options])
        self._answer_question = answer_question
        self._count = 0
        capabilities = {"elicitation": {}} if answer_question else {}
        client = {"name": "outrider", "version": __version__}
        # Its answer is not waited for: the first call follows at once.
        self._send(
            "initialize", {"protocolVersion": PROTOCOL_VERSION, "capabilities": capabilities, "clientInfo": client}
        )
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection. What runs in a named or joined session stays."""
        self._pipes.close()

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the offered tools as MCP describes them. Raises ConnectionEnded."""
        return self._request("tools/list", {})["tools"]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its result as MCP describes it. Raises UnknownTool and ConnectionEnded."""
        return self._request("tools/call", {"name": name, "arguments": arguments})

    def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = self._send(method, params)
        for line in self._pipes.incoming:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self._write(self._answer_request(message))
            elif message.get("id") == number:
                if "error" in message:
                    raise UnknownTool(message["error"]["message"])
                return message["result"]
        raise ConnectionEnded("the Outrider process ended before it answered; `outrider daemon status` names its log")

    def _answer_request(self, message: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if message["method"] == "ping":
            return answer | {"result": {}}
        if message["method"] != "elicitation/create" or self._answer_question is None:
            return answer | {"error": {"code": METHOD_NOT_FOUND, "message": f"no method {message['method']}"}}
        form = message["params"]
        content = self._answer_question(form["message"], form["requestedSchema"])
        result = {"action": "decline"} if content is None else {"action": "accept", "content": content}
        return answer | {"result": result}

    def _send(self, method: str, params: dict[str, Any]) -> int:
        self._count += 1
        self._write({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    def _write(self, message: dict[str, Any]) -> None:
        try:
            self._pipes.outgoing.write(json.dumps(message).encode() + b"\n")
            self._pipes.outgoing.flush()
        except BrokenPipeError:
            pass  # the reader reports that the server has ended
