"""One thing that `outrider doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

FindingState = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """How it stands, and the remedy where something is to be done."""

    state: FindingState
    what: str
    remedy: str = ""
