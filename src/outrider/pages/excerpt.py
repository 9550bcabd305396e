"""Find the passages of a document that answer a question.

Ranking is BM25 (Robertson and Zaragoza 2009) with the passages of the one document as the collection. The headings
above a passage, and the header of its table, count as a part of it. A passage with more distinct words of the question
ranks before one that repeats few of them. Link addresses are not words, and typical question words count little.
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from outrider.core.markdown import find_code_blocks
from outrider.core.text import count_tokens, cut_text, cut_tokens, extract_terms

TARGET_PASSAGE_CHARS = 700  # blocks are joined up to this, and split beyond twice this
HEADING_LINE = re.compile(r"(#{1,6}) +(.+)")
PARAGRAPH_BREAK = re.compile(r"\n{2,}")
LINK_TARGET = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|<?https?://[^\s)>]+>?")
TABLE_HEADER = re.compile(r"^(\|[^\n]{1,600})\n\|(?: *:?-{3,}:? *\|)+ *$", re.MULTILINE)
SENTENCE_END = re.compile(r"\n+|[.!?] +|[。！？]")
JOINED_NAME = re.compile(r"\b[A-Za-z]*[a-z][A-Z][a-z][A-Za-z]*\b")  # for instance `ThreadPool`
INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Typical words of questions in the most common languages, as `extract_terms` writes them.
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

    `headings` are those above it that it does not contain, the highest level first.
    """

    text: str
    start: int
    end: int
    score: float
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoredDocument:
    """A document to compare with others: its title, its address and its text."""

    title: str
    address: str
    markdown: str


@dataclass(frozen=True)
class DocumentPassage:
    """A piece of the text, its headings, and the header of the table that it continues."""

    start: int
    end: int
    headings: tuple[str, ...]
    columns: str = ""


def find_excerpts(markdown: str, query: str, *, max_tokens: int) -> list[DocumentExcerpt]:
    """Return the best passages in document order, adjacent ones joined, of at most `max_tokens` tokens together.

    Empty if no passage shares a word with the query.
    """
    min_score_share = 0.2  # of the best score, below which a passage is not worth its tokens
    query_terms = set(map(_stem_word, extract_terms(query)))
    if not query_terms or max_tokens < 1:
        return []
    passages = split_passages(markdown)
    scores = _score_passages([(markdown, passage) for passage in passages], query_terms)
    min_score = min_score_share * max(scores, default=0.0)
    ranked = [pair for pair in zip(passages, scores, strict=True) if pair[1] > min_score]
    ranked.sort(key=lambda pair: -pair[1])  # stable, so that the earlier of two equal passages wins
    excerpts = _select_excerpts(markdown, ranked, max_tokens, query_terms)
    return _fit_budget(_join_adjacent(markdown, excerpts), max_tokens)


def score_documents(documents: Sequence[ScoredDocument], query: str) -> list[float]:
    """Return a score for each document: that of its best passage, and that of its title and address.

    The passages of all documents are one collection, and so are the titles, so that the scores can be compared.
    """
    title_weight = 0.6  # against the best passage
    query_terms = set(map(_stem_word, extract_terms(query)))
    pieces: list[tuple[str, DocumentPassage]] = []
    owners: list[int] = []
    titles: list[tuple[str, DocumentPassage]] = []
    for number, document in enumerate(documents):
        name = f"{document.title} {' '.join(extract_terms(document.address))}"
        titles.append((name, DocumentPassage(0, len(name), ())))
        passages = split_passages(document.markdown)
        pieces += [(document.markdown, replace(each, headings=(name, *each.headings))) for each in passages]
        owners += [number] * len(passages)
    best = [0.0] * len(documents)
    for number, score in zip(owners, _score_passages(pieces, query_terms), strict=True):
        best[number] = max(best[number], score)
    title_scores = _score_passages(titles, query_terms)
    return [passage + title_weight * title for passage, title in zip(best, title_scores, strict=True)]


def spell_out_names(text: str) -> str:
    """Return the text with the words of joined names after it: `ThreadPool` is also `Thread Pool`."""
    names = [INNER_CAPITAL.sub(" ", name) for name in dict.fromkeys(JOINED_NAME.findall(text))]
    return " ".join((text, *names)) if names else text


