"""Detect runs that repeat the same calls with the same results."""

import json
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from hashlib import blake2s
from typing import Any

from outrider.agents.limits import RunStopped
from outrider.core.untrusted import remove_boundary_numbers

# Ids that Outrider makes up for each call: of runs, messages, sessions, stored content and bugs.
RANDOM_ID_PATTERN = re.compile(
    r"\b[a-z]{1,12}_[0-9a-f]{12,32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?<=\(incident )[0-9a-f]{8}"
)


@dataclass
class RepetitionDetector:
    """Detects calls that are repeated with the same result, and without anything new between them.

    Agents often return to a list between its entries, so a result that is new in the run starts the count again.
    """

    call_counts: Counter[str] = field(default_factory=Counter)
    seen_keys: set[str] = field(default_factory=set)

    def check_call(self, tool: str, arguments: Any, result: str, references: Collection[str] = ()) -> str:
        """Count a call; return a reminder for the model after repetitions. Raises RunStopped.

        Args:
            tool: The tool's name.
            arguments: Its arguments.
            result: The text that the model reads.
            references: The references of its sources, which are new in each result.
        """
        remind_at_calls = 3
        stop_at_calls = 5
        serialized = json.dumps([tool, arguments, remove_random_parts(result, references)], sort_keys=True, default=str)
        key = blake2s(serialized.encode("utf-8", "replace")).hexdigest()
        if key not in self.seen_keys:
            self.seen_keys.add(key)
            self.call_counts.clear()
        self.call_counts[key] += 1
        if self.call_counts[key] >= stop_at_calls:
            raise RunStopped(
                "repetition", f"{tool} was called {stop_at_calls} times with the same arguments and result"
            )
        if self.call_counts[key] < remind_at_calls:
            return ""
        return (
            f"\n\n(You have made the same call {self.call_counts[key]} times with the same result. "
            "Try something else, or answer with what you have.)"
        )


def remove_random_parts(result: str, references: Collection[str] = ()) -> str:
    """Return a result without what differs in each call: boundaries, references of sources and made-up ids."""
    text = RANDOM_ID_PATTERN.sub("", remove_boundary_numbers(result))
    if references:
        names = "|".join(map(re.escape, references))
        text = re.sub(rf"(?<=[\[\"])(?:{names})(?=[\]\"])", "", text)
    return text
