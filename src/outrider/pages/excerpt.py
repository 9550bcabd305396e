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

from outrider.core.markdown import find_code_blocks
from outrider.core.text import count_tokens, cut_text, cut_tokens, extract_terms

TARGET_PASSAGE_CHARS = 700  # characters of a passage: blocks are joined up to this and cut beyond twice this
HEADING_LINE = re.compile(r"(#{1,6}) +(.+)")
PARAGRAPH_BREAK = re.compile(r"\n{2,}")
LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<?https?://[^\s)>]+>?")
TABLE_HEADER = re.compile(r"^(\|[^\n]{1,600})\n\|(?: *:?-{3,}:? *\|)+ *$", re.MULTILINE)
SENTENCE_END = re.compile(r"\n+|[.!?] +|[。！？]")
# Words of which questions are made, in the languages that most of them are asked in, as `terms` writes them.
QUESTION_WORDS = frozenset(
    "a an the of to in on at by for with from and or is are was were be been do does did can could should would "  # noqa: SIM905
    "will how what which who whom whose when where why i you he she it we they my your its this that these those there "
    "if as not have has had any some about into than then so me us please tell find get use "
    "der die das den dem des ein eine einen einem einer und oder ist sind war wie was wer wo wann warum welche welcher "
    "welches kann ich man es sich mit von zu zum zur im am auf fur "
    "le la les un une des du de et ou est sont comment que quoi qui quand pourquoi quel quelle dans sur pour avec par "
    "el los las una y o es son como que cual quien cuando donde por para con en del al "
    "il lo gli uno e di che chi quando dove perche nel con per da os as um uma do da em no na".split()
)


@dataclass(frozen=True)
class DocumentExcerpt:
    """A part of a document: `markdown[start:end] == text`. A higher score is better.

    `headings` are those that it stands under and does not hold itself, the widest first.
    """

    text: str
    start: int
    end: int
    score: float
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class DocumentPassage:
    """A piece of the text under its headings, and under that of the table whose further rows it has."""

    start: int
    end: int
    headings: tuple[str, ...]
    columns: str = ""


def find_excerpts(markdown: str, query: str, *, max_tokens: int) -> list[DocumentExcerpt]:
    """The best passages in document order, neighbours joined, together at most `max_tokens` tokens.

    Empty if no passage shares a word with the query.
    """
    min_score_share = (
        0.2  # of the best score, below which a passage is not worth its tokens: on 46 questions a fifth of them
    )
    wanted = set(map(_stem_word, extract_terms(query)))
    if not wanted or max_tokens < 1:
        return []
    found = split_passages(markdown)
    scores = _score_passages(markdown, found, wanted)
    least = min_score_share * max(scores, default=0.0)
    ranked = sorted((at for at in range(len(found)) if scores[at] > least), key=lambda at: (-scores[at], at))
    chosen = _select_excerpts(markdown, [(found[at], scores[at]) for at in ranked], max_tokens, wanted)
    return _fit_budget(_join_adjacent(markdown, chosen), max_tokens)


def split_passages(markdown: str) -> list[DocumentPassage]:
    """The text in pieces of a few hundred characters that do not cross headings; they cover every letter."""
    result: list[DocumentPassage] = []
    path: list[tuple[int, str]] = []
    start: int | None = None
    code = find_code_blocks(markdown)
    for begin, end in _find_blocks(markdown):
        heading = HEADING_LINE.match(markdown, begin, end)
        if heading and _is_inside(code, begin):
            heading = None
        crosses = start is not None and (heading is not None or end - start > TARGET_PASSAGE_CHARS)
        if crosses and result:
            start = None
        if heading:
            path = [
                *((level, words) for level, words in path if level < len(heading[1])),
                (len(heading[1]), heading[2]),
            ]
        words = tuple(text for _, text in path)
        if start is not None and result:
            result[-1] = DocumentPassage(start, end, words)
        else:
            result.append(DocumentPassage(begin, end, words))
            start = begin
    return [piece for passage in result for piece in _split_passage(markdown, passage)]


def _is_inside(spans: list[tuple[int, int]], place: int) -> bool:
    """Whether a place lies within one of the spans, which are in order."""
    at = bisect_left(spans, (place, 0)) - 1
    return at >= 0 and place < spans[at][1]


def _find_blocks(markdown: str) -> list[tuple[int, int]]:
    """The places of what stands between empty lines."""
    edges = [0, *(edge for match in PARAGRAPH_BREAK.finditer(markdown) for edge in match.span()), len(markdown)]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return [(begin, end) for begin, end in pairs if end > begin and not markdown[begin:end].isspace()]


def _split_passage(markdown: str, passage: DocumentPassage) -> list[DocumentPassage]:
    """A passage in parts of about the aimed size, at the ends of lines wherever lines are no longer than that."""
    if passage.end - passage.start <= 2 * TARGET_PASSAGE_CHARS:
        return [passage]
    pieces, at, columns = [], passage.start, _columns(markdown, passage)
    while at < passage.end:
        end = _find_piece_end(markdown, at, passage.end)
        pieces.append(DocumentPassage(at, end, passage.headings, columns if markdown.startswith("|", at) else ""))
        at = end
    return pieces


def _find_piece_end(markdown: str, at: int, last: int) -> int:
    """Where a part that begins at a place ends: behind its last line that fits, or its first, or within that one."""
    if last - at <= TARGET_PASSAGE_CHARS:
        return last
    line = (
        markdown.rfind("\n", at, at + TARGET_PASSAGE_CHARS) + 1
        or markdown.find("\n", at, at + 2 * TARGET_PASSAGE_CHARS) + 1
    )
    return (
        line
        if line > at
        else at + len(cut_text(markdown[at : min(last, at + 2 * TARGET_PASSAGE_CHARS)], TARGET_PASSAGE_CHARS).text)
    )


