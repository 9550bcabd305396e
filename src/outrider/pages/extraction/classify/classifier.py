"""What the model makes of a page: which blocks are its content, how sure that is, and what kind of page it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks, iter_parts
from outrider.pages.extraction.classify.article_check import is_single_article
from outrider.pages.extraction.classify.attribute_words import AttributeWords, build_attribute_words
from outrider.pages.extraction.classify.block_arrays import BlockArrays, build_block_arrays
from outrider.pages.extraction.classify.complete_structures import (
    MIN_RELATED_PROBABILITY,
    add_headings,
    complete_lists,
    complete_tables,
)
from outrider.pages.extraction.classify.doubtful_blocks import keep_doubtful_blocks
from outrider.pages.extraction.classify.duplicates import drop_duplicates
from outrider.pages.extraction.classify.features import BlockFeatures, build_features
from outrider.pages.extraction.classify.group_smoothing import smooth_scores
from outrider.pages.extraction.classify.lexicon import build_lexicon_columns
from outrider.pages.extraction.classify.model import ContentModel, load_model, to_probability
from outrider.pages.extraction.classify.outliers import CONTIGUOUS_KIND, drop_dangling_pointers, drop_outliers
from outrider.pages.extraction.classify.sections import complete_sections
from outrider.pages.extraction.classify.signals import PageSignals
from outrider.pages.extraction.classify.threshold import MIN_FLOOR_BLOCKS, select_blocks

Floats = NDArray[np.float32]
PageLayout = tuple[BlockArrays, AttributeWords]  # where blocks stand: a page's arrays, and the words of its names
MIN_KIND_WORDS = 60  # words from which a page's shape says what it is
LISTING_TAG = TAG_NUMBERS["pre"]
FEWEST, SURE = 10, 0.75  # words, and their likelihood, of content that may be as short


@dataclass(frozen=True, slots=True)
class Classification:
    """The numbers of the blocks to keep, the page's kind (empty for a page of a few words), facts for its metadata."""

    chosen: list[int]
    kind: str
    facts: dict[str, Any]


def classify_blocks(page: PageBlocks, signals: PageSignals) -> Classification:
    """Judges a page that has blocks; the kind is told from its first 1,200."""
    max_window_chars = 300_000  # characters of them that are looked at; a character takes 20 bytes
    max_window_blocks = 1_200  # blocks that are judged together, each of which takes 4 kB for a moment
    parts = [_score_window(part, signals) for part in iter_parts(page, max_window_blocks, max_window_chars)]
    words = np.concatenate([part[1] for part in parts])
    kind = parts[0][2] if float(words.sum()) >= MIN_KIND_WORDS else ""
    chosen, facts = choose_blocks(page, np.concatenate([part[0] for part in parts]), words, kind)
    return Classification(chosen, kind, facts)


def choose_blocks(
    page: PageBlocks, probabilities: Floats, words: Floats, kind: str
) -> tuple[list[int], dict[str, Any]]:
    """The numbers of the blocks to keep, and facts, by how likely each is content and by the page's kind."""
    max_brief_words = 150  # words of a page, also of few blocks, that has nothing around its content
    kinds_with_duplicates = frozenset(
        {"documentation", ""}
    )  # kinds of pages that say things twice on purpose, or too few words to tell
    if kind == "listing" and is_single_article(page, probabilities, words):
        kind = CONTIGUOUS_KIND
    keep, expected, threshold = select_blocks(
        probabilities, words, "" if kind == "documentation" and _lists(page) else kind
    )
    facts: dict[str, Any] = {"expected": round(expected, 3)}
    if _is_too_short(keep, probabilities, words):
        keep[:] = True
        facts["fallback"] = "whole"
    if len(keep) < MIN_FLOOR_BLOCKS and float(words.sum()) < max_brief_words:
        probabilities = _fill_brief_page(page, keep, probabilities)
    keep_doubtful_blocks(page, keep, probabilities, words, threshold=threshold, kind=kind)
    chosen = complete_lists(page, complete_tables(page, np.flatnonzero(keep).tolist()), probabilities, kind)
    chosen = complete_sections(page, add_headings(page, chosen, probabilities), probabilities, kind)
    if kind == CONTIGUOUS_KIND:
        chosen = drop_outliers(page, chosen, probabilities.tolist(), words.tolist())
    chosen = drop_dangling_pointers(page, chosen, kind)
    return chosen if kind in kinds_with_duplicates else drop_duplicates(page, chosen, words), facts


def _is_too_short(keep: NDArray[np.bool_], likely: Floats, words: Floats) -> bool:
    """Whether so few words are kept that the whole page is the better answer; a short text that is sure is none."""
    min_content_words = 25  # words that a page's content holds at least, if the page has as many
    told = float(words[keep].sum())
    sure = told >= FEWEST and float((words * likely)[keep].sum()) >= SURE * told
    return not sure and told < min(min_content_words, float(words.sum()) * 0.5)


def _fill_brief_page(page: PageBlocks, keep: NDArray[np.bool_], likely: Floats) -> Floats:
    """Keeps what is conceivable of a brief page, its listings, and what stands between; returns likelihoods
    by which headings are conceivable, too.
    """
    keep |= likely >= MIN_RELATED_PROBABILITY
    keep |= [page.elements[row[0]][1] == LISTING_TAG for row in page.rows]
    at = np.flatnonzero(keep)
    keep[at[0] : at[-1] + 1] = True
    return np.maximum(likely, MIN_RELATED_PROBABILITY)


def _lists(page: PageBlocks) -> bool:
    """Whether a page holds a listing: of documentation that does, what is in doubt is content more often than not."""
    return any(row[1] == LISTING_TAG for row in page.elements)


def predict_content(
    model: ContentModel, features: BlockFeatures, lexicon: Floats, layout: PageLayout, kind: str
) -> Floats:
    """How likely each block is content, by its own features and by the blocks that look the same.

    Of some kinds of pages also by what names mean: on grouped folds this is worth .0025 of F1 on articles (standard
    error .0008), but collections and listings lose by it. That network also learned from pages without their names, and
    is the better one on those: by .0066 (.0013) of F1 where all names are taken away.
    """
    min_named_share = 0.05  # share of named elements below which no kind of page has names to go by
    kinds_using_names = frozenset(
        {"article", "product"}
    )  # kinds of pages of which names tell more than their categories do
    view, naming = layout
    meant = (
        model.name_vectors.build_columns(naming, view.owner)
        if kind in kinds_using_names or naming.named_share < min_named_share
        else None
    )
    return to_probability(smooth_scores(model.score_blocks(features, lexicon, meant), view.block_signature, view.words))


def build_layout(page: PageBlocks) -> PageLayout:
    """Where the blocks of a page stand."""
    view = build_block_arrays(page)
    return view, build_attribute_words(page, view.parent, view.last > view.first)


def _score_window(page: PageBlocks, signals: PageSignals) -> tuple[Floats, Floats, str]:
    """Of each block how likely it is content, and its words; what kind of page they are of."""
    learned, (view, naming) = load_model(), build_layout(page)
    features = build_features(page, signals, view)
    words, lexicon = view.words, build_lexicon_columns(naming, view.owner, view.words, learned.name_weights)
    kind = learned.predict_kind(features, lexicon, words) if float(words.sum()) >= MIN_KIND_WORDS else ""
    return predict_content(learned, features, lexicon, (view, naming), kind), words, kind
