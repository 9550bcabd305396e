"""From the passages that web_fetch returns to short quotes, each with its place in the document."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from demo.agent import Agent, Answer
from outrider.core.text import extract_terms
from outrider.pages.passage_ranking import spell_out_names

LONGEST = 320  # characters of a quote
# A line that goes on in small letters belongs to the one before: listings and plain texts break their sentences.
SENTENCE = re.compile(r"(?:(?<=[.!?|])\s+|\n\s*\n|\n(?![ \t]*[a-z]))(?::\s+)?")
# Words that say nothing about what is asked.
COMMON = frozenset(
    extract_terms(
        "a an and are as at be by can do does for from how i if in is it its me my not of on or should so that the "
        "their this to use we what when where which who why will with you your"
    )
)
ABOUT = 0.3  # a quote that is worth less than this share of the question is about something else

NEAR = 0.5  # and one that is worth less than this share of the best adds nothing


@dataclass(frozen=True)
class Quote:
    """A verbatim piece of a document: the characters from `start` to `end` of its text."""

    url: str
    title: str
    start: int
    end: int
    text: str
    score: float


def marks(text: str) -> set[str]:
    """What a text is about, roughly: its words without plural endings and common ones, and each two in a row."""
    words = [word for word in extract_terms(spell_out_names(text)) if word not in COMMON]
    words = [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]
    return {*words, *(f"{one} {next_one}" for one, next_one in pairwise(words))}


def best(question: str, pages: Mapping[str, Answer], most: int) -> list[Quote]:
    """The best quotes from the passages that some pages gave for a question, best first."""
    passages = [(url, page, *passage) for url, page in pages.items() for passage in _passages(page)]
    weights = _weights(marks(question), [text for *_, text in passages])
    quotes = [_quote(weights, *passage) for passage in passages]
    about = max(ABOUT * sum(weights.values()), NEAR * max((each.score for each in quotes), default=0))
    ranked = sorted((each for each in quotes if each.score >= about), key=lambda each: -each.score)
    return list({" ".join(each.text.split()): each for each in reversed(ranked)}.values())[::-1][:most]


def _passages(page: Answer) -> Iterable[tuple[int, str]]:
    """Where each passage begins, and its text."""
    rest = page.text
    for place in page.meta.get("outrider/excerpts", []):
        _, _, rest = rest.partition(f"[{place['start']}-{place['end']}]\n")
        yield place["start"], rest[: place["end"] - place["start"]]


def _weights(wanted: set[str], texts: list[str]) -> dict[str, float]:
    """What each mark of the question is worth: the more, the rarer it is among the sentences."""
    sentences = [marks(text[at:end]) for text in texts for at, end in _sentences(text)]
    return {mark: math.log(1 + len(sentences) / (1 + sum(mark in each for each in sentences))) for mark in wanted}


def told(question: str, texts: list[str]) -> list[tuple[str, float]]:
    """Of each text the one or two sentences that say most to a question, and what they are worth."""
    weights = _weights(marks(question), texts)
    runs = [_best_run(weights, text) for text in texts]
    return [(text[at:end], worth) for text, (at, end, worth) in zip(texts, runs, strict=True)]


def _quote(weights: Mapping[str, float], url: str, page: Answer, start: int, passage: str) -> Quote:
    at, end, worth = _best_run(weights, passage)
    return Quote(url, page.meta.get("outrider/title", ""), start + at, start + end, passage[at:end], worth)


def _best_run(weights: Mapping[str, float], passage: str) -> tuple[int, int, float]:
    """Where the one or two sentences are that are worth most, and what; of two that are worth as much, the shorter."""
    pieces = _sentences(passage)
    runs = [(at, end) for number, (at, _) in enumerate(pieces) for _, end in pieces[number : number + 2]]
    runs = [(at, end) for at, end in runs if end - at <= LONGEST] or [(0, min(len(passage), LONGEST))]
    worth = {run: sum(weights.get(mark, 0) for mark in marks(passage[slice(*run)])) for run in runs}
    at, end = max(runs, key=lambda run: (worth[run], run[0] - run[1]))
    return at, end, worth[at, end]


def _sentences(passage: str) -> list[tuple[int, int]]:
    """Where each sentence begins and ends."""
    gaps = [(gap.start(), gap.end()) for gap in SENTENCE.finditer(passage)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(passage.rstrip())]
    return [(at, end) for at, end in zip(starts, ends, strict=True) if end > at]


async def holds(agent: Agent, quote: Quote) -> bool:
    """Whether the document has exactly these characters at that place: it is read again there."""
    # A little more than the quote, because what is read ends at a boundary.
    again = await agent.call("web_fetch", url=quote.url, offset=quote.start, max_chars=2 * len(quote.text) + 100)
    _, _, body = again.text.partition(">\n") if "<untrusted-" in again.text else ("", "", again.text)
    return body.startswith(quote.text)
