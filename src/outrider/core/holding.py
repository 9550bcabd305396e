"""Who holds sessions of the browser, so that they can be counted when somebody looks (`meters`)."""

from typing import Protocol
from weakref import WeakSet


class Holding(Protocol):
    """Something that holds sessions of the browser: how many."""

    @property
    def held(self) -> int: ...


BROWSERS: WeakSet[Holding] = WeakSet()
