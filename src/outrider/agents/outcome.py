"""How an attempt at a run ended, and what becomes of the run by it."""

import logging
import uuid
from dataclasses import dataclass
from typing import Any

from outrider.agents.limits import PARTIAL, StopReason
from outrider.agents.run import Run, Status
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)
OUTAGES = ("database", "database_unsure")
SUCCESS: dict[str, Status] = {"done": "completed", "blocked": "blocked", "cancelled": "cancelled"}


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended.

    Attributes:
        history: The model's messages as JSON; of a blocked run up to the calls that wait.
    """

    reason: StopReason
    answer: str = ""
    thoughts: str = ""
    error: dict[str, Any] | None = None
    history: list[Any] | None = None
    model: str = ""

    @property
    def status(self) -> Status:
        """What the run is from now on."""
        if self.reason in SUCCESS:
            return SUCCESS[self.reason]
        return "partial" if self.reason in PARTIAL and self.answer else "failed"


def is_outage(error: BaseException) -> bool:
    """Whether the database is what failed: then nothing is known of the run's end, and it goes on when that is back."""
    if isinstance(error, OutriderError):
        return error.code in OUTAGES
    if isinstance(error, BaseExceptionGroup):
        return any(is_outage(each) for each in error.exceptions)
    return error.__cause__ is not None and is_outage(error.__cause__)


def broken(error: OutriderError) -> Outcome:
    """What an error that has a remedy ended."""
    return Outcome("no_model" if error.code == "no_model" else "error", error=error.to_dict())


def bug(run: Run, error: Exception) -> Outcome:
    """What a mistake of ours ended: the log gets the trace, the caller its number."""
    incident = uuid.uuid4().hex[:8]
    log.error("bug %s in run %s", incident, run.id, exc_info=error)
    return Outcome("error", error={"code": "bug", "message": f"a bug in Outrider (incident {incident})"})
