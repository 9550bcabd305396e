"""Freeze long-lived objects so that the garbage collector skips them."""

import gc
from functools import cache


@cache
def freeze_imports(purpose: str) -> None:  # noqa: ARG001 - the cache key
    """Exclude all present objects from collection; call it after large libraries have been loaded.

    A full collection among their hundreds of thousands of objects would pause the process noticeably.

    Args:
        purpose: What they were loaded for; only the first call for each purpose has an effect.
    """
    gc.freeze()
