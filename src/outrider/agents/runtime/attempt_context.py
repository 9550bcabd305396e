"""State and services of one attempt at a run."""

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
    """Makes the model request of a number once; later calls, in any process, return its saved result."""

    def __call__(
        self, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> Awaitable[dict[str, Any]]: ...


@dataclass
class AttemptContext:
    """Everything that one attempt needs.

    Attributes:
        run: The run.
        chain: The models to ask, each the fallback for the one before.
        guard: Checks the requests to models.
        state_cipher: Encrypts private arguments.
        executor: Executes the tool calls.
        event_writer: Publishes the events.
        meter: Compares usage with the budgets.
        request_once: Makes requests to models durable.
        sum_descendant_usage: Returns the usage of all runs below this one.
        texts: The model's text of each step, by the number of the request.
        thinking: The model's thinking of each step, by the number of the request.
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
        """The model's last text that is not empty."""
        return next((text.strip() for _, text in sorted(self.texts.items(), reverse=True) if text.strip()), "")

    @property
    def thoughts(self) -> str:
        """All thinking of the run, including earlier attempts."""
        earlier = [self.run.thoughts] if self.run.thoughts else []
        return "\n\n".join([*earlier, *(text.strip() for _, text in sorted(self.thinking.items()) if text.strip())])
