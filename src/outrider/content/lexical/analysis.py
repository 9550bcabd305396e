"""From text to index terms: the words of any script, folded and stemmed.

A word becomes its stem in the language of its text and, where that differs, also its unstemmed form;
both without accents. Scripts that put no blanks between words give pairs of letters. Names as
programmers write them give their parts as well: `readFile` also `read` and `file`.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import snowballstemmer

from outrider.core.text import ACCENT_MARKS, UNSPACED_LETTERS

MAX_TERM_CHARS = 64  # characters of a word that count
IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TERM_CHARS = re.compile(r"\w+")
STEMMER_LOCK = threading.Lock()  # a stemmer keeps the word that it works on in itself


class TextToken(NamedTuple):
    """A word of a text.

    Attributes:
        start, end: Its place, in characters.
        terms: What stands for it in an index, each once.
    """

    start: int
    end: int
    terms: tuple[str, ...]


def iter_tokens(text: str, language: str, wanted_terms: frozenset[str] | None = None) -> Iterator[TextToken]:
    """The words of a text with their places and index terms.

    Args:
        text: Of any script.
        language: A stemmer's name, or empty.
        wanted_terms: Those alone that have one of these terms.
    """
    for found in (
        _compile_word().finditer(text) if wanted_terms is None else _find_candidate_words(text, language, wanted_terms)
    ):
        spelled = found[0]
        if not spelled.isascii():
            inner = _tokenize_non_ascii(found.start(), spelled, language)
            yield from (
                inner if wanted_terms is None else (word for word in inner if not wanted_terms.isdisjoint(word.terms))
            )
            continue
        terms = _expand_word(spelled if len(spelled) <= MAX_TERM_CHARS else spelled[:MAX_TERM_CHARS], language)
        if wanted_terms is None or not wanted_terms.isdisjoint(terms):
            if spelled in {"s", "S"} and text[max(found.start() - 1, 0)] in "'’":
                continue
            yield TextToken(found.start(), found.end(), terms)


def _find_candidate_words(text: str, language: str, only: frozenset[str]) -> Iterable[re.Match[str]]:
    """The words that may have one of these terms: others are looked at once, however often they occur."""
    max_single_searches = 16  # different words that are searched for one by one
    max_cached_words = 20_000  # words that are remembered for a query
    spelled = set(_compile_word().findall(text))
    others = _get_rejected_words(language, only)
    if len(others) > max_cached_words:
        others.clear()
    new = spelled - others
    others.update(
        each for each in new if each.isascii() and only.isdisjoint(_expand_word(each[:MAX_TERM_CHARS], language))
    )
    wanted = new - others
    if len(wanted) > max_single_searches or not all(map(str.isascii, wanted)):
        return (found for found in _compile_word().finditer(text) if found[0] in wanted)
    return sorted((found for each in wanted for found in _find_occurrences(text, each)), key=re.Match.start)


def _find_occurrences(text: str, spelled: str) -> Iterator[re.Match[str]]:
    """Where a word stands as a whole."""
    at = text.find(spelled)
    while at != -1:
        found = _compile_word().match(text, at)
        if found and found.end() == at + len(spelled) and _is_word_start(text, at):
            yield found
        at = text.find(spelled, at + 1)


def _is_word_start(text: str, at: int) -> bool:
    """Whether a letter there is the first of its word; marks that follow no letter belong to none."""
    while at and _compile_word_char().match(text, at - 1):
        at -= 1
        if text[at].isalnum() or text[at] == "_":
            return False
    return True


@lru_cache(maxsize=8)
def _get_rejected_words(language: str, only: frozenset[str]) -> set[str]:  # noqa: ARG001 - the key
    """Words in plain letters that are known to have none of these terms; filled while texts are looked at."""
    return set()


def extract_index_terms(texts: Iterable[str], language: str) -> tuple[str, int]:
    """All terms of some texts with a space between them, and the number of words."""
    found = [terms for text in texts for terms in _iter_terms(text, language)]
    return " ".join([term for terms in found for term in terms]), len(found)


def parse_query_terms(query: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """For each word of a query, in order and as often as it occurs, the terms that it may stand for.

    Args:
        query: What somebody looks for.
        languages: Of the texts that are searched.
    """
    readings = [list(iter_tokens(query, language)) for language in languages or [""]]
    return [tuple(dict.fromkeys(term for word in same for term in word.terms)) for same in zip(*readings, strict=True)]


def _iter_terms(text: str, language: str) -> Iterator[tuple[str, ...]]:
    """The terms of each of the `words`, several times as fast, since places are not asked for."""
    if "'" in text or "’" in text:
        text = _compile_possessive().sub("", text)
    for spelled in _compile_word().findall(text):
        if spelled.isascii():
            yield _expand_word(spelled if len(spelled) <= MAX_TERM_CHARS else spelled[:MAX_TERM_CHARS], language)
        else:
            yield from [word.terms for word in _tokenize_non_ascii(0, spelled, language)]


def _tokenize_non_ascii(at: int, spelled: str, language: str) -> Iterator[TextToken]:
    """A word with letters beyond ASCII; of an unspaced script its pairs of letters."""
    end = 0
    for run in UNSPACED_LETTERS.finditer(spelled):
        if run.start() > end:
            yield TextToken(
                at + end, at + run.start(), _expand_word(spelled[end : run.start()][:MAX_TERM_CHARS], language)
            )
        for place in range(run.start(), max(run.end() - 1, run.start() + 1)):
            pair = spelled[place : min(place + 2, run.end())]
            yield TextToken(at + place, at + place + len(pair), _expand_word(pair, ""))
        end = run.end()
    if end < len(spelled):
        yield TextToken(at + end, at + len(spelled), _expand_word(spelled[end:][:MAX_TERM_CHARS], language))


@lru_cache(maxsize=200_000)
def _expand_word(spelled: str, language: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", spelled).casefold())
    found = [_strip_accents(_stem_word(folded, language)), _strip_accents(folded)]
    if (spelled.isascii() and not spelled.islower()) or "_" in spelled:
        found += _parts(spelled, language)
    return tuple(dict.fromkeys(term for each in found for term in TERM_CHARS.findall(each)))


def _parts(spelled: str, language: str) -> list[str]:
    parts = IDENTIFIER_PART.findall(spelled)
    return [_stem_word(part.lower(), language) for part in parts] if len(parts) > 1 else []


def _strip_accents(word: str) -> str:
    """Without accents and invisible joints."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", ACCENT_MARKS.sub("", unicodedata.normalize("NFKD", word)))


def _stem_word(word: str, language: str) -> str:
    if not language:
        return word
    with STEMMER_LOCK:
        return _load_stemmer(language).stemWord(word)


@lru_cache(maxsize=40)
def _load_stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=1)
def _build_word_class() -> str:
    """What a word may have after its first letter: Python's own class of word letters lacks the marks.

    Only those of the first plane: a class that goes beyond it takes eight times as long for every text.
    """
    marks = [code for code in range(0x300, 0x1_0000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"}]
    return "\\w" + "".join(map(chr, marks)) + "\u00ad\u200c\u200d"


@lru_cache(maxsize=1)
def _compile_word() -> re.Pattern[str]:
    return re.compile(rf"\w[{_build_word_class()}]*")


@lru_cache(maxsize=1)
def _compile_word_char() -> re.Pattern[str]:
    """A letter, or a mark as they follow letters."""
    return re.compile(rf"[{_build_word_class()}]")


@lru_cache(maxsize=1)
def _compile_possessive() -> re.Pattern[str]:
    return re.compile(rf"(?<=['’])[sS](?![{_build_word_class()}])")
