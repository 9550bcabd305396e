"""Whether a long text holds nothing to clean, asked of all its characters at once."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from outrider.pages.document import COMMON_RANGES, tidy_text


def clean_text(text: str) -> str:
    """What `tidy` makes of a text whose white space stays as it is, sooner."""
    return text.strip("\n") if _is_common(text) else tidy_text(text, exact=True)


def _is_common(text: str) -> bool:
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    return bool(_build_common_code_table()[codes].all())


@lru_cache(maxsize=1)
def _build_common_code_table() -> NDArray[np.bool_]:
    """Of each code of UTF-16, whether it is a character that is shown as it is."""
    found = np.zeros(1 << 16, np.bool_)
    for first, last in COMMON_RANGES:
        found[ord(first) : ord(last) + 1] = True
    return found
