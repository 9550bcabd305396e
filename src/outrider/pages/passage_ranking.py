"""Rank passages by BM25, with all documents as the collection.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. The headings above a passage,
and the header of its table, count as a part of it. A passage with more distinct words of the question ranks before one
that repeats few of them. Link addresses are not words, and typical question words count little.
"""

import math
import re
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import snowballstemmer

from outrider.core.markdown import find_code_blocks
from outrider.core.text import QUESTION_WORD_WEIGHT, QUESTION_WORDS, extract_terms
from outrider.pages.passages import DocumentPassage, split_passages

BM25_K1 = 1.2
NO_COUNTS: Mapping[str, int] = {}  # one object for all texts without a term of the query
LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<?https?://[^\s)>]+>?")
# For instance `ThreadPool`; bounded, because hostile words may have the length of a page.
JOINED_NAME = re.compile(r"\b(?=[A-Za-z]{0,40}[a-z][A-Z][a-z])[A-Za-z]++\b")
NAME_JOINT = re.compile(r"[a-z][A-Z][a-z]")
INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
STEMMER_LOCK = threading.Lock()  # a stemmer holds the current word in its own state


@dataclass(frozen=True)
class ScoredDocument:
    """A document to compare with others: its title, its address and its text."""

    title: str
    address: str
    markdown: str


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often a text has each query term, and its word count."""

    counts: Mapping[str, int]
    words: int


class MatchedStems(dict[str, str]):
    """By word, the stem that it shares with a query, or "". Fills itself: each word is stemmed once."""

    def __init__(self, query: str) -> None:
        super().__init__()
        words = extract_terms(query)
        self.query_stems = frozenset(map(_stem_word, words))
        # Stemming takes far longer than this comparison, and does not change how a word begins.
        self._beginnings = frozenset(word[:2] for word in words)

    def __missing__(self, word: str) -> str:
        stem = _stem_word(word) if word[:2] in self._beginnings else ""
        self[word] = stem if stem in self.query_stems else ""
        return self[word]


class QueryTerms:
    """The stemmed words of a query, and how to count them in a text.

    Attributes:
        stems: Each once.
    """

    def __init__(self, query: str) -> None:
        self._matched = MatchedStems(query)
        self.stems = self._matched.query_stems
        self._known_terms: dict[tuple[tuple[str, ...], int], TermCounts] = {}

    def count(self, text: str) -> TermCounts:
        """Count the terms of the query in a text, without its link addresses.

        Texts with the same terms share their counts, which must not be changed: a text may have 200,000 passages.
        """
        max_known_stems, max_known_terms = 8, 10_000
        if "(" in text or "://" in text:
            text = LINK_TARGET.sub(" ", text)
        words = extract_terms(spell_out_names(text))
        matched = self._matched
        stems = tuple([stem for word in words if (stem := matched[word])])
        key = stems, len(words)
        terms = self._known_terms.get(key)
        if terms is None:
            terms = TermCounts(Counter(stems) if stems else NO_COUNTS, len(words))
            if len(stems) <= max_known_stems and len(self._known_terms) < max_known_terms:
                self._known_terms[key] = terms
        return terms

    def weigh(self, terms_by_passage: Iterable[Iterable[str]], total: int) -> dict[str, float]:
        """Return the inverse document frequency of each term, lowered for typical question words."""
        frequency = Counter(term for terms in terms_by_passage for term in terms)
        question_words = _stem_question_words()
        return {
            term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
            * (QUESTION_WORD_WEIGHT if term in question_words else 1)
            for term in self.stems
        }


@dataclass(frozen=True)
class PassageScores:
    """The scores of passages, and the weights of the query's terms."""

    scores: Sequence[float]
    weights: Mapping[str, float]


def score_documents(documents: Sequence[ScoredDocument], query: str) -> list[float]:
    """Return a score for each document: that of its best passage, and that of its title and address.

    The passages of all documents are one collection, and so are the titles, so that the scores can be compared.
    """
    title_weight = 0.6  # against the best passage
    query_terms = QueryTerms(query)
    passages: list[DocumentPassage] = []
    counts: list[TermCounts] = []
    owners: list[int] = []
    names: list[str] = []
    for number, document in enumerate(documents):
        name = f"{document.title} {' '.join(extract_terms(document.address))}"
        names.append(name)
        for passage in split_passages(document.markdown, find_code_blocks(document.markdown)):
            passages.append(replace(passage, headings=(name, *passage.headings)))
            counts.append(query_terms.count(document.markdown[passage.start : passage.end]))
            owners.append(number)
    best = [0.0] * len(documents)
    for number, score in zip(owners, score_passages(passages, counts, query_terms).scores, strict=True):
        best[number] = max(best[number], score)
    titles = [DocumentPassage(0, len(name), ()) for name in names]
    title_scores = score_passages(titles, [query_terms.count(name) for name in names], query_terms).scores
    return [passage + title_weight * title for passage, title in zip(best, title_scores, strict=True)]


