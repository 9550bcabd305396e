"""Count open browser sessions for the metrics gauge.

Separate from `core/metrics.py`, because that module loads OpenTelemetry.
"""

from typing import Protocol
from weakref import WeakSet


class SessionHolder(Protocol):
    """An object that holds browser sessions."""

    @property
    def session_count(self) -> int:
        """Number of sessions, parked ones included."""
        ...


SESSION_HOLDERS: WeakSet[SessionHolder] = WeakSet()
