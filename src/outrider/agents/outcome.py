"""How an attempt at a run ended, and what becomes of the run by it."""

import logging
import uuid
from dataclasses import dataclass
from typing import Any

from outrider.agents.limits import PARTIAL_STOP_REASONS, StopReason
from outrider.agents.run import Run, RunStatus
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AttemptOutcome:
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
    def status(self) -> RunStatus:
        """What the run is from now on."""
        final_statuses: dict[str, RunStatus] = {"done": "completed", "blocked": "blocked", "cancelled": "cancelled"}
        if self.reason in final_statuses:
            return final_statuses[self.reason]
        return "partial" if self.reason in PARTIAL_STOP_REASONS and self.answer else "failed"


def is_outage(error: BaseException) -> bool:
    """Whether the database is what failed: then nothing is known of the run's end, and it goes on when that is back."""
    outage_codes = ("database", "database_unsure")
    if isinstance(error, OutriderError):
        return error.code in outage_codes
    if isinstance(error, BaseExceptionGroup):
        return any(is_outage(each) for each in error.exceptions)
    return error.__cause__ is not None and is_outage(error.__cause__)


def build_error_outcome(error: OutriderError) -> AttemptOutcome:
    """What an error that has a remedy ended."""
    return AttemptOutcome("no_model" if error.code == "no_model" else "error", error=error.to_dict())


def build_bug_outcome(run: Run, error: Exception) -> AttemptOutcome:
    """What a mistake of ours ended: the log gets the trace, the caller its number."""
    incident = uuid.uuid4().hex[:8]
    log.error("bug %s in run %s", incident, run.id, exc_info=error)
    return AttemptOutcome("error", error={"code": "bug", "message": f"a bug in Outrider (incident {incident})"})
