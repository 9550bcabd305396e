"""The passages of a document that answer a question, with their exact places.

Ranking is BM25 (Robertson and Zaragoza 2009) with the passages of the one document as collection;
the headings above a passage, and that of the table whose rows it has, count as a part of it, since they say what it is
about. A passage that has more of the question's words goes before one that has few of them often. Addresses of links
are no words, and those of which every question is made count little.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

from outrider.core.markdown import fenced
from outrider.core.text import count_tokens, cut, cut_tokens, terms

K1 = 1.2
B = 0.75
HEADING_WEIGHT = 0.5  # of a word in the headings above against one in the passage
TARGET = 700  # characters of a passage: blocks are joined up to this and cut beyond twice this
HEADING = re.compile(r"(#{1,6}) +(.+)")
BREAK = re.compile(r"\n{2,}")
ADDRESS = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<?https?://[^\s)>]+>?")
TABLE = re.compile(r"^(\|[^\n]{1,600})\n\|(?: *:?-{3,}:? *\|)+ *$", re.MULTILINE)
SENTENCE = re.compile(r"\n+|[.!?] +|[。！？]")
FLOOR = 0.2  # of the best score, below which a passage is not worth its tokens: on 46 questions a fifth of them
COVERED = 0.5  # of a passage's score depends on how much of the question it has
# Words of which questions are made, in the languages that most of them are asked in, as `terms` writes them.
ASKING = frozenset(
    "a an the of to in on at by for with from and or is are was were be been do does did can could should would "  # noqa: SIM905
    "will how what which who whom whose when where why i you he she it we they my your its this that these those there "
    "if as not have has had any some about into than then so me us please tell find get use "
    "der die das den dem des ein eine einen einem einer und oder ist sind war wie was wer wo wann warum welche welcher "
    "welches kann ich man es sich mit von zu zum zur im am auf fur "
    "le la les un une des du de et ou est sont comment que quoi qui quand pourquoi quel quelle dans sur pour avec par "
    "el los las una y o es son como que cual quien cuando donde por para con en del al "
    "il lo gli uno e di che chi quando dove perche nel con per da os as um uma do da em no na".split()
)
LIGHT = 0.15  # what these count against other words
ENDINGS = ("ing", "ed", "es", "s", "ly")  # of English words, which a question and its answer may have in other forms
STEM = 4  # letters that are left of a word at least
SMALLEST = 30  # tokens for which it is worth cutting a passage to what is left of the budget
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
    """A piece of the text under its headings, and under that of the table whose further rows it has."""

    start: int
    end: int
    headings: tuple[str, ...]
    columns: str = ""


def excerpts(markdown: str, query: str, *, max_tokens: int) -> list[Excerpt]:
    """The best passages in document order, neighbours joined, together at most `max_tokens` tokens.

    Empty if no passage shares a word with the query.
    """
    wanted = set(map(_stem, terms(query)))
    if not wanted or max_tokens < 1:
        return []
    found = passages(markdown)
    scores = _scores(markdown, found, wanted)
    least = FLOOR * max(scores, default=0.0)
    ranked = sorted((at for at in range(len(found)) if scores[at] > least), key=lambda at: (-scores[at], at))
    chosen = _chosen(markdown, [(found[at], scores[at]) for at in ranked], max_tokens, wanted)
    return _within(_joined(markdown, chosen), max_tokens)


def passages(markdown: str) -> list[Passage]:
    """The text in pieces of a few hundred characters that do not cross headings; they cover every letter."""
    result: list[Passage] = []
    path: list[tuple[int, str]] = []
    start: int | None = None
    code = fenced(markdown)
    for begin, end in _blocks(markdown):
        heading = HEADING.match(markdown, begin, end)
        if heading and _lies_in(code, begin):
            heading = None
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


def _lies_in(spans: list[tuple[int, int]], place: int) -> bool:
    """Whether a place lies within one of the spans, which are in order."""
    at = bisect_left(spans, (place, 0)) - 1
    return at >= 0 and place < spans[at][1]


def _blocks(markdown: str) -> list[tuple[int, int]]:
    """The places of what stands between empty lines."""
    edges = [0, *(edge for match in BREAK.finditer(markdown) for edge in match.span()), len(markdown)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(begin, end) for begin, end in pairs if end > begin and not markdown[begin:end].isspace()]


def _pieces(markdown: str, passage: Passage) -> list[Passage]:
    """A passage in parts of about the aimed size, at the ends of lines wherever lines are no longer than that."""
    if passage.end - passage.start <= 2 * TARGET:
        return [passage]
    pieces, at, columns = [], passage.start, _columns(markdown, passage)
    while at < passage.end:
        end = _end(markdown, at, passage.end)
        pieces.append(Passage(at, end, passage.headings, columns if markdown.startswith("|", at) else ""))
        at = end
    return pieces


def _end(markdown: str, at: int, last: int) -> int:
    """Where a part that begins at a place ends: behind its last line that fits, or its first, or within that one."""
    if last - at <= TARGET:
        return last
    line = markdown.rfind("\n", at, at + TARGET) + 1 or markdown.find("\n", at, at + 2 * TARGET) + 1
    return line if line > at else at + len(cut(markdown[at : min(last, at + 2 * TARGET)], TARGET).text)


def _scores(markdown: str, found: list[Passage], wanted: set[str]) -> list[float]:
    counts, lengths, above = [], [], []
    context: dict[tuple[str, ...], set[str]] = {}
    for passage in found:
        words = _words(markdown[passage.start : passage.end])
        lengths.append(len(words))
        counts.append(Counter(word for word in words if word in wanted))
        around = (*passage.headings, passage.columns)
        if around not in context:
            context[around] = wanted & set(_words(" ".join(around)))
        above.append(context[around])
    rarity = _rarity([count.keys() | words for count, words in zip(counts, above, strict=True)], wanted)
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    most = sum(rarity.values()) or 1.0
    return [
        sum(
            rarity[word] * _weight(counts[at][word] + HEADING_WEIGHT * (word in above[at]), lengths[at] / mean)
            for word in wanted
        )
        * (1 - COVERED + COVERED * sum(rarity[word] for word in counts[at].keys() | above[at]) / most)
        for at in range(len(found))
    ]


def _columns(markdown: str, passage: Passage) -> str:
    """The heading of the table in a passage; empty if there is none."""
    head = TABLE.search(markdown, passage.start, passage.end)
    return head[1] if head else ""


def _words(text: str) -> list[str]:
    """The text's terms without endings, and without addresses: a question says keeper where the text says keepers."""
    return [_stem(word) for word in terms(ADDRESS.sub(" ", text) if "(" in text or "://" in text else text)]


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(map(_stem, ASKING))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    if not word.isascii():
        return word
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > STEM else word


