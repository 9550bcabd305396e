r"""The measure: F1 of bags of words, as the Web Content Extraction Benchmark defines it.

Words are runs of `\w` in lower case. Of two texts without words F1 is 1, of one without 0. A corpus's
score is the mean over its pages.
"""

import re
from collections import Counter

WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return WORD.findall(text.lower())


def f1(found: str | Counter[str], reference: str | Counter[str]) -> float:
    """F1 between 0 and 1 of a text, or its counted words, against a reference."""
    mine = Counter(words(found)) if isinstance(found, str) else found
    theirs = Counter(words(reference)) if isinstance(reference, str) else reference
    if not mine or not theirs:
        return float(not mine and not theirs)
    return 2 * (mine & theirs).total() / (mine.total() + theirs.total())


def shingles(text: str, width: int) -> Counter[str]:
    """How often each run of so many words occurs, which is what benchmarks of news count; of a shorter text itself."""
    found = words(text)
    return Counter(" ".join(found[at : at + width]) for at in range(max(1, len(found) - width + 1)) if found)
