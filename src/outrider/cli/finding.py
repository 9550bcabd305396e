"""One thing that `outrider doctor` looked at."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """How it stands, and the remedy where something is to be done."""

    state: State
    what: str
    remedy: str = ""