def _rarity(having: list[set[str]], wanted: set[str]) -> dict[str, float]:
    total = len(having)
    holding = Counter(word for words in having for word in words)
    asking = _asking()
    return {
        word: math.log(1 + (total - holding[word] + 0.5) / (holding[word] + 0.5)) * (LIGHT if word in asking else 1)
        for word in wanted
    }


def _weight(count: float, length: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length)) if count else 0.0


def _chosen(markdown: str, ranked: list[tuple[Passage, float]], budget: int, wanted: set[str]) -> list[Excerpt]:
    """The best that fit; the last one may be cut to what is left, around what matches."""
    chosen: list[Excerpt] = []
    for passage, score in ranked[:TRIED]:
        start, text = passage.start, markdown[passage.start : passage.end]
        used = count_tokens(text)
        if used > budget:
            if budget < SMALLEST and chosen:
                break
            start += _place(text, wanted)
            text = cut_tokens(markdown[start : passage.end], budget).text
            used = count_tokens(text)
            if not text.strip() or used > budget:
                break
        headings = tuple(each for each in passage.headings if each not in text)
        chosen.append(Excerpt(text, start, start + len(text), score, headings))
        budget -= used
    return chosen


def _place(text: str, wanted: set[str]) -> int:
    """Where the line or sentence with the most of the wanted words begins; of several, the first."""
    starts = [0, *(found.end() for found in SENTENCE.finditer(text))]
    edges = [*starts[1:], len(text)]
    held = [len(wanted & set(_words(text[start:end]))) for start, end in zip(starts, edges, strict=True)]
    return starts[max(range(len(starts)), key=lambda at: (held[at], -at))]


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
