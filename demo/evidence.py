"""Choose short quotes from the passages of web_fetch, each with its position in the document."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from demo.agent import Agent, ToolAnswer
from outrider.core.text import extract_terms
from outrider.pages.passage_ranking import spell_out_names

MAX_QUOTE_CHARS = 320
# A line that continues in lower case belongs to the one before, because plain text breaks its sentences.
SENTENCE_BREAK = re.compile(r"(?:(?<=[.!?|])\s+|\n\s*\n|\n(?![ \t]*[a-z]))(?::\s+)?")
STOP_WORDS = frozenset(
    extract_terms(
        "a an and are as at be by can do does for from how i if in is it its me my not of on or should so that the "
        "their this to use we what when where which who why will with you your"
    )
)
MIN_QUESTION_SHARE = 0.3  # a quote that scores a smaller share of the question is about something else
MIN_BEST_SHARE = 0.5  # a quote that scores a smaller share of the best one adds nothing


@dataclass(frozen=True)
class Quote:
    """A verbatim piece of a document: the characters from `start` to `end` of its text."""

    url: str
    title: str
    start: int
    end: int
    text: str
    score: float


def extract_features(text: str) -> set[str]:
    """Return the words of a text, without stop words and plural endings, and its pairs of words."""
    words = [word for word in extract_terms(spell_out_names(text)) if word not in STOP_WORDS]
    words = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return {*words, *(f"{one} {next_one}" for one, next_one in pairwise(words))}


def find_best_quotes(question: str, pages: Mapping[str, ToolAnswer], limit: int) -> list[Quote]:
    """Return the best quotes from the passages of pages, best first."""
    passages = [(url, page, *passage) for url, page in pages.items() for passage in _iter_passages(page)]
    weights = _compute_weights(extract_features(question), [text for *_, text in passages])
    quotes = [_build_quote(weights, *passage) for passage in passages]
    min_score = max(
        MIN_QUESTION_SHARE * sum(weights.values()), MIN_BEST_SHARE * max((each.score for each in quotes), default=0)
    )
    ranked = sorted((each for each in quotes if each.score >= min_score), key=lambda each: -each.score)
    return list({" ".join(each.text.split()): each for each in reversed(ranked)}.values())[::-1][:limit]


def _iter_passages(page: ToolAnswer) -> Iterable[tuple[int, str]]:
    """Yield the offset and text of each passage."""
    rest = page.text
    for span in page.meta.get("outrider/excerpts", []):
        _, _, rest = rest.partition(f"[{span['start']}-{span['end']}]\n")
        yield span["start"], rest[: span["end"] - span["start"]]


def _compute_weights(features: set[str], texts: list[str]) -> dict[str, float]:
    """Return the weight of each feature: the rarer it is among the sentences, the higher."""
    sentences = [extract_features(text[start:end]) for text in texts for start, end in _split_sentences(text)]
    return {
        feature: math.log(1 + len(sentences) / (1 + sum(feature in each for each in sentences))) for feature in features
    }


def pick_sentences(question: str, texts: list[str]) -> list[tuple[str, float]]:
    """Return the one or two sentences of each text that best match a question, and their score."""
    weights = _compute_weights(extract_features(question), texts)
    spans = [_find_best_span(weights, text) for text in texts]
    return [(text[start:end], score) for text, (start, end, score) in zip(texts, spans, strict=True)]


def _build_quote(weights: Mapping[str, float], url: str, page: ToolAnswer, offset: int, passage: str) -> Quote:
    start, end, score = _find_best_span(weights, passage)
    return Quote(url, page.meta.get("outrider/title", ""), offset + start, offset + end, passage[start:end], score)


def _find_best_span(weights: Mapping[str, float], passage: str) -> tuple[int, int, float]:
    """Return start, end and score of the best one or two sentences; of equals the shorter."""
    sentences = _split_sentences(passage)
    spans = [(start, end) for number, (start, _) in enumerate(sentences) for _, end in sentences[number : number + 2]]
    spans = [span for span in spans if span[1] - span[0] <= MAX_QUOTE_CHARS]
    spans = spans or [(0, min(len(passage), MAX_QUOTE_CHARS))]
    scores = {span: sum(weights.get(each, 0) for each in extract_features(passage[slice(*span)])) for span in spans}
    start, end = max(spans, key=lambda span: (scores[span], span[0] - span[1]))
    return start, end, scores[start, end]


def _split_sentences(passage: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence."""
    gaps = [(gap.start(), gap.end()) for gap in SENTENCE_BREAK.finditer(passage)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(passage.rstrip())]
    return [(start, end) for start, end in zip(starts, ends, strict=True) if end > start]


async def verify_quote(agent: Agent, quote: Quote) -> bool:
    """Read the document again at the quote's position; return whether it has exactly these characters."""
    # A little more than the quote, because a part ends at a word boundary.
    again = await agent.call("web_fetch", url=quote.url, offset=quote.start, max_chars=2 * len(quote.text) + 100)
    _, _, body = again.text.partition(">\n") if "<untrusted-" in again.text else ("", "", again.text)
    return body.startswith(quote.text)
