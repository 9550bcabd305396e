"""Find the excerpt of a passage that best shows why it matches."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from outrider.content.lexical.analysis import TextToken, iter_tokens

EXCERPT_CHARS = 200


@dataclass(frozen=True)
class HitExcerpt:
    """A slice of a passage.

    Attributes:
        start, end: Character offsets in the passage.
        matches: The matching words in it, as written there, without duplicates.
    """

    start: int
    end: int
    matches: tuple[str, ...] = ()


def find_best_excerpt(text: str, terms: frozenset[str], language: str, *, limit: int = EXCERPT_CHARS) -> HitExcerpt:
    """Return the best slice of at most `limit` characters.

    It has the most distinct terms, then the most matching words.
    """
    tokens = list(iter_tokens(text, language, terms)) if terms else []
    if not tokens:
        return HitExcerpt(*_trim_to_words(text, 0, limit))
    first, last = _find_best_window(tokens, limit)
    margin = max(limit - (tokens[last].end - tokens[first].start), 0) // 2
    start, end = _trim_to_words(text, max(tokens[first].start - margin, 0), limit)
    words = [text[token.start : token.end] for token in tokens if start <= token.start and token.end <= end]
    # Of words that differ in case alone, keep the first spelling.
    matches = {word.casefold(): word for word in reversed(words)}
    return HitExcerpt(start, end, tuple(matches.values())[::-1])


def _find_best_window(tokens: Sequence[TextToken], limit: int) -> tuple[int, int]:
    """Return the first and last index of the best token window.

    It spans at most `limit` characters.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    best, window, first = (0, 0), (0, 0), 0
    for last, token in enumerate(tokens):
        counts[token.terms] += 1
        while first < last and token.end - tokens[first].start > limit:
            counts[tokens[first].terms] -= 1
            counts += Counter()  # drops entries that are 0
            first += 1
        quality = (len(counts), last - first + 1)
        if quality > best:
            best, window = quality, (first, last)
    return window


def _trim_to_words(text: str, start: int, limit: int) -> tuple[int, int]:
    """Return a slice of at most `limit` characters, trimmed to whole words.

    It has no blanks at its ends.
    """
    end = min(start + limit, len(text))
    start = max(end - limit, 0) if end == len(text) else start
    if start and text[start - 1].isalnum() and (blank := text.find(" ", start, start + 20)) != -1:
        start = blank
    if end < len(text) and text[end].isalnum() and (blank := text.rfind(" ", max(end - 20, start), end)) != -1:
        end = blank
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip()) if inner.strip() else end
