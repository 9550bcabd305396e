"""Something that happened in a run."""

from dataclasses import dataclass
from typing import Any, Literal

EventKind = Literal["thinking", "text", "tool_started", "tool_ended", "question", "status", "usage"]
DELTA_KINDS = frozenset({"thinking", "text"})


@dataclass(frozen=True)
class RunEvent:
    """One event.

    `data` by kind: thinking and text `{text, step}`; tool_started `{call_id, tool, title, arguments, step}`; tool_ended
    `{call_id, tool, outcome, seconds, text, sources}`; question `{id, call_id, tool, message}`; usage what was used;
    status `{status, attempt}`, at the end with `stop_reason`, and `{restarted: step}` where the text of a step is void
    because its request was made again.
    """

    run_id: str
    seq: int
    at: float
    kind: EventKind
    data: dict[str, Any]
