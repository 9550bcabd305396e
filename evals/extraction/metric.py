r"""Compute F1 of bags of words, as the Web Content Extraction Benchmark defines it.

Words are runs of `\w` in lower case. F1 is 1 for two texts without words, and 0 if only one has none. A corpus's
score is the mean over its pages.
"""

import re
from collections import Counter

WORD = re.compile(r"\w+")


def split_words(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return WORD.findall(text.lower())


def compute_f1(found: str | Counter[str], reference: str | Counter[str]) -> float:
    """Return the F1 of a text, or its counted words, against a reference."""
    mine = Counter(split_words(found)) if isinstance(found, str) else found
    theirs = Counter(split_words(reference)) if isinstance(reference, str) else reference
    if not mine or not theirs:
        return float(not mine and not theirs)
    return 2 * (mine & theirs).total() / (mine.total() + theirs.total())


def count_shingles(text: str, width: int) -> Counter[str]:
    """Count each run of this many words, like news benchmarks."""
    found = split_words(text)
    return Counter(" ".join(found[at : at + width]) for at in range(max(1, len(found) - width + 1)) if found)
