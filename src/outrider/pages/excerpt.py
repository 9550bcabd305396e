"""Find the passages of a document that answer a question.

Passages are ranked by BM25 (`passage_ranking`), and each is shown by those of its sentences that answer best: a
sentence counts by its own words, its passage's and its neighbours'.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from outrider.core.markdown import find_code_blocks
from outrider.core.text import count_tokens, cut_tokens
from outrider.pages.passage_ranking import NO_COUNTS, QueryTerms, TermCounts, score_passages, score_sentences
from outrider.pages.passages import SENTENCE_END, DocumentPassage, split_passages, split_sentences


@dataclass(frozen=True, slots=True)
class DocumentExcerpt:
    """A part of a document: `markdown[start:end] == text`. A higher score is better.

    `headings` are those above it that it does not contain, the highest level first.
    """

    text: str
    start: int
    end: int
    score: float
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentSentences:
    """A group of sentences of a passage, with its terms."""

    start: int
    end: int
    passage: int
    terms: TermCounts


def find_excerpts(markdown: str, query: str, *, max_tokens: int) -> list[DocumentExcerpt]:
    """Return the best passages in document order, adjacent ones joined.

    They have at most `max_tokens` tokens together.

    Empty if no passage shares a word with the query.
    """
    min_score_share = 0.1  # of the best score, below which a sentence is not worth its tokens
    query_terms = QueryTerms(query)
    if not query_terms.stems or max_tokens < 1:
        return []
    code_blocks = find_code_blocks(markdown)
    passages = split_passages(markdown, code_blocks)
    groups = [
        DocumentSentences(start, end, number, query_terms.count(markdown[start:end]))
        for number, passage in enumerate(passages)
        for start, end in split_sentences(markdown, passage, code_blocks)
    ]
    scores = _score_groups(passages, groups, query_terms)
    min_score = min_score_share * max(scores, default=0.0)
    numbers = [number for number, score in enumerate(scores) if score > min_score]
    numbers.sort(key=lambda number: -scores[number])  # stable, so that the earlier of two equal ones wins
    ranked = (
        DocumentExcerpt(
            markdown[group.start : group.end], group.start, group.end, score, passages[group.passage].headings
        )
        for group, score in ((groups[number], scores[number]) for number in numbers)
    )
    return _fit_budget(markdown, _select_excerpts(ranked, max_tokens, query_terms), max_tokens)


def _score_groups(
    passages: Sequence[DocumentPassage], groups: Sequence[DocumentSentences], query_terms: QueryTerms
) -> list[float]:
    """Return the score of each group: half its passage's, half its own with a share of its neighbours'."""
    neighbor_weight = 0.3
    counts: list[Mapping[str, int]] = [NO_COUNTS] * len(passages)
    words = [0] * len(passages)
    for group in groups:
        words[group.passage] += group.terms.words
        if group.terms.counts:
            known = counts[group.passage]
            counts[group.passage] = Counter(known) + Counter(group.terms.counts) if known else group.terms.counts
    ranking = score_passages(passages, list(map(TermCounts, counts, words)), query_terms)
    own = score_sentences([group.terms for group in groups], ranking.weights)
    scores = []
    for number, group in enumerate(groups):
        neighbors = [at for at in (number - 1, number + 1) if 0 <= at < len(groups)]
        neighbor_score = sum(own[at] for at in neighbors if groups[at].passage == group.passage)
        scores.append((ranking.scores[group.passage] + own[number] + neighbor_weight * neighbor_score) / 2)
    return scores


def _select_excerpts(ranked: Iterable[DocumentExcerpt], budget: int, query_terms: QueryTerms) -> list[DocumentExcerpt]:
    """Select the best that fit; if even the best does not, cut it around what matches."""
    max_misfits = 20  # excerpts that are too long for the rest of the budget
    min_rest_tokens = 15  # shorter excerpts are not worth showing
    chosen: list[DocumentExcerpt] = []
    misfits = 0
    for each in ranked:
        used = count_tokens(each.text)
        if used <= budget:
            chosen.append(each)
            budget -= used
        elif chosen:
            misfits += 1
        else:
            # The line or sentence with the most query terms; of several, the first.
            starts = [0, *(match.end() for match in SENTENCE_END.finditer(each.text))]
            pieces = [each.text[start:end] for start, end in pairwise([*starts, len(each.text)])]
            matches = [len(query_terms.count(piece).counts) for piece in pieces]
            start = starts[matches.index(max(matches))]
            text = cut_tokens(each.text[start:], budget).text
            return [replace(each, text=text, start=each.start + start, end=each.start + start + len(text))]
        if budget < min_rest_tokens or misfits > max_misfits:
            break
    return chosen


def _fit_budget(markdown: str, chosen: list[DocumentExcerpt], budget: int) -> list[DocumentExcerpt]:
    """Join adjacent excerpts, and drop the worst until all fit, because joining may cost a few tokens."""
    while len(chosen) > 1:
        excerpts = _join_adjacent(markdown, chosen)
        if sum(count_tokens(each.text) for each in excerpts) <= budget:
            return excerpts
        chosen.remove(min(chosen, key=lambda each: each.score))
    (single_piece,) = _join_adjacent(markdown, chosen) or [None]
    if single_piece is None or count_tokens(single_piece.text) <= budget:
        return [single_piece] if single_piece else []
    text = cut_tokens(single_piece.text, budget).text.rstrip()
    fits = text and count_tokens(text) <= budget
    return [replace(single_piece, text=text, end=single_piece.start + len(text))] if fits else []


def _join_adjacent(markdown: str, chosen: Sequence[DocumentExcerpt]) -> list[DocumentExcerpt]:
    """Return the excerpts in document order, joined where only white space separates them."""
    result: list[DocumentExcerpt] = []
    for each in sorted(chosen, key=lambda excerpt: excerpt.start):
        before = result[-1] if result else None
        if before and not markdown[before.end : each.start].strip():
            text = markdown[before.start : each.end]
            result[-1] = replace(before, text=text, end=each.end, score=max(before.score, each.score))
        else:
            result.append(each)
    trimmed = []
    for each in result:
        text, start = each.text.strip(), each.start + len(each.text) - len(each.text.lstrip())
        headings = tuple(heading for heading in each.headings if heading not in text)
        trimmed.append(replace(each, text=text, start=start, end=start + len(text), headings=headings))
    return [each for each in trimmed if each.text]
