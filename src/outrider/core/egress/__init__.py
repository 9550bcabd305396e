"""The one door to the outside: what may be reached, and the only code that dials.

`Guard` decides and dials, `EgressSettings` is what an operator may choose, `EgressProxy` is the
same guard for programs that dial by themselves. `outrider.core.http` stands on it.
"""

from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.egress.target import RequestTarget

__all__ = ["EgressGuard", "EgressSettings", "RequestTarget"]
