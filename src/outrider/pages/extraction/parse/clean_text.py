"""Clean long texts quickly when they hold nothing to clean."""

import numpy as np

from outrider.pages.document import COMMON_RANGES, tidy_text

IS_COMMON_CODE = np.zeros(1 << 16, np.bool_)  # whether each UTF-16 code is a character that is shown unchanged
for _first, _last in COMMON_RANGES:
    IS_COMMON_CODE[ord(_first) : ord(_last) + 1] = True


def clean_text(text: str) -> str:
    """Return the text as `tidy_text` cleans it, with its white space unchanged."""
    codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    is_common = IS_COMMON_CODE[codes].all()
    return text.strip("\n") if is_common else tidy_text(text, exact=True)
