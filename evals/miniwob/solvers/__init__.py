"""The solvers, by what they do; importing them declares them."""

from importlib import import_module
from pkgutil import iter_modules


def load() -> None:
    """Imports all of them."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
