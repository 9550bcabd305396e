"""What the model makes of a page: which blocks are its content, how sure that is, and what kind of page it is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.judging.alike import agreed
from outrider.pages.content.judging.copies import without_copies
from outrider.pages.content.judging.features import Features, describe
from outrider.pages.content.judging.lexicon import columns
from outrider.pages.content.judging.mending import CONCEIVABLE, completed, headed, mended
from outrider.pages.content.judging.model import Model, likelihood, model
from outrider.pages.content.judging.naming import Naming, naming_of
from outrider.pages.content.judging.prose import is_one_text
from outrider.pages.content.judging.sections import sectioned
from outrider.pages.content.judging.select import MARGIN, kept
from outrider.pages.content.judging.signals import Signals
from outrider.pages.content.judging.strays import CONNECTED, connected, without_remains
from outrider.pages.content.judging.view import View, view_of
from outrider.pages.content.judging.within import within
from outrider.pages.content.walking.blocks import NUMBER, Blocks, parts_of

Floats = NDArray[np.float32]
Standing = tuple[View, Naming]  # where blocks stand: a page's arrays, and the words of its names
WINDOW = 1_200  # blocks that are judged together, each of which takes 4 kB for a moment
LONGEST = 300_000  # characters of them that are looked at; a character takes 20 bytes
SPEAKS = 60  # words from which a page's shape says what it is
WITH_COPIES = frozenset(
    {"documentation", ""}
)  # kinds of pages that say things twice on purpose, or too few words to tell
READ_BY_NAME = frozenset({"article", "product"})  # kinds of pages of which names tell more than their categories do
LISTING = NUMBER["pre"]
NAMELESS = 0.05  # share of named elements below which no kind of page has names to go by
BRIEF = 150  # words of a page, also of few blocks, that has nothing around its content
LEAST = 25  # words that a page's content holds at least, if the page has as many
FEWEST, SURE = 10, 0.75  # words, and their likelihood, of content that may be as short


@dataclass(frozen=True, slots=True)
class Judged:
    """The numbers of the blocks to keep, the page's kind (empty for a page of a few words), facts for its metadata."""

    chosen: list[int]
    kind: str
    facts: dict[str, Any]


def judge(page: Blocks, signals: Signals) -> Judged:
    """Judges a page that has blocks; the kind is told from its first 1,200."""
    parts = [_part(part, signals) for part in parts_of(page, WINDOW, LONGEST)]
    words = np.concatenate([part[1] for part in parts])
    kind = parts[0][2] if float(words.sum()) >= SPEAKS else ""
    chosen, facts = choose(page, np.concatenate([part[0] for part in parts]), words, kind)
    return Judged(chosen, kind, facts)


def choose(page: Blocks, likely: Floats, words: Floats, kind: str) -> tuple[list[int], dict[str, Any]]:
    """The numbers of the blocks to keep, and facts, by how likely each is content and by the page's kind."""
    if kind == "listing" and is_one_text(page, likely, words):
        kind = CONNECTED
    keep, expected, threshold = kept(likely, words, "" if kind == "documentation" and _lists(page) else kind)
    facts: dict[str, Any] = {"expected": round(expected, 3)}
    if _says_little(keep, likely, words):
        keep[:] = True
        facts["fallback"] = "whole"
    if len(keep) < MARGIN and float(words.sum()) < BRIEF:
        likely = _joined(page, keep, likely)
    within(page, keep, likely, words, cut=threshold, kind=kind)
    chosen = completed(page, mended(page, np.flatnonzero(keep).tolist()), likely, kind)
    chosen = sectioned(page, headed(page, chosen, likely), likely, kind)
    if kind == CONNECTED:
        chosen = connected(page, chosen, likely.tolist(), words.tolist())
    chosen = without_remains(page, chosen, kind)
    return chosen if kind in WITH_COPIES else without_copies(page, chosen, words), facts


def _says_little(keep: NDArray[np.bool_], likely: Floats, words: Floats) -> bool:
    """Whether so few words are kept that the whole page is the better answer; a short text that is sure is none."""
    told = float(words[keep].sum())
    sure = told >= FEWEST and float((words * likely)[keep].sum()) >= SURE * told
    return not sure and told < min(LEAST, float(words.sum()) * 0.5)


def _joined(page: Blocks, keep: NDArray[np.bool_], likely: Floats) -> Floats:
    """Keeps what is conceivable of a brief page, its listings, and what stands between; returns likelihoods
    by which headings are conceivable, too.
    """
    keep |= likely >= CONCEIVABLE
    keep |= [page.elements[row[0]][1] == LISTING for row in page.rows]
    at = np.flatnonzero(keep)
    keep[at[0] : at[-1] + 1] = True
    return np.maximum(likely, CONCEIVABLE)


def _lists(page: Blocks) -> bool:
    """Whether a page holds a listing: of documentation that does, what is in doubt is content more often than not."""
    return any(row[1] == LISTING for row in page.elements)


def likely_content(learned: Model, features: Features, lexicon: Floats, standing: Standing, kind: str) -> Floats:
    """How likely each block is content, by its own features and by the blocks that look the same.

    Of some kinds of pages also by what names mean: on grouped folds this is worth .0025 of F1 on articles (standard
    error .0008), but collections and listings lose by it. That network also learned from pages without their names, and
    is the better one on those: by .0066 (.0013) of F1 where all names are taken away.
    """
    view, naming = standing
    meant = learned.meanings.columns(naming, view.owner) if kind in READ_BY_NAME or naming.named < NAMELESS else None
    return likelihood(agreed(learned.scores(features, lexicon, meant), view.kind, view.words))


def standing_of(page: Blocks) -> Standing:
    """Where the blocks of a page stand."""
    view = view_of(page)
    return view, naming_of(page, view.parent, view.last > view.first)


def _part(page: Blocks, signals: Signals) -> tuple[Floats, Floats, str]:
    """Of each block how likely it is content, and its words; what kind of page they are of."""
    learned, (view, naming) = model(), standing_of(page)
    features = describe(page, signals, view)
    words, lexicon = view.words, columns(naming, view.owner, view.words, learned.names)
    kind = learned.kind(features, lexicon, words) if float(words.sum()) >= SPEAKS else ""
    return likely_content(learned, features, lexicon, (view, naming), kind), words, kind