def _score_passages(markdown: str, found: list[DocumentPassage], wanted: set[str]) -> list[float]:
    coverage_weight = 0.5  # of a passage's score depends on how much of the question it has
    heading_weight = 0.5  # of a word in the headings above against one in the passage
    counts, lengths, above = [], [], []
    context: dict[tuple[str, ...], set[str]] = {}
    for passage in found:
        words = _extract_terms(markdown[passage.start : passage.end])
        lengths.append(len(words))
        counts.append(Counter(word for word in words if word in wanted))
        around = (*passage.headings, passage.columns)
        if around not in context:
            context[around] = wanted & set(_extract_terms(" ".join(around)))
        above.append(context[around])
    rarity = _compute_rarity([count.keys() | words for count, words in zip(counts, above, strict=True)], wanted)
    mean = max(1.0, sum(lengths) / max(1, len(lengths)))
    most = sum(rarity.values()) or 1.0
    return [
        sum(
            rarity[word]
            * _compute_term_weight(counts[at][word] + heading_weight * (word in above[at]), lengths[at] / mean)
            for word in wanted
        )
        * (1 - coverage_weight + coverage_weight * sum(rarity[word] for word in counts[at].keys() | above[at]) / most)
        for at in range(len(found))
    ]


def _columns(markdown: str, passage: DocumentPassage) -> str:
    """The heading of the table in a passage; empty if there is none."""
    head = TABLE_HEADER.search(markdown, passage.start, passage.end)
    return head[1] if head else ""


def _extract_terms(text: str) -> list[str]:
    """The text's terms without endings, and without addresses: a question says keeper where the text says keepers."""
    return [
        _stem_word(word) for word in extract_terms(LINK_TARGET.sub(" ", text) if "(" in text or "://" in text else text)
    ]


@lru_cache(maxsize=1)
def _stem_question_words() -> frozenset[str]:
    return frozenset(map(_stem_word, QUESTION_WORDS))


@lru_cache(maxsize=20_000)
def _stem_word(word: str) -> str:
    min_stem_letters = 4  # letters that are left of a word at least
    endings = (
        "ing",
        "ed",
        "es",
        "s",
        "ly",
    )  # of English words, which a question and its answer may have in other forms
    if not word.isascii():
        return word
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= min_stem_letters and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > min_stem_letters else word


def _compute_rarity(having: list[set[str]], wanted: set[str]) -> dict[str, float]:
    question_word_weight = 0.15  # what these count against other words
    total = len(having)
    holding = Counter(word for words in having for word in words)
    asking = _stem_question_words()
    return {
        word: math.log(1 + (total - holding[word] + 0.5) / (holding[word] + 0.5))
        * (question_word_weight if word in asking else 1)
        for word in wanted
    }


def _compute_term_weight(count: float, length: float) -> float:
    b = 0.75
    k1 = 1.2
    return count * (k1 + 1) / (count + k1 * (1 - b + b * length)) if count else 0.0


def _select_excerpts(
    markdown: str, ranked: list[tuple[DocumentPassage, float]], budget: int, wanted: set[str]
) -> list[DocumentExcerpt]:
    """The best that fit; the last one may be cut to what is left, around what matches."""
    max_tried = 200  # passages that are tried for the budget
    min_cut_tokens = 30  # tokens for which it is worth cutting a passage to what is left of the budget
    chosen: list[DocumentExcerpt] = []
    for passage, score in ranked[:max_tried]:
        start, text = passage.start, markdown[passage.start : passage.end]
        used = count_tokens(text)
        if used > budget:
            if budget < min_cut_tokens and chosen:
                break
            start += _find_best_start(text, wanted)
            text = cut_tokens(markdown[start : passage.end], budget).text
            used = count_tokens(text)
            if not text.strip() or used > budget:
                break
        headings = tuple(each for each in passage.headings if each not in text)
        chosen.append(DocumentExcerpt(text, start, start + len(text), score, headings))
        budget -= used
    return chosen


def _find_best_start(text: str, wanted: set[str]) -> int:
    """Where the line or sentence with the most of the wanted words begins; of several, the first."""
    starts = [0, *(found.end() for found in SENTENCE_END.finditer(text))]
    edges = [*starts[1:], len(text)]
    held = [len(wanted & set(_extract_terms(text[start:end]))) for start, end in zip(starts, edges, strict=True)]
    return starts[max(range(len(starts)), key=lambda at: (held[at], -at))]


def _join_adjacent(markdown: str, chosen: list[DocumentExcerpt]) -> list[DocumentExcerpt]:
    """In document order; passages with nothing but white space between them become one."""
    result: list[DocumentExcerpt] = []
    for each in sorted(chosen, key=lambda excerpt: excerpt.start):
        before = result[-1] if result else None
        if before and not markdown[before.end : each.start].strip():
            score = max(before.score, each.score)
            result[-1] = DocumentExcerpt(
                markdown[before.start : each.end], before.start, each.end, score, before.headings
            )
        else:
            result.append(each)
    return [_trim_excerpt(each) for each in result]


def _trim_excerpt(excerpt: DocumentExcerpt) -> DocumentExcerpt:
    """Without white space at its ends."""
    text = excerpt.text.strip()
    start = excerpt.start + len(excerpt.text) - len(excerpt.text.lstrip())
    return DocumentExcerpt(text, start, start + len(text), excerpt.score, excerpt.headings)


def _fit_budget(found: list[DocumentExcerpt], budget: int) -> list[DocumentExcerpt]:
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
