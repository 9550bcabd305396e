"""What one attempt at a run needs, and what it has said so far."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from outrider.agents.definition import Agent
from outrider.agents.events.stream import EventWriter
from outrider.agents.limits import BudgetMeter, RunUsage
from outrider.agents.models.access import ModelAccess
from outrider.agents.run import Run
from outrider.agents.state_encryption import StateCipher
from outrider.agents.tool_executor import ToolExecutor
from outrider.core.egress.guard import EgressGuard


class RequestOnce(Protocol):
    """Makes the request of a number once: what came of it before is returned again, in any process."""

    def __call__(
        self, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> Awaitable[dict[str, Any]]: ...


@dataclass
class AttemptContext:
    """All that one attempt needs.

    Attributes:
        sum_descendant_usage: What the runs that this one began have used.
    """

    run: Run
    chain: Sequence[ModelAccess]
    guard: EgressGuard
    state_cipher: StateCipher
    executor: ToolExecutor
    event_writer: EventWriter
    meter: BudgetMeter
    request_once: RequestOnce
    sum_descendant_usage: Callable[[], Awaitable[RunUsage]]
    texts: dict[int, str] = field(default_factory=dict)
    thinking: dict[int, str] = field(default_factory=dict)

    @property
    def agent(self) -> Agent:
        return Agent.model_validate(self.run.definition)

    @property
    def last_text(self) -> str:
        """The last thing of substance that was said."""
        return next((text.strip() for _, text in sorted(self.texts.items(), reverse=True) if text.strip()), "")

    @property
    def thoughts(self) -> str:
        """All thinking, that of earlier attempts before."""
        earlier = [self.run.thoughts] if self.run.thoughts else []
        return "\n\n".join([*earlier, *(text.strip() for _, text in sorted(self.thinking.items()) if text.strip())])
