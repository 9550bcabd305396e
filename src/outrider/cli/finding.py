"""A finding of `outrider doctor`."""

from dataclasses import dataclass
from typing import Literal

FindingState = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """The state of one thing, and how to fix it."""

    state: FindingState
    what: str
    remedy: str = ""
