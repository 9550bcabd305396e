"""The task given to an agent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from outrider.agents.definition import Budgets
from outrider.agents.start_keys import StartKey


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """A task for a run.

    Attributes:
        query: The task or question.
        toolsets: Additional toolsets for this run, and other MCP servers by name.
        files: Attachments, each with `id` and `title`, and with `content` if the agent is to read its text at once.
        budget: The caller's limits, on top of those of the agent and of the settings.
        message: The user's message in the conversation, if it is not the query.
        start_key: Identifies repetitions of the request, which do not start a second run.
    """

    query: str
    toolsets: Sequence[str] = ()
    files: Sequence[dict[str, Any]] = ()
    budget: Budgets | None = None
    message: str = ""
    start_key: StartKey | None = None
