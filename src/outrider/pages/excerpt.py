"""The passages of a document that answer a question, with their exact places.

Ranking is BM25 (Robertson and Zaragoza 2009) with the passages of the one document as collection;
the headings above a passage count as a part of it, since they say what it is about.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace

from outrider.core.text import count_tokens, cut, cut_tokens, terms

K1 = 1.2
B = 0.75
HEADING_WEIGHT = 0.5  # of a word in the headings above against one in the passage
TARGET = 700  # characters of a passage: blocks are joined up to this and cut beyond twice this
HEADING = re.compile(r"(#{1,6}) +(.+)")
BREAK = re.compile(r"\n{2,}")
SMALLEST = 12  # tokens for which it is worth cutting a passage to what is left of the budget
TRIED = 200  # passages that are tried for the budget


@dataclass(frozen=True)
class Excerpt:
    """A part of a document: `markdown[start:end] == text`. A higher score is better.

    `headings` are those that it stands under and does not hold itself, the widest first.
    """

    text: str
    start: int
    end: int
    score: float
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Passage:
    """A piece of the text under its headings."""

    start: int
    end: int
    headings: tuple[str, ...]


def excerpts(markdown: str, query: str, *, max_tokens: int) -> list[Excerpt]:
    """The best passages in document order, neighbours joined, together at most `max_tokens` tokens.

    Empty if no passage shares a word with the query.
    """
    wanted = set(_words(query))
    if not wanted or max_tokens < 1:
        return []
    found = passages(markdown)
    scores = _scores(markdown, found, wanted)
    ranked = sorted((at for at in range(len(found)) if scores[at] > 0), key=lambda at: (-scores[at], at))
    chosen = _chosen(markdown, [(found[at], scores[at]) for at in ranked], max_tokens)
    return _within(_joined(markdown, chosen), max_tokens)


def passages(markdown: str) -> list[Passage]:
    """The text in pieces of a few hundred characters that do not cross headings; they cover every letter."""
    result: list[Passage] = []
    path: list[tuple[int, str]] = []
    start: int | None = None
    for begin, end in _blocks(markdown):
        heading = HEADING.match(markdown, begin, end)
        crosses = start is not None and (heading is not None or end - start > TARGET)
        if crosses and result:
            start = None
        if heading:
            path = [
                *((level, words) for level, words in path if level < len(heading[1])),
                (len(heading[1]), heading[2]),
            ]
        words = tuple(text for _, text in path)
        if start is not None and result:
            result[-1] = Passage(start, end, words)
        else:
            result.append(Passage(begin, end, words))
            start = begin
    return [piece for passage in result for piece in _pieces(markdown, passage)]


def _blocks(markdown: str) -> list[tuple[int, int]]:
    """The places of what stands between empty lines."""
    edges = [0, *(edge for match in BREAK.finditer(markdown) for edge in match.span()), len(markdown)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(begin, end) for begin, end in pairs if end > begin and not markdown[begin:end].isspace()]


def _pieces(markdown: str, passage: Passage) -> list[Passage]:
    if passage.end - passage.start <= 2 * TARGET:
        return [passage]
    text, at, pieces = markdown[passage.start : passage.end], 0, []
    while at < len(text):
        piece = cut(text[at : at + 2 * TARGET], TARGET).text if len(text) - at > 2 * TARGET else text[at:]
        pieces.append(Passage(passage.start + at, passage.start + at + len(piece), passage.headings))
        at += len(piece)
    return pieces


def _scores(markdown: str, found: list[Passage], wanted: set[str]) -> list[float]:
    counts, lengths = [], []
    context: dict[tuple[str, ...], set[str]] = {}
    for passage in found:
        words = _words(markdown[passage.start : passage.end])
        lengths.append(len(words))
        counts.append(Counter(word for word in words if word in wanted))
        if passage.headings not in context:
            context[passage.headings] = wanted & set(_words(" ".join(passage.headings)))
    above = [context[passage.headings] for passage in found]
    rarity = _rarity([count.keys() | words for count, words in zip(counts, above, strict=True)], wanted)
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    return [
        sum(
            rarity[word] * _weight(counts[at][word] + HEADING_WEIGHT * (word in above[at]), lengths[at] / mean)
            for word in wanted
        )
        for at in range(len(found))
    ]


def _words(text: str) -> list[str]:
    """The text's terms, without the s of English plurals: a question says keeper where the text says keepers."""
    return [word[:-1] if word[-1] == "s" and len(word) > 3 and word[-2] != "s" else word for word in terms(text)]


def _rarity(having: list[set[str]], wanted: set[str]) -> dict[str, float]:
    total = len(having)
    holding = Counter(word for words in having for word in words)
    return {word: math.log(1 + (total - holding[word] + 0.5) / (holding[word] + 0.5)) for word in wanted}


def _weight(count: float, length: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length)) if count else 0.0


def _chosen(markdown: str, ranked: list[tuple[Passage, float]], budget: int) -> list[Excerpt]:
    """The best that fit; the last one may be cut to what is left."""
    chosen: list[Excerpt] = []
    for passage, score in ranked[:TRIED]:
        text = markdown[passage.start : passage.end]
        used = count_tokens(text)
        if used > budget:
            if budget < SMALLEST and chosen:
                break
            text = cut_tokens(text, budget).text
            used = count_tokens(text)
            if not text.strip() or used > budget:
                break
        headings = tuple(each for each in passage.headings if each not in text)
        chosen.append(Excerpt(text, passage.start, passage.start + len(text), score, headings))
        budget -= used
    return chosen


def _joined(markdown: str, chosen: list[Excerpt]) -> list[Excerpt]:
    """In document order; passages with nothing but white space between them become one."""
    result: list[Excerpt] = []
    for each in sorted(chosen, key=lambda excerpt: excerpt.start):
        before = result[-1] if result else None
        if before and not markdown[before.end : each.start].strip():
            score = max(before.score, each.score)
            result[-1] = Excerpt(markdown[before.start : each.end], before.start, each.end, score, before.headings)
        else:
            result.append(each)
    return [_trimmed(each) for each in result]


def _trimmed(excerpt: Excerpt) -> Excerpt:
    """Without white space at its ends."""
    text = excerpt.text.strip()
    start = excerpt.start + len(excerpt.text) - len(excerpt.text.lstrip())
    return Excerpt(text, start, start + len(text), excerpt.score, excerpt.headings)


def _within(found: list[Excerpt], budget: int) -> list[Excerpt]:
    """Joining costs a token here and there: the worst go until it fits."""
    found = [each for each in found if each.text]
    costs = {each.start: count_tokens(each.text) for each in found}
    while found and sum(costs[each.start] for each in found) > budget:
        worst = min(found, key=lambda each: each.score)
        if len(found) == 1:
            text = cut_tokens(worst.text, budget).text.rstrip()
            fits = text and count_tokens(text) <= budget
            return [replace(worst, text=text, end=worst.start + len(text))] if fits else []
        found.remove(worst)
    return found
