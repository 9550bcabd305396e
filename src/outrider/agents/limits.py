"""What stops a run that would not stop by itself: steps, tokens, money, time, and going in circles."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2s
from typing import Any, Literal

from outrider.agents.definition import Budgets
from outrider.core.standstill import Limit

StopReason = Literal[
    "done", "steps", "tokens", "cost", "time", "repetition", "length", "refused", "nonsense",
    "no_model", "model_error", "error", "cancelled", "blocked",
]  # fmt: skip
REMIND_AT = 3  # the same call with the same result: the model is told
STOP_AT = 5  # and then it is stopped
PARTIAL = frozenset({"steps", "tokens", "cost", "time", "repetition", "length", "nonsense"})


class Stopped(Exception):
    """The run must end now. `detail` says why in a sentence for people and models."""

    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: StopReason = reason
        self.detail = detail


@dataclass
class Usage:
    """What was used: of a run alone, or of a whole tree of runs.

    `cost` is in US dollars; None as long as no price is known, and a lower bound where `unpriced` requests are among
    the counted ones.
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

    def __add__(self, other: "Usage") -> "Usage":
        costs = [each for each in (self.cost, other.cost) if each is not None]
        counted = {name: getattr(self, name) + getattr(other, name) for name in COUNTED}
        return Usage(**counted, cost=sum(costs) if costs else None)

    def facts(self) -> dict[str, Any]:
        """As JSON; the cost is left out where it is unknown."""
        facts: dict[str, Any] = {name: getattr(self, name) for name in COUNTED} | {"tokens": self.tokens}
        return facts | ({"cost": round(self.cost, 6)} if self.cost is not None else {})

    @classmethod
    def of(cls, facts: dict[str, Any] | None) -> "Usage":
        """What `facts` wrote."""
        known = {name: int((facts or {}).get(name, 0)) for name in COUNTED}
        return cls(**known, cost=(facts or {}).get("cost"))


COUNTED = ("requests", "input_tokens", "output_tokens", "cached_tokens", "tools", "unpriced")


@dataclass
class Meter:
    """Compares what a run uses with what it may use.

    Attributes:
        own: What the run itself has used.
        below: What the runs that it started have used.
        before: Seconds that it was at work before this attempt.
        limit: Of this attempt's time; knows for how long a person has held it up, which is no work.
    """

    budgets: Budgets
    own: Usage = field(default_factory=Usage)
    below: Usage = field(default_factory=Usage)
    before: float = 0.0
    began: float = field(default_factory=time.monotonic)
    limit: Limit | None = None

    @property
    def seconds(self) -> float:
        """Time at work, all attempts together."""
        stood = self.limit.stood if self.limit else 0.0
        return self.before + time.monotonic() - self.began - stood

    @property
    def seconds_left(self) -> float | None:
        return None if self.budgets.seconds is None else max(0.0, self.budgets.seconds - self.seconds)

    @property
    def left(self) -> Budgets:
        """What a run below may use at most."""
        used, limits = self.own + self.below, self.budgets
        cost = None if limits.cost is None else max(0.000_001, limits.cost - (used.cost or 0.0))
        return Budgets(
            seconds=None if self.seconds_left is None else max(1.0, self.seconds_left),
            tokens=None if limits.tokens is None else max(1, limits.tokens - used.tokens),
            cost=cost,
        )

    def check(self) -> None:
        """Lets the next request to the model pass, or raises Stopped."""
        used, limits = self.own + self.below, self.budgets
        if limits.steps is not None and self.own.requests >= limits.steps:
            raise Stopped("steps", f"the run has taken its {limits.steps} steps")
        if limits.tokens is not None and used.tokens >= limits.tokens:
            raise Stopped("tokens", f"the run has used {used.tokens:,} of {limits.tokens:,} tokens")
        if limits.cost is not None and used.cost is not None and used.cost >= limits.cost:
            raise Stopped("cost", f"the run has cost ${used.cost:.4f} of ${limits.cost:g}")


@dataclass
class Circles:
    """Notices calls that are repeated without anything new coming of them."""

    seen: Counter[str] = field(default_factory=Counter)

    def note(self, tool: str, arguments: Any, result: str) -> str:
        """Counts a call; what the model should be told about it, mostly nothing. Raises Stopped."""
        written = json.dumps([tool, arguments, result], sort_keys=True, default=str)
        key = blake2s(written.encode("utf-8", "replace")).hexdigest()
        self.seen[key] += 1
        if self.seen[key] >= STOP_AT:
            raise Stopped("repetition", f"{tool} was called {STOP_AT} times with the same arguments and result")
        if self.seen[key] < REMIND_AT:
            return ""
        return (
            f"\n\n(You have made this same call {self.seen[key]} times with the same result. "
            "Do something else, or answer with what you have.)"
        )
