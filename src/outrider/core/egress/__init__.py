"""Guard all outgoing connections: decide what may be reached, and dial.

`EgressGuard` decides and dials, `EgressSettings` is the operator's policy, `EgressProxy` offers the
same guard to programs that dial by themselves. `outrider.core.http` builds on it.
"""

from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.egress.target import RequestTarget

__all__ = ["EgressGuard", "EgressSettings", "RequestTarget"]
