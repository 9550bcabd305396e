"""Who holds sessions of the browser, so that they can be counted when somebody looks (`meters`)."""

from typing import Protocol
from weakref import WeakSet


class SessionHolder(Protocol):
    """Something that holds sessions of the browser: how many."""

    @property
    def session_count(self) -> int: ...


SESSION_HOLDERS: WeakSet[SessionHolder] = WeakSet()
