"""A finding of `outrider doctor`."""

from dataclasses import dataclass
from typing import Literal

from outrider.core.installation import get_installation

FindingState = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """The state of one thing, and how to fix it.

    Attributes:
        state: `ok`, `note` for what need not change, or `bad`.
        what: What was found, in a sentence that begins with its area, such as `search: `.
        remedy: How to fix it; may be empty.
        choice: A short name, if it is one of several that do the same, of which people need only some.
    """

    state: FindingState
    what: str
    remedy: str = ""
    choice: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remedy", get_installation().adapt_commands(self.remedy))
