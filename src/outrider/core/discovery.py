"""Find the instances that the modules of a folder define.

No list of them is needed.
"""

import importlib
import logging
import pkgutil
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

InstanceT = TypeVar("InstanceT")
log = logging.getLogger(__name__)


def discover_instances(
    package: ModuleType, kind: type[InstanceT], *, group: str = "", nested: bool = False
) -> list[InstanceT]:
    """Return each instance of `kind` in the package's modules, then those of plugins.

    Args:
        package: The folder to look in, for instance `outrider.search.providers`.
        kind: The class to look for.
        group: An entry-point group; each entry point must name an instance of `kind`. One that does not, or that
            cannot be loaded, is left out with a warning, so that a broken plugin does not stop Outrider.
        nested: Whether to look into folders of the folder too.
    """
    walk = pkgutil.walk_packages if nested else pkgutil.iter_modules
    names = sorted(info.name for info in walk(package.__path__, f"{package.__name__}."))
    modules = [importlib.import_module(name) for name in names]
    instances = [value for module in modules for value in vars(module).values() if isinstance(value, kind)]
    if group:
        instances += [value for point in _list_entry_points(group) for value in _load_entry_point(point, kind)]
    return list({id(value): value for value in instances}.values())


def _list_entry_points(group: str) -> EntryPoints:
    """Return a group's entry points; a package that was installed in the meantime counts.

    Reading a file of every installed distribution takes half of the time to open an app, so they are only read again
    when a folder of the import path has changed.
    """
    folders = [Path(folder).absolute() for folder in sys.path]
    changes = tuple((folder, folder.stat().st_mtime_ns) for folder in folders if folder.exists())
    return _read_entry_points(changes).select(group=group)


@lru_cache(maxsize=4)
def _read_entry_points(_folders: tuple[tuple[Path, int], ...]) -> Any:
    return entry_points()  # EntryPoints, or in Python 3.11 SelectableGroups


def _load_entry_point(point: EntryPoint, kind: type[InstanceT]) -> list[InstanceT]:
    try:
        value = point.load()
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way
        log.warning("plugin %s (%s) cannot be loaded: %s", point.name, point.value, error)
        return []
    if isinstance(value, kind):
        return [value]
    log.warning("plugin %s (%s) is not a %s", point.name, point.value, kind.__name__)
    return []
