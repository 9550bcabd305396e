"""Turn text into index terms: the words of any script, folded and stemmed.

A word becomes its stem in the language of its text and, if that differs, also its unstemmed form, both without accents.
Scripts without spaces between words become pairs of letters. Identifiers also yield their parts: `readFile` yields
`read` and `file` too.
"""

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import snowballstemmer

from outrider.core.text import ACCENT_MARKS, UNSPACED_LETTERS

MAX_TERM_CHARS = 64  # the rest of a longer word is ignored
IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
TERM_CHARS = re.compile(r"\w+")
STEMMER_LOCK = threading.Lock()  # a stemmer holds the current word in its own state


class TextToken(NamedTuple):
    """A word of a text.

    Attributes:
        start, end: Character offsets.
        terms: Its index terms, without duplicates.
    """

    start: int
    end: int
    terms: tuple[str, ...]


def iter_tokens(text: str, language: str, wanted_terms: frozenset[str] | None = None) -> Iterator[TextToken]:
    """Yield the words of a text with their offsets and index terms.

    Args:
        text: A text in any script.
        language: Name of a stemmer, or empty.
        wanted_terms: Only words with one of these terms.
    """
    if wanted_terms is None:
        words: Iterable[re.Match[str]] = _compile_word().finditer(text)
    else:
        words = _find_candidate_words(text, language, wanted_terms)
    for word in words:
        spelled = word[0]
        if not spelled.isascii():
            for token in _tokenize_non_ascii(word.start(), spelled, language):
                if wanted_terms is None or not wanted_terms.isdisjoint(token.terms):
                    yield token
            continue
        terms = _expand_word(spelled[:MAX_TERM_CHARS], language)
        if wanted_terms is None or not wanted_terms.isdisjoint(terms):
            is_possessive = spelled in {"s", "S"} and text[max(word.start() - 1, 0)] in "'’"
            if not is_possessive:
                yield TextToken(word.start(), word.end(), terms)


def _find_candidate_words(text: str, language: str, wanted_terms: frozenset[str]) -> Iterable[re.Match[str]]:
    """Return the words that may have one of these terms; each distinct spelling is examined only once."""
    max_single_searches = 16  # above this, one pass over all words is faster
    max_cached_words = 20_000
    spellings = set(_compile_word().findall(text))
    rejected = _get_rejected_words(language, wanted_terms)
    if len(rejected) > max_cached_words:
        rejected.clear()
    unknown = spellings - rejected
    rejected.update(
        word
        for word in unknown
        if word.isascii() and wanted_terms.isdisjoint(_expand_word(word[:MAX_TERM_CHARS], language))
    )
    candidates = unknown - rejected
    if len(candidates) > max_single_searches or not all(map(str.isascii, candidates)):
        return (word for word in _compile_word().finditer(text) if word[0] in candidates)
    occurrences: list[re.Match[str]] = []
    for spelled in candidates:
        at = text.find(spelled)
        while at != -1:
            word = _compile_word().match(text, at)
            if word and word.end() == at + len(spelled) and _is_word_start(text, at):
                occurrences.append(word)
            at = text.find(spelled, at + 1)
    return sorted(occurrences, key=re.Match.start)


def _is_word_start(text: str, at: int) -> bool:
    """Return whether a letter is the first of its word; marks that follow no letter belong to no word."""
    while at and _compile_word_char().match(text, at - 1):
        at -= 1
        if text[at].isalnum() or text[at] == "_":
            return False
    return True


@lru_cache(maxsize=8)
def _get_rejected_words(language: str, wanted_terms: frozenset[str]) -> set[str]:  # noqa: ARG001 - cache key
    """Return the cache of ASCII words that are known to have none of these terms."""
    return set()


def extract_index_terms(texts: Iterable[str], language: str) -> tuple[str, int]:
    """Return all terms of some texts, separated by spaces, and the number of words."""
    words: list[tuple[str, ...]] = []
    # The terms that `iter_tokens` finds, but several times as fast, because offsets are not needed.
    for text in texts:
        without_possessives = _compile_possessive().sub("", text) if "'" in text or "’" in text else text
        for spelled in _compile_word().findall(without_possessives):
            if spelled.isascii():
                words.append(_expand_word(spelled[:MAX_TERM_CHARS], language))
            else:
                words += [token.terms for token in _tokenize_non_ascii(0, spelled, language)]
    return " ".join([term for terms in words for term in terms]), len(words)


def parse_query_terms(query: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the alternative terms of each word of a query, in order and with repetitions.

    Args:
        query: The user's query.
        languages: Languages of the texts to search.
    """
    tokens_by_language = [list(iter_tokens(query, language)) for language in languages or [""]]
    return [
        tuple(dict.fromkeys(term for token in tokens for term in token.terms))
        for tokens in zip(*tokens_by_language, strict=True)
    ]


def _tokenize_non_ascii(at: int, spelled: str, language: str) -> Iterator[TextToken]:
    """Yield the tokens of a word with letters beyond ASCII.

    Unspaced scripts yield pairs of letters.
    """
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
    """Return the index terms of a word, without duplicates."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", spelled).casefold())
    forms = [_strip_accents(_stem_word(folded, language)), _strip_accents(folded)]
    if (spelled.isascii() and not spelled.islower()) or "_" in spelled:
        parts = IDENTIFIER_PART.findall(spelled)
        if len(parts) > 1:
            forms += [_stem_word(part.lower(), language) for part in parts]
    return tuple(dict.fromkeys(term for form in forms for term in TERM_CHARS.findall(form)))


def _strip_accents(word: str) -> str:
    """Remove accents and invisible joiners."""
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
    r"""Return the characters that may follow a word's first letter: Python's `\w` lacks combining marks.

    Only those of the first plane, because a larger class is many times slower on every text.
    """
    marks = [code for code in range(0x300, 0x1_0000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"}]
    return "\\w" + "".join(map(chr, marks)) + "\u00ad\u200c\u200d"


@lru_cache(maxsize=1)
def _compile_word() -> re.Pattern[str]:
    return re.compile(rf"\w[{_build_word_class()}]*")


@lru_cache(maxsize=1)
def _compile_word_char() -> re.Pattern[str]:
    """Match a letter, or a mark that follows letters."""
    return re.compile(rf"[{_build_word_class()}]")


@lru_cache(maxsize=1)
def _compile_possessive() -> re.Pattern[str]:
    return re.compile(rf"(?<=['’])[sS](?![{_build_word_class()}])")
