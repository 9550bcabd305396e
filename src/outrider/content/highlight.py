"""The part of a passage that shows best why it matches."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.content.lexical.analysis import TextToken, iter_tokens

EXCERPT_CHARS = 200  # characters


@dataclass(frozen=True)
class HitExcerpt:
    """A slice of a passage.

    Attributes:
        start, end: Its place in the passage, in characters.
        matches: The words in it that match, as they are written there, each once.
    """

    start: int
    end: int
    matches: tuple[str, ...] = ()


def find_best_excerpt(text: str, terms: frozenset[str], language: str, *, limit: int = EXCERPT_CHARS) -> HitExcerpt:
    """The slice of at most `limit` characters with the most different terms, then the most words of them."""
    found = list(iter_tokens(text, language, terms)) if terms else []
    if not found:
        return HitExcerpt(*_trim_to_words(text, 0, limit))
    best, last = _find_best_window(found, limit)
    spare = max(limit - (found[last].end - found[best].start), 0)
    start, end = _trim_to_words(text, max(found[best].start - spare // 2, 0), limit)
    inside = [text[word.start : word.end] for word in found if start <= word.start and word.end <= end]
    return HitExcerpt(start, end, tuple({each.casefold(): each for each in reversed(inside)}.values())[::-1])


def _find_best_window(found: Sequence[TextToken], limit: int) -> tuple[int, int]:
    """The first and last word of the best run of words within so many characters."""
    within: Counter[tuple[str, ...]] = Counter()
    best, first = ((0, 0), 0, 0), 0
    for last, word in enumerate(found):
        within[word.terms] += 1
        while first < last and word.end - found[first].start > limit:
            within[found[first].terms] -= 1
            within += Counter()  # without those that are no longer there
            first += 1
        best = max(best, ((len(within), last - first + 1), first, last), key=lambda each: each[0])
    return best[1:]


def _trim_to_words(text: str, start: int, limit: int) -> tuple[int, int]:
    """The slice without a torn word or blanks at its ends."""
    end = min(start + limit, len(text))
    start = max(end - limit, 0) if end == len(text) else start
    if start and text[start - 1].isalnum() and (blank := text.find(" ", start, start + 20)) != -1:
        start = blank
    if end < len(text) and text[end].isalnum() and (blank := text.rfind(" ", max(end - 20, start), end)) != -1:
        end = blank
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip()) if inner.strip() else end
