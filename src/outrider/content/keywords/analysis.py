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

from outrider.core.text import ACCENTS, UNSPACED

LONGEST = 64  # characters of a word that count
MANY = 20_000  # words that are remembered for a query
FEW = 16  # different words that are searched for one by one
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
WORD_ONLY = re.compile(r"\w+")
STEMMING = threading.Lock()  # a stemmer keeps the word that it works on in itself


class Word(NamedTuple):
    """A word of a text.

    Attributes:
        start, end: Its place, in characters.
        terms: What stands for it in an index, each once.
    """

    start: int
    end: int
    terms: tuple[str, ...]


def words(text: str, language: str, only: frozenset[str] | None = None) -> Iterator[Word]:
    """The words of a text with their places and index terms.

    Args:
        text: Of any script.
        language: A stemmer's name, or empty.
        only: Those alone that have one of these terms.
    """
    for found in _word().finditer(text) if only is None else _likely(text, language, only):
        spelled = found[0]
        if not spelled.isascii():
            inner = _foreign(found.start(), spelled, language)
            yield from inner if only is None else (word for word in inner if not only.isdisjoint(word.terms))
            continue
        terms = _terms(spelled if len(spelled) <= LONGEST else spelled[:LONGEST], language)
        if only is None or not only.isdisjoint(terms):
            if spelled in {"s", "S"} and text[max(found.start() - 1, 0)] in "'’":
                continue
            yield Word(found.start(), found.end(), terms)


def _likely(text: str, language: str, only: frozenset[str]) -> Iterable[re.Match[str]]:
    """The words that may have one of these terms: others are looked at once, however often they occur."""
    spelled = set(_word().findall(text))
    others = _others(language, only)
    if len(others) > MANY:
        others.clear()
    new = spelled - others
    others.update(each for each in new if each.isascii() and only.isdisjoint(_terms(each[:LONGEST], language)))
    wanted = new - others
    if len(wanted) > FEW or not all(map(str.isascii, wanted)):
        return (found for found in _word().finditer(text) if found[0] in wanted)
    return sorted((found for each in wanted for found in _places(text, each)), key=re.Match.start)


def _places(text: str, spelled: str) -> Iterator[re.Match[str]]:
    """Where a word stands as a whole."""
    at = text.find(spelled)
    while at != -1:
        found = _word().match(text, at)
        if found and found.end() == at + len(spelled) and _begins(text, at):
            yield found
        at = text.find(spelled, at + 1)


def _begins(text: str, at: int) -> bool:
    """Whether a letter there is the first of its word; marks that follow no letter belong to none."""
    while at and _within().match(text, at - 1):
        at -= 1
        if text[at].isalnum() or text[at] == "_":
            return False
    return True


@lru_cache(maxsize=8)
def _others(language: str, only: frozenset[str]) -> set[str]:  # noqa: ARG001 - the key
    """Words in plain letters that are known to have none of these terms; filled while texts are looked at."""
    return set()


def index_terms(texts: Iterable[str], language: str) -> tuple[str, int]:
    """All terms of some texts with a space between them, and the number of words."""
    found = [terms for text in texts for terms in _all_terms(text, language)]
    return " ".join([term for terms in found for term in terms]), len(found)


def query_terms(query: str, languages: Sequence[str]) -> list[tuple[str, ...]]:
    """For each word of a query, in order and as often as it occurs, the terms that it may stand for.

    Args:
        query: What somebody looks for.
        languages: Of the texts that are searched.
    """
    readings = [list(words(query, language)) for language in languages or [""]]
    return [tuple(dict.fromkeys(term for word in same for term in word.terms)) for same in zip(*readings, strict=True)]


def _all_terms(text: str, language: str) -> Iterator[tuple[str, ...]]:
    """The terms of each of the `words`, several times as fast, since places are not asked for."""
    if "'" in text or "’" in text:
        text = _possessive().sub("", text)
    for spelled in _word().findall(text):
        if spelled.isascii():
            yield _terms(spelled if len(spelled) <= LONGEST else spelled[:LONGEST], language)
        else:
            yield from [word.terms for word in _foreign(0, spelled, language)]


def _foreign(at: int, spelled: str, language: str) -> Iterator[Word]:
    """A word with letters beyond ASCII; of an unspaced script its pairs of letters."""
    end = 0
    for run in UNSPACED.finditer(spelled):
        if run.start() > end:
            yield Word(at + end, at + run.start(), _terms(spelled[end : run.start()][:LONGEST], language))
        for place in range(run.start(), max(run.end() - 1, run.start() + 1)):
            pair = spelled[place : min(place + 2, run.end())]
            yield Word(at + place, at + place + len(pair), _terms(pair, ""))
        end = run.end()
    if end < len(spelled):
        yield Word(at + end, at + len(spelled), _terms(spelled[end:][:LONGEST], language))


@lru_cache(maxsize=200_000)
def _terms(spelled: str, language: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", spelled).casefold())
    found = [_plain(_stemmed(folded, language)), _plain(folded)]
    if (spelled.isascii() and not spelled.islower()) or "_" in spelled:
        found += _parts(spelled, language)
    return tuple(dict.fromkeys(term for each in found for term in WORD_ONLY.findall(each)))


def _parts(spelled: str, language: str) -> list[str]:
    parts = PARTS.findall(spelled)
    return [_stemmed(part.lower(), language) for part in parts] if len(parts) > 1 else []


def _plain(word: str) -> str:
    """Without accents and invisible joints."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", ACCENTS.sub("", unicodedata.normalize("NFKD", word)))


def _stemmed(word: str, language: str) -> str:
    if not language:
        return word
    with STEMMING:
        return _stemmer(language).stemWord(word)


@lru_cache(maxsize=40)
def _stemmer(language: str) -> Any:
    return snowballstemmer.stemmer(language)


@lru_cache(maxsize=1)
def _inside() -> str:
    """What a word may have after its first letter: Python's own class of word letters lacks the marks.

    Only those of the first plane: a class that goes beyond it takes eight times as long for every text.
    """
    marks = [code for code in range(0x300, 0x1_0000) if unicodedata.category(chr(code)) in {"Mn", "Mc", "Me"}]
    return "\\w" + "".join(map(chr, marks)) + "\u00ad\u200c\u200d"


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    return re.compile(rf"\w[{_inside()}]*")


@lru_cache(maxsize=1)
def _within() -> re.Pattern[str]:
    """A letter, or a mark as they follow letters."""
    return re.compile(rf"[{_inside()}]")


@lru_cache(maxsize=1)
def _possessive() -> re.Pattern[str]:
    return re.compile(rf"(?<=['’])[sS](?![{_inside()}])")
