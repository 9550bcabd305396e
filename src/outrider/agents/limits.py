"""Limits that stop a run: steps, tokens, cost and time."""

import time
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.agents.definition import Budgets
from outrider.core.pausable_timeout import PausableTimeout

StopReason = Literal[
    "done", "steps", "tokens", "cost", "time", "repetition", "length", "refused", "nonsense",
    "no_model", "model_error", "error", "cancelled", "blocked",
]  # fmt: skip
PARTIAL_STOP_REASONS = frozenset({"steps", "tokens", "cost", "time", "repetition", "length", "nonsense"})


class RunStopped(Exception):
    """The run must end now; `detail` is the reason as a sentence for people and models."""

    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: StopReason = reason
        self.detail = detail


@dataclass
class RunUsage:
    """Usage of a run, or of a whole tree of runs.

    `cost` is in US dollars: None while no price is known, and a lower bound if some requests are `unpriced`.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    tools: int = 0
    cost: float | None = None
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "RunUsage") -> "RunUsage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTED_FIELDS}
        return RunUsage(**counts, cost=sum(costs) if costs else None)

    def describe(self) -> str:
        """Return tokens and cost for people and models, such as `1,230 tokens (1,000 from the cache), $0.0123`."""
        cached = f" ({self.cached_tokens:,} from the cache)" if self.cached_tokens else ""
        at_least = "at least " if self.unpriced else ""
        cost = "" if self.cost is None else f", {at_least}${self.cost:.4f}"
        return f"{self.tokens:,} tokens{cached}{cost}"

    def to_dict(self) -> dict[str, Any]:
        """Return the usage as JSON, without the cost if it is unknown."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in COUNTED_FIELDS} | {"tokens": self.tokens}
        return fields | ({"cost": round(self.cost, 6)} if self.cost is not None else {})

    @classmethod
    def from_dict(cls, fields: dict[str, Any] | None) -> "RunUsage":
        """Build usage from the JSON of `to_dict`; None means no usage."""
        counts = {name: int((fields or {}).get(name, 0)) for name in COUNTED_FIELDS}
        return cls(**counts, cost=(fields or {}).get("cost"))


COUNTED_FIELDS = ("requests", "input_tokens", "output_tokens", "cached_tokens", "tools", "unpriced")


@dataclass
class BudgetMeter:
    """Compares the usage of a run with its budgets.

    Attributes:
        own_usage: Usage of the run itself.
        descendant_usage: Usage of the runs below it.
        earlier_seconds: Working time before this attempt.
        started_at: When the attempt started, by the monotonic clock.
        time_limit: Time limit of this attempt; it also knows how long the attempt has waited for people.
    """

    budgets: Budgets
    own_usage: RunUsage = field(default_factory=RunUsage)
    descendant_usage: RunUsage = field(default_factory=RunUsage)
    earlier_seconds: float = 0.0
    started_at: float = field(default_factory=time.monotonic)
    time_limit: PausableTimeout | None = None

    @property
    def seconds(self) -> float:
        """Working time of all attempts together, without waiting for people."""
        paused = self.time_limit.paused_seconds if self.time_limit else 0.0
        return self.earlier_seconds + time.monotonic() - self.started_at - paused

    @property
    def seconds_left(self) -> float | None:
        return None if self.budgets.seconds is None else max(0.0, self.budgets.seconds - self.seconds)

    @property
    def remaining_budgets(self) -> Budgets:
        """The most that a new run below this one may use."""
        used, limits = self.own_usage + self.descendant_usage, self.budgets
        cost = None if limits.cost is None else max(0.000_001, limits.cost - (used.cost or 0.0))
        return Budgets(
            seconds=None if self.seconds_left is None else max(1.0, self.seconds_left),
            tokens=None if limits.tokens is None else max(1, limits.tokens - used.tokens),
            cost=cost,
        )

    def check_limits(self) -> None:
        """Raise RunStopped if the next request to the model would exceed a budget."""
        used, limits = self.own_usage + self.descendant_usage, self.budgets
        if limits.steps is not None and self.own_usage.requests >= limits.steps:
            raise RunStopped("steps", f"the run has taken its {limits.steps} steps")
        if limits.tokens is not None and used.tokens >= limits.tokens:
            raise RunStopped("tokens", f"the run has used {used.tokens:,} of {limits.tokens:,} tokens")
        if limits.cost is not None and used.cost is not None and used.cost >= limits.cost:
            raise RunStopped("cost", f"the run has cost ${used.cost:.4f} of ${limits.cost:g}")
