"""Identify the language of a text by CLD3, a small neural network."""

from functools import cache
from threading import Lock

import gcld3

DETECTOR_LOCK = Lock()  # a detector releases the GIL, and is not documented as thread-safe


def identify_language(text: str) -> tuple[str, float]:
    """Return CLD3's name for the language of a text, and its probability.

    Args:
        text: The text; its first 2,000 bytes decide, or parts of a longer one.
    """
    with DETECTOR_LOCK:
        found = _load_detector().FindLanguage(text=text.encode("utf-8", "replace").decode())  # no lone surrogates
    return found.language, found.probability


@cache
def _load_detector() -> gcld3.NNetLanguageIdentifier:
    max_bytes = 2_000  # more costs time and adds nothing
    return gcld3.NNetLanguageIdentifier(0, max_bytes)
