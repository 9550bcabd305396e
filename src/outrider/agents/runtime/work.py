"""What one attempt at a run needs, and what it has said so far."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from outrider.agents.definition import Agent
from outrider.agents.events.stream import Pen
from outrider.agents.limits import Meter, Usage
from outrider.agents.models.access import Access
from outrider.agents.run import Run
from outrider.agents.sealing import Sealing
from outrider.agents.tools import Hands
from outrider.core.egress.guard import Guard


class Remember(Protocol):
    """Makes the request of a number once: what came of it before is returned again, in any process."""

    def __call__(
        self, number: int, work: Callable[[], Awaitable[dict[str, Any]]], kind: str = "model"
    ) -> Awaitable[dict[str, Any]]: ...


@dataclass
class Attempt:
    """All that one attempt needs.

    Attributes:
        count_below: What the runs that this one began have used.
    """

    run: Run
    chain: Sequence[Access]
    guard: Guard
    sealing: Sealing
    hands: Hands
    pen: Pen
    meter: Meter
    remember: Remember
    count_below: Callable[[], Awaitable[Usage]]
    said: dict[int, str] = field(default_factory=dict)
    thought: dict[int, str] = field(default_factory=dict)

    @property
    def agent(self) -> Agent:
        return Agent.model_validate(self.run.definition)

    @property
    def partial(self) -> str:
        """The last thing of substance that was said."""
        return next((text.strip() for _, text in sorted(self.said.items(), reverse=True) if text.strip()), "")

    @property
    def thoughts(self) -> str:
        """All thinking, that of earlier attempts before."""
        earlier = [self.run.thoughts] if self.run.thoughts else []
        return "\n\n".join([*earlier, *(text.strip() for _, text in sorted(self.thought.items()) if text.strip())])
