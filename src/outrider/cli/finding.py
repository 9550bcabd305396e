"""A finding of `outrider doctor`."""

from dataclasses import dataclass
from typing import Literal

from outrider.core.installation import get_installation

FindingState = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """The state of one thing, and how to fix it."""

    state: FindingState
    what: str
    remedy: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "remedy", get_installation().adapt_commands(self.remedy))
