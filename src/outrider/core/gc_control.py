"""Python's search for cycles, kept away from what stays."""

import gc
from functools import cache


@cache
def freeze_imports(of: str) -> None:  # noqa: ARG001 - known by it to have been called
    """What there is now is not looked at again: call it when large libraries have been loaded, once for each.

    A search among the quarter of a million objects of the agents' libraries holds everything up for 150 ms.

    Args:
        of: What they were loaded for.
    """
    gc.freeze()
