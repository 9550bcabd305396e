"""Clean long texts quickly when they hold nothing to clean."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.document import COMMON_RANGES, tidy_text


def clean_text(text: str) -> str:
    """Return the text as `tidy_text` cleans it, with its white space unchanged."""
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    is_common = _build_common_code_table()[codes].all()
    return text.strip("\n") if is_common else tidy_text(text, exact=True)


@lru_cache(maxsize=1)
def _build_common_code_table() -> NDArray[np.bool_]:
    """Return whether each UTF-16 code is a character that is shown unchanged."""
    is_common = np.zeros(1 << 16, np.bool_)
    for first, last in COMMON_RANGES:
        is_common[ord(first) : ord(last) + 1] = True
    return is_common
