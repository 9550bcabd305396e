"""Reference-counted components shared by apps with equal settings."""

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
    """Builds each component once, and closes it with the last app that uses it."""

    _components: list[_SharedComponent] = field(default_factory=list)

    def acquire(self, key: tuple[Any, ...], build: Callable[[], ComponentT]) -> ComponentT:
        """Return the component with an equal key.

        The key must hold everything that the component is built from.
        """
        component = next((each for each in self._components if each.key == key), None)
        if component is None:
            component = _SharedComponent(key, build())
            self._components.append(component)
        component.users += 1
        return component.value

    async def release_and_close(self, value: Any, close: Callable[[], Awaitable[None]]) -> None:
        """End an app's use of a component, and close an unused one."""
        if self.release(value):
            await close()

    def release(self, value: Any) -> bool:
        """End one app's use of a component; returns whether no app uses it any longer."""
        component = next(each for each in self._components if each.value is value)
        component.users -= 1
        if not component.users:
            self._components.remove(component)
        return not component.users
