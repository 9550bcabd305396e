"""Solve tasks; importing the modules declares their solvers."""

from importlib import import_module
from pkgutil import iter_modules


def load_solvers() -> None:
    """Import all solvers."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
