"""Statuses of runs."""

from typing import Literal

RunStatus = Literal["queued", "running", "blocked", "completed", "partial", "failed", "cancelled"]
ENDED_STATUSES = frozenset({"completed", "partial", "failed", "cancelled"})
RESTING_STATUSES = ENDED_STATUSES | {"blocked"}  # nothing happens until a person or caller acts
ACTIVE_STATUSES = ("queued", "running")
