"""Parts that several houses of one process have in common, because what makes them up is the same."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

ComponentT = TypeVar("ComponentT")


@dataclass
class _SharedComponent:
    key: tuple[Any, ...]
    value: Any
    users: int = 0


@dataclass
class SharedComponents:
    """Makes each part once, and closes it when the last house that has it closes."""

    _components: list[_SharedComponent] = field(default_factory=list)

    def acquire(self, key: tuple[Any, ...], build: Callable[[], ComponentT]) -> ComponentT:
        """The part of that key, which is compared by equality: it holds all that the part is made from."""
        found = next((each for each in self._components if each.key == key), None)
        if found is None:
            found = _SharedComponent(key, build())
            self._components.append(found)
        found.users += 1
        return found.value

    async def release_and_close(self, value: Any, close: Callable[[], Awaitable[None]]) -> None:
        """Ends one house's use of a part."""
        if self.release(value):
            await close()

    def release(self, value: Any) -> bool:
        """Ends one house's use of a part; whether nobody uses it any more."""
        found = next(each for each in self._components if each.value is value)
        found.users -= 1
        if not found.users:
            self._components.remove(found)
        return not found.users
