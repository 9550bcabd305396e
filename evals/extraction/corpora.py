"""Prepare the pages of several corpora for training, and say what a page of each counts.

The benchmark has all kinds of pages; the others have one or two each, so a page of theirs counts less. Of some corpora
every fifth page is there a second time in ideographs (see `ideographs.py`).
"""

from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from evals.extraction.corpus import Sample, folds
from evals.extraction.fixtures import IDEOGRAPH
from evals.extraction.ideographs import rewrite_page
from outrider.pages.extraction.blocks.style_sheets import collect_style_sheets
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify import features
from outrider.pages.extraction.classify.block_arrays import build_block_arrays
from outrider.pages.extraction.classify.signals import read_signals
from outrider.pages.extraction.main_content import parse_html

BENCHMARK, REWRITTEN = "benchmark", "rewritten"
PAGE_WEIGHTS = {BENCHMARK: 1.0, "manuals": 0.4, REWRITTEN: 0.3}
OTHER_PAGE_WEIGHT = 0.6
REWRITTEN_CORPORA = frozenset({BENCHMARK, "fundus", "readability", "postlight"})
ID_SUFFIX = "~ideographs"  # of a page that was rewritten


@dataclass
class Page:
    """A page ready for training."""

    sample: Sample
    page: Any  # Blocks, without what only the renderer needs
    rows: NDArray[np.float32]
    sizes: NDArray[np.float32]
    labels: NDArray[np.float64]


def prepare(sample: Sample) -> Page | None:
    """Return a page's blocks, features and labels; nothing for a page without text."""
    from evals.extraction.labels import labels

    tree = parse_html(sample.html())
    if tree.body is None:
        return None
    sheets = collect_style_sheets(tree)
    page = cut_into_blocks(tree.body, hides=sheets.is_hidden if sheets else None)
    if not page.texts:
        return None
    view = build_block_arrays(page)
    rows = features.build_features(page, read_signals(tree, sample.url), view).to_rows()
    page.attributes, page.links, page.images = {}, [], []
    return Page(sample, page, rows, view.words, labels(page.texts, sample.text))


def rewrite(page: Page) -> Page | None:
    """Return every fifth page in ideographs, unless it is long or has them already."""
    rewritten_every, max_blocks, max_ideograph_share = 5, 1_500, 0.2
    sample = page.sample
    if find_corpus(sample) not in REWRITTEN_CORPORA or crc32(sample.id.encode()) % rewritten_every:
        return None
    if len(page.sizes) > max_blocks or len(IDEOGRAPH.findall(sample.text)) > max_ideograph_share * len(sample.text):
        return None
    blocks, signals = rewrite_page(page.page, read_signals(parse_html(sample.html()), sample.url))
    view = build_block_arrays(blocks)
    rows = features.build_features(blocks, signals, view).to_rows()
    return Page(replace(sample, id=sample.id + ID_SUFFIX), blocks, rows, view.words, page.labels)


def find_corpus(sample: Sample) -> str:
    """Return the name of the corpus that a page is of."""
    if sample.id.endswith(ID_SUFFIX):
        return REWRITTEN
    return sample.id.split("/")[0] if "/" in sample.id else BENCHMARK


def weigh(sample: Sample) -> float:
    """Return what a page counts beside others."""
    return PAGE_WEIGHTS.get(find_corpus(sample), OTHER_PAGE_WEIGHT)


def split_benchmark(samples: list[Sample], count: int, *, by_page: bool = False) -> list[int]:
    """Return the fold of each page of the benchmark, -1 for pages of other corpora."""
    mine = [each for each in samples if find_corpus(each) == BENCHMARK]
    numbers = folds([each.id if by_page else each.site for each in mine], count)
    place = dict(zip((each.id for each in mine), numbers, strict=True))
    return [place.get(each.id, -1) for each in samples]


def leave_out(samples: list[Sample], tested: frozenset[int], *, by_page: bool = False) -> list[int]:
    """Return the pages to train on: those that are not tested and, unless folds are of pages, of none of their sites."""
    ids = {samples[at].id for at in tested}
    sites = set() if by_page else {samples[at].site for at in tested}
    return [
        at for at, each in enumerate(samples) if each.site not in sites and each.id.removesuffix(ID_SUFFIX) not in ids
    ]
