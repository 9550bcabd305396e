"""What an agent is asked to do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outrider.agents.definition import Budgets


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """What a run is for, and with what.

    Attributes:
        query: What is asked.
        toolsets: Further toolsets for this run, and other MCP servers by their names.
        files: What comes with the question, each with `id` and `title`.
        budget: What the caller allows; the agent's own and the house's budgets hold besides.
        message_id: The message that it answers; posted when the run begins if there is none yet.
    """

    query: str
    toolsets: Sequence[str] = ()
    files: Sequence[dict[str, Any]] = ()
    budget: Budgets | None = None
    message_id: str = ""