def extract_content_words(query: str) -> list[str]:
    """Return the stems of a query's words, each once, without typical question words unless there are no others."""
    stems = list(dict.fromkeys(_stem_word(word) for word in extract_terms(query)))
    return [stem for stem in stems if stem not in _stem_question_words()] or stems


def split_passages(markdown: str) -> list[DocumentPassage]:
    """Split the text into passages of a few hundred characters that do not cross headings and omit nothing."""
    result: list[DocumentPassage] = []
    path: list[tuple[int, str]] = []
    start: int | None = None
    code_blocks = find_code_blocks(markdown)
    edges = [0, *(edge for match in PARAGRAPH_BREAK.finditer(markdown) for edge in match.span()), len(markdown)]
    for begin, end in zip(edges[::2], edges[1::2], strict=True):  # blocks between empty lines
        if end <= begin or markdown[begin:end].isspace():
            continue
        heading = HEADING_LINE.match(markdown, begin, end)
        code = bisect_left(code_blocks, (begin, 0)) - 1  # the last code block before this place
        if code >= 0 and begin < code_blocks[code][1]:
            heading = None
        if start is not None and (heading or end - start > TARGET_PASSAGE_CHARS):
            start = None
        if heading:
            level = len(heading[1])
            path = [*(above for above in path if above[0] < level), (level, heading[2])]
        headings = tuple(text for _, text in path)
        if start is not None:
            result[-1] = DocumentPassage(start, end, headings)
        else:
            result.append(DocumentPassage(begin, end, headings))
            start = begin
    return [piece for passage in result for piece in _split_passage(markdown, passage)]


def _split_passage(markdown: str, passage: DocumentPassage) -> list[DocumentPassage]:
    """Split a passage into parts of about the target size, at line ends unless a line is longer than that."""
    if passage.end - passage.start <= 2 * TARGET_PASSAGE_CHARS:
        return [passage]
    header = TABLE_HEADER.search(markdown, passage.start, passage.end)
    pieces, start = [], passage.start
    while start < passage.end:
        end = passage.end
        if end - start > TARGET_PASSAGE_CHARS:  # cut after the last line that fits, or the first line, or within it
            target_end, max_end = start + TARGET_PASSAGE_CHARS, start + 2 * TARGET_PASSAGE_CHARS
            end = markdown.rfind("\n", start, target_end) + 1 or markdown.find("\n", start, max_end) + 1
            if end <= start:
                line = markdown[start : min(passage.end, max_end)]
                end = start + len(cut_text(line, TARGET_PASSAGE_CHARS).text)
        columns = header[1] if header and markdown.startswith("|", start) else ""
        pieces.append(DocumentPassage(start, end, passage.headings, columns))
        start = end
    return pieces


def _score_passages(pieces: Sequence[tuple[str, DocumentPassage]], query_terms: set[str]) -> list[float]:
    """Return the score of each passage, given with the text that it is a part of, among all of them."""
    coverage_weight = 0.5  # the share of a score that depends on how much of the question the passage has
    heading_weight = 0.5  # of a word in the headings, against one in the passage
    counts, lengths, heading_terms = [], [], []
    terms_by_headings: dict[tuple[str, ...], set[str]] = {}
    for markdown, passage in pieces:
        terms = _extract_terms(markdown[passage.start : passage.end])
        lengths.append(len(terms))
        counts.append(Counter(term for term in terms if term in query_terms))
        headings = (*passage.headings, passage.columns)
        if headings not in terms_by_headings:
            terms_by_headings[headings] = query_terms & set(_extract_terms(" ".join(headings)))
        heading_terms.append(terms_by_headings[headings])
    rarity = _compute_rarity(
        [count.keys() | terms for count, terms in zip(counts, heading_terms, strict=True)], query_terms
    )
    mean_length = max(1.0, sum(lengths) / max(1, len(lengths)))
    total_rarity = sum(rarity.values()) or 1.0
    scores = []
    for count, length, above in zip(counts, lengths, heading_terms, strict=True):
        relevance = sum(
            rarity[term] * _compute_term_weight(count[term] + heading_weight * (term in above), length / mean_length)
            for term in query_terms
        )
        coverage = sum(rarity[term] for term in count.keys() | above) / total_rarity
        scores.append(relevance * (1 - coverage_weight + coverage_weight * coverage))
    return scores


