"""Outcomes of an attempt at a run."""

import logging
import uuid
from dataclasses import dataclass
from typing import Any

from outrider.agents.limits import PARTIAL_STOP_REASONS, StopReason
from outrider.agents.run import Run
from outrider.agents.run_status import RunStatus
from outrider.core.errors import OutriderError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class AttemptOutcome:
    """The outcome of an attempt.

    Attributes:
        history: The model's messages as JSON; for a blocked run up to the calls that wait.
    """

    reason: StopReason
    answer: str = ""
    thoughts: str = ""
    error: dict[str, Any] | None = None
    history: list[Any] | None = None
    model: str = ""

    @property
    def status(self) -> RunStatus:
        """The status that the run gets."""
        final_statuses: dict[str, RunStatus] = {"done": "completed", "blocked": "blocked", "cancelled": "cancelled"}
        if self.reason in final_statuses:
            return final_statuses[self.reason]
        return "partial" if self.reason in PARTIAL_STOP_REASONS and self.answer else "failed"


def is_outage(error: BaseException) -> bool:
    """Return whether the database failed. The run then has no outcome and continues when it is back."""
    if isinstance(error, OutriderError):
        return error.code in ("database", "database_unsure")
    if isinstance(error, BaseExceptionGroup):
        return any(is_outage(inner) for inner in error.exceptions)
    return error.__cause__ is not None and is_outage(error.__cause__)


def build_error_outcome(error: OutriderError) -> AttemptOutcome:
    """Return the outcome of an attempt that ended in an expected error."""
    return AttemptOutcome("no_model" if error.code == "no_model" else "error", error=error.to_dict())


def build_bug_outcome(run: Run, error: Exception) -> AttemptOutcome:
    """Return the outcome of an attempt that ended in a bug; the log gets the traceback and the incident number."""
    incident = uuid.uuid4().hex[:8]
    log.error("bug %s in run %s", incident, run.id, exc_info=error)
    return AttemptOutcome("error", error={"code": "bug", "message": f"a bug in Outrider (incident {incident})"})
