"""Classify blocks as content or not, and pages by kind."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, PageBlocks, iter_parts
from outrider.pages.extraction.classify.attribute_words import AttributeWords, build_attribute_words
from outrider.pages.extraction.classify.block_arrays import BlockArrays, build_block_arrays
from outrider.pages.extraction.classify.complete_structures import (
    MIN_RELATED_PROBABILITY,
    add_headings,
    complete_lists,
    complete_tables,
)
from outrider.pages.extraction.classify.dated_records import RECORD_KINDS, find_dated_records
from outrider.pages.extraction.classify.declared_blocks import DECLARED_PROBABILITY, find_declared_blocks
from outrider.pages.extraction.classify.duplicates import drop_duplicates
from outrider.pages.extraction.classify.features import BlockFeatures, build_features
from outrider.pages.extraction.classify.generators import find_generator_kind
from outrider.pages.extraction.classify.lexicon import build_lexicon_columns
from outrider.pages.extraction.classify.model import ContentModel, load_model, to_probability
from outrider.pages.extraction.classify.outliers import CONTIGUOUS_KIND, drop_dangling_pointers, drop_outliers
from outrider.pages.extraction.classify.page_kind import is_single_article
from outrider.pages.extraction.classify.sections import complete_sections
from outrider.pages.extraction.classify.signals import PageSignals
from outrider.pages.extraction.classify.threshold import MIN_FLOOR_BLOCKS, keep_doubtful_blocks, select_blocks

Floats = NDArray[np.float32]
PageLayout = tuple[BlockArrays, AttributeWords]
MIN_KIND_WORDS = 60  # shorter pages do not show their kind
LISTING_TAG = TAG_NUMBERS["pre"]


@dataclass(frozen=True, slots=True)
class Classification:
    """The kept blocks, the page's kind, and facts for its metadata.

    The kind is "" for very short pages.
    """

    chosen: list[int]
    kind: str
    facts: dict[str, Any]


def classify_blocks(page: PageBlocks, signals: PageSignals) -> Classification:
    """Classify the blocks of a page that has any. The kind comes from the first 1,200."""
    max_window_chars = 300_000  # a character takes 20 bytes
    max_window_blocks = 1_200  # a block takes 4 kB
    known_kind = find_generator_kind(signals.generator, page.texts)
    windows = iter_parts(page, max_window_blocks, max_window_chars)
    parts = [_score_window(part, signals, known_kind) for part in windows]
    words = np.concatenate([part[1] for part in parts])
    kind = parts[0][2]
    probabilities = np.concatenate([part[0] for part in parts])
    if signals.declared_parts:
        probabilities[find_declared_blocks(page, signals.declared_parts)] = DECLARED_PROBABILITY
    is_generated = known_kind == "documentation"
    chosen, facts = choose_blocks(page, probabilities, words, kind, is_generated=is_generated)
    return Classification(chosen, kind, facts)


def choose_blocks(
    page: PageBlocks, probabilities: Floats, words: Floats, kind: str, *, is_generated: bool = False
) -> tuple[list[int], dict[str, Any]]:
    """Choose the blocks to keep. Return their numbers and facts.

    Args:
        page: The blocks.
        probabilities: Per block.
        words: Per block.
        kind: The kind of the page.
        is_generated: Whether a generator of documentation wrote the page.
    """
    max_brief_words = 150  # a page of few words and blocks has little around its content
    min_brief_probability = 0.35
    if kind == "listing" and is_single_article(page, probabilities, words):
        kind = CONTIGUOUS_KIND
    # Doubtful blocks of documentation with listings are mostly content, so it has no floor.
    has_no_floor = kind == "documentation" and any(row[1] == LISTING_TAG for row in page.elements)
    keep, expected, threshold = select_blocks(probabilities, words, "" if has_no_floor else kind)
    facts: dict[str, Any] = {"expected": round(expected, 3)}
    if _is_too_short(keep, probabilities, words):
        keep[:] = True
        facts["fallback"] = "whole"
    if len(keep) < MIN_FLOOR_BLOCKS and float(words.sum()) < max_brief_words:
        # Its possible content, headings included, is kept with its listings and everything between.
        keep |= probabilities >= min_brief_probability
        keep |= [page.elements[row[0]][1] == LISTING_TAG for row in page.rows]
        kept = np.flatnonzero(keep)
        keep[kept[0] : kept[-1] + 1] = True
        probabilities = np.maximum(probabilities, MIN_RELATED_PROBABILITY)
    if is_generated:
        keep |= probabilities >= MIN_RELATED_PROBABILITY
    keep_doubtful_blocks(page, keep, probabilities, words, threshold=threshold, kind=kind)
    if kind in RECORD_KINDS:
        keep[find_dated_records(page, keep, probabilities, words)] = True
    chosen = complete_lists(page, complete_tables(page, np.flatnonzero(keep).tolist()), probabilities, kind)
    chosen = complete_sections(page, add_headings(page, chosen, probabilities), probabilities, kind)
    if kind == CONTIGUOUS_KIND:
        chosen = drop_outliers(page, chosen, probabilities.tolist(), words.tolist())
    chosen = drop_dangling_pointers(page, chosen, kind)
    if kind not in ("documentation", ""):  # which repeats itself on purpose, or is too short to decide
        chosen = drop_duplicates(page, chosen, words)
    return chosen, facts


def _is_too_short(keep: NDArray[np.bool_], probabilities: Floats, words: Floats) -> bool:
    """Return whether so few words are kept that the whole page is the better answer."""
    min_content_words = 25  # if the page has as many
    min_certain_words, min_certain_probability = 10, 0.75  # fewer words suffice if they are certain
    kept_words = float(words[keep].sum())
    expected_words = float((words * probabilities)[keep].sum())
    is_certain = kept_words >= min_certain_words and expected_words >= min_certain_probability * kept_words
    return not is_certain and kept_words < min(min_content_words, float(words.sum()) * 0.5)


def predict_content(
    model: ContentModel, features: BlockFeatures, lexicon: Floats, layout: PageLayout, kind: str
) -> Floats:
    """Return the probability of each block, averaged with blocks of the same markup.

    Kinds of pages that gain by it also use the meaning of class and id names, as do pages almost without names, because
    the network that takes names also learned from pages without them. Figures: docs/reference/extraction.md.
    """
    min_named_share = 0.05  # of all elements
    view, naming = layout
    name_vectors = None
    if kind in ("article", "product") or naming.named_share < min_named_share:
        name_vectors = model.name_vectors.build_columns(naming, view.owner)
    scores = model.score_blocks(features, lexicon, name_vectors)
    return to_probability(smooth_scores(scores, view.block_signature, view.words))


def build_layout(page: PageBlocks) -> PageLayout:
    """Build the arrays of a page and the words of its class and id attributes."""
    view = build_block_arrays(page)
    return view, build_attribute_words(page, view.parent, view.last > view.first)


def _score_window(page: PageBlocks, signals: PageSignals, known_kind: str) -> tuple[Floats, Floats, str]:
    """Return the probabilities and words of a window's blocks, and the kind of the page."""
    model, (view, naming) = load_model(), build_layout(page)
    features = build_features(page, signals, view)
    words, lexicon = view.words, build_lexicon_columns(naming, view.owner, view.words, model.name_weights)
    kind = known_kind
    if not kind and float(words.sum()) >= MIN_KIND_WORDS:
        kind = model.predict_kind(features, lexicon, words)
    return predict_content(model, features, lexicon, (view, naming), kind), words, kind


def smooth_scores(
    scores: NDArray[np.float32], signatures: NDArray[np.int64], words: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Draw the scores of blocks towards the mean of those that look the same.

    Long blocks count by the square root of their words.

    Args:
        scores: Per block, a logit.
        signatures: Per block, a number that only blocks with the same markup share.
        words: Per block.
    """
    min_group_blocks = 3
    group_weight = 0.5  # share of a score that the group decides
    weight = np.sqrt(words + np.float32(0.5))
    mean = np.bincount(signatures, weight * scores) / np.maximum(np.bincount(signatures, weight), 1e-9)
    share = np.multiply(np.bincount(signatures) >= min_group_blocks, group_weight)
    smoothed = mean.take(signatures)
    smoothed -= scores
    smoothed *= share.take(signatures)
    smoothed += scores
    return smoothed.astype(np.float32)
