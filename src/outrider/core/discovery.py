"""Finds what stands in a folder, so that nothing has to list it."""

import importlib
import logging
import pkgutil
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)


def find(package: ModuleType, kind: type[T], *, group: str = "") -> list[T]:
    """The instances of `kind` at the top of the package's modules, and those that plugins offer.

    Args:
        package: The folder to look in, for instance `outrider.search.providers`.
        kind: What to look for.
        group: An entry-point group; each entry point must name an instance of `kind`. One that does not, or that
            cannot be loaded, is left out with a warning: somebody else's mistake does not stop the house.

    Returns:
        The instances by module name, plugins last; each once.
    """
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    modules = [importlib.import_module(f"{package.__name__}.{name}") for name in names]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, kind)]
    found += [value for point in (entry_points(group=group) if group else ()) for value in _loaded(point, kind)]
    return list({id(value): value for value in found}.values())


def _loaded(point: EntryPoint, kind: type[T]) -> list[T]:
    try:
        value = point.load()
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way
        log.warning("plugin %s (%s) cannot be loaded: %s", point.name, point.value, error)
        return []
    if isinstance(value, kind):
        return [value]
    log.warning("plugin %s (%s) is no %s", point.name, point.value, kind.__name__)
    return []
