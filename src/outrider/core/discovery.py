"""Finds what stands in a folder, so that nothing has to list it."""

import importlib
import pkgutil
from importlib.metadata import entry_points
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def find(package: ModuleType, kind: type[T], *, group: str = "") -> list[T]:
    """The instances of `kind` at the top of the package's modules, and those that plugins offer.

    Args:
        package: The folder to look in, for instance `outrider.search.providers`.
        kind: What to look for.
        group: An entry-point group; each entry point must name an instance of `kind`.

    Returns:
        The instances by module name, plugins last; each once.
    """
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, kind)]
    found += [value for value in _plugins(group) if isinstance(value, kind)]
    return list({id(value): value for value in found}.values())


def _plugins(group: str) -> list[object]:
    return [point.load() for point in entry_points(group=group)] if group else []
