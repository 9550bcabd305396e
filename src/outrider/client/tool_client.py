"""A client of the shared process that speaks MCP as JSON lines."""

from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from outrider.client.server_connection import ServerConnection, build_form_answer, read_response

# Takes a question and the JSON schema of its answer; returns the answer, or None if the person declines.
QuestionAnswerer = Callable[[str, dict[str, Any]], dict[str, Any] | None]
# Takes the amount done, the total if known, and a message.
ProgressListener = Callable[[float, float | None, str], object]


class ToolClient:
    """A connection to the shared process, which is started if it does not run.

    Args:
        session: The session of the calls; empty takes that of the working directory, which stays open afterwards.
        options: Further options of `outrider mcp`.
        answer_question: Asks the person at this terminal; None if there is none. It runs in the thread that calls.
    """

    def __init__(
        self, session: str = "", options: tuple[str, ...] = (), answer_question: QuestionAnswerer | None = None
    ) -> None:
        self._connection = ServerConnection(session, options, can_answer=answer_question is not None)
        self._answer_question = answer_question

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection. A named or joined session stays open."""
        self._connection.close()

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the offered tools as MCP describes them. Raises ConnectionEnded."""
        return self.request("tools/list", {})["tools"]

    def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and return its result as MCP describes it. Raises UnknownTool and ConnectionEnded."""
        return self.request("tools/call", {"name": name, "arguments": arguments})

    def request(
        self, method: str, params: dict[str, Any], on_progress: ProgressListener | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises UnknownTool and ConnectionEnded."""
        inbox: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        number = self._connection.send_request(method, params, inbox.put, wants_progress=on_progress is not None)
        try:
            while (message := inbox.get()) is not None and "method" in message:
                form = message["params"]
                if message["method"] != "elicitation/create":
                    if on_progress is not None:
                        on_progress(form["progress"], form.get("total"), form.get("message", ""))
                else:
                    answer = self._answer_question or (lambda *_: None)
                    content = answer(form["message"], form["requestedSchema"])
                    self._connection.send(build_form_answer(message, content))
        except BaseException:
            self._connection.cancel_request(number)
            raise
        return read_response(message)