def _extract_terms(text: str) -> list[str]:
    """Return the stemmed terms of a text, without link addresses."""
    if "(" in text or "://" in text:
        text = LINK_TARGET.sub(" ", text)
    return [_stem_word(word) for word in extract_terms(spell_out_names(text))]


@lru_cache(maxsize=1)
def _stem_question_words() -> frozenset[str]:
    return frozenset(map(_stem_word, QUESTION_WORDS))


@lru_cache(maxsize=20_000)
def _stem_word(word: str) -> str:
    """Remove common English endings, so that `keeper` in a question matches `keepers` in the text."""
    min_stem_letters = 4
    endings = ("ing", "ed", "es", "s", "ly")
    if not word.isascii():
        return word
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= min_stem_letters and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > min_stem_letters else word


def _compute_rarity(terms_by_passage: list[set[str]], query_terms: set[str]) -> dict[str, float]:
    """Return the inverse document frequency of each term, lowered for typical question words."""
    question_word_weight = 0.15
    total = len(terms_by_passage)
    frequency = Counter(term for terms in terms_by_passage for term in terms)
    question_words = _stem_question_words()
    return {
        term: math.log(1 + (total - frequency[term] + 0.5) / (frequency[term] + 0.5))
        * (question_word_weight if term in question_words else 1)
        for term in query_terms
    }


def _compute_term_weight(count: float, length: float) -> float:
    b, k1 = 0.75, 1.2  # BM25's usual values
    return count * (k1 + 1) / (count + k1 * (1 - b + b * length)) if count else 0.0


def _select_excerpts(
    markdown: str, ranked: list[tuple[DocumentPassage, float]], budget: int, query_terms: set[str]
) -> list[DocumentExcerpt]:
    """Select the best passages that fit; the last may be cut to the rest of the budget, around what matches."""
    max_tried = 200
    min_cut_tokens = 30  # a shorter rest of a passage is not worth showing
    chosen: list[DocumentExcerpt] = []
    for passage, score in ranked[:max_tried]:
        start, text = passage.start, markdown[passage.start : passage.end]
        used = count_tokens(text)
        if used > budget:
            if budget < min_cut_tokens and chosen:
                break
            start += _find_best_start(text, query_terms)
            text = cut_tokens(markdown[start : passage.end], budget).text
            used = count_tokens(text)
            if not text.strip() or used > budget:
                break
        headings = tuple(each for each in passage.headings if each not in text)
        chosen.append(DocumentExcerpt(text, start, start + len(text), score, headings))
        budget -= used
    return chosen


def _find_best_start(text: str, query_terms: set[str]) -> int:
    """Return the start of the line or sentence with the most query terms; of several, the first."""
    starts = [0, *(match.end() for match in SENTENCE_END.finditer(text))]
    ends = [*starts[1:], len(text)]
    matches = [len(query_terms & set(_extract_terms(text[start:end]))) for start, end in zip(starts, ends, strict=True)]
    return starts[matches.index(max(matches))]


def _join_adjacent(markdown: str, chosen: list[DocumentExcerpt]) -> list[DocumentExcerpt]:
    """Return the excerpts in document order, joined where only white space separates them."""
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
    trimmed = []
    for each in result:
        text, start = each.text.strip(), each.start + len(each.text) - len(each.text.lstrip())
        trimmed.append(replace(each, text=text, start=start, end=start + len(text)))
    return trimmed


def _fit_budget(excerpts: list[DocumentExcerpt], budget: int) -> list[DocumentExcerpt]:
    """Drop the worst excerpts until all fit, because joining may cost a few tokens."""
    excerpts = [each for each in excerpts if each.text]
    costs = {each.start: count_tokens(each.text) for each in excerpts}
    while excerpts and sum(costs[each.start] for each in excerpts) > budget:
        worst = min(excerpts, key=lambda each: each.score)
        if len(excerpts) == 1:
            text = cut_tokens(worst.text, budget).text.rstrip()
            fits = text and count_tokens(text) <= budget
            return [replace(worst, text=text, end=worst.start + len(text))] if fits else []
        excerpts.remove(worst)
    return excerpts