def score_passages(
    passages: Sequence[DocumentPassage], counts: Sequence[TermCounts], query_terms: QueryTerms
) -> PassageScores:
    """Score passages of one or several documents, given with their terms, among all of them."""
    heading_weight = 0.5  # of a word in the headings, against one in the passage
    length_normalization = 0.75
    terms_by_headings: dict[tuple[str, ...], frozenset[str]] = {}
    heading_terms = []
    for passage in passages:
        headings = (*passage.headings, passage.columns)
        if headings not in terms_by_headings:
            terms_by_headings[headings] = frozenset(query_terms.count(" ".join(headings)).counts)
        heading_terms.append(terms_by_headings[headings])
    terms = (
        own.counts.keys() | above if above else own.counts for own, above in zip(counts, heading_terms, strict=True)
    )
    weights = query_terms.weigh(terms, len(counts))
    merged = (
        {term: own.counts.get(term, 0) + heading_weight * (term in above) for term in own.counts.keys() | above}
        if above
        else own.counts
        for own, above in zip(counts, heading_terms, strict=True)
    )
    return PassageScores(_score_counts(merged, [own.words for own in counts], weights, length_normalization), weights)


def score_sentences(counts: Sequence[TermCounts], weights: Mapping[str, float]) -> list[float]:
    """Score groups of sentences of one document by the weights of terms among its passages."""
    length_normalization = 0.5  # a short sentence does not say more than a longer one
    return _score_counts([own.counts for own in counts], [own.words for own in counts], weights, length_normalization)


def _score_counts(
    counts: Iterable[Mapping[str, float]], lengths: Sequence[int], weights: Mapping[str, float], normalization: float
) -> list[float]:
    """Return the BM25 score of each text.

    It is higher the more of the query's terms the text has.
    """
    coverage_weight = 0.5  # the share of a score that depends on how much of the question the text has
    mean_length = max(1.0, sum(lengths) / max(1, len(lengths)))
    total_weight = sum(weights.values()) or 1.0
    scores = []
    for own, length in zip(counts, lengths, strict=True):
        norm = BM25_K1 * (1 - normalization + normalization * length / mean_length)
        relevance = sum(weights[term] * count * (BM25_K1 + 1) / (count + norm) for term, count in own.items())
        coverage = sum(weights[term] for term in own) / total_weight
        scores.append(relevance * (1 - coverage_weight + coverage_weight * coverage))
    return scores


def spell_out_names(text: str) -> str:
    """Return the text with the words of joined names after it: `ThreadPool` is also `Thread Pool`."""
    if not NAME_JOINT.search(text):  # several times as fast
        return text
    names = [INNER_CAPITAL.sub(" ", name) for name in dict.fromkeys(JOINED_NAME.findall(text))]
    return " ".join((text, *names)) if names else text


def extract_content_words(query: str) -> list[str]:
    """Return the beginnings of a query's words that their other forms share, each once.

    Typical question words are left out unless the question has only those.
    """
    words = dict.fromkeys(extract_terms(query))
    content = [word for word in words if _stem_word(word) not in _stem_question_words()] or list(words)
    return list(dict.fromkeys(map(_find_shared_beginning, content)))


def _find_shared_beginning(word: str) -> str:
    """Return how a word and its stem begin: `stor` of `story`, whose stem is `stori`."""
    stem = _stem_word(word)
    while not word.startswith(stem):
        stem = stem[:-1]
    return stem


@lru_cache(maxsize=1)
def _stem_question_words() -> frozenset[str]:
    return frozenset(map(_stem_word, QUESTION_WORDS))


@lru_cache(maxsize=20_000)
def _stem_word(word: str) -> str:
    """Return an English word's stem, so that `keeper` matches `keepers`."""
    max_stemmed_chars = 40  # longer ones are not words
    if not word.isascii() or len(word) > max_stemmed_chars:
        return word
    with STEMMER_LOCK:
        return _load_stemmer().stemWord(word)


@lru_cache(maxsize=1)
def _load_stemmer() -> Any:
    return snowballstemmer.stemmer("english")
