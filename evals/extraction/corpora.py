"""Prepare the pages of several corpora for training, with the weight of their pages.

The benchmark has all kinds of pages; the others have one or two each, so their pages count less. Some pages are
repeated with the markup of older sites (see `plain_layouts.py`), in ideographs (see `ideographs.py`), or both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from evals.extraction.corpus import Sample, split_folds
from evals.extraction.fixtures import IDEOGRAPH
from evals.extraction.ideographs import rewrite_page
from evals.extraction.plain_layouts import draw_layout, rewrite_layout
from outrider.pages.extraction.blocks.style_sheets import collect_style_sheets
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify import features
from outrider.pages.extraction.classify.block_arrays import build_block_arrays
from outrider.pages.extraction.classify.signals import PageSignals, read_signals
from outrider.pages.extraction.main_content import parse_html

BENCHMARK, REWRITTEN = "benchmark", "rewritten"
PAGE_WEIGHTS = {BENCHMARK: 1.0, "manuals": 0.4}
OTHER_PAGE_WEIGHT, PLAIN_PAGE_WEIGHT, IDEOGRAPHS_PAGE_WEIGHT = 0.6, 0.4, 0.3
REWRITTEN_CORPORA = frozenset({BENCHMARK, "fundus", "readability", "postlight", "newspaper", "newspaper3k"})
VERSION_MARK = "~"  # separates the page's id from the kind of rewriting


@dataclass
class TrainingPage:
    """A page ready for training."""

    sample: Sample
    page: Any  # blocks, without data that only the renderer needs
    rows: NDArray[np.float32]
    sizes: NDArray[np.float32]
    labels: NDArray[np.float64]


def prepare_page(sample: Sample) -> TrainingPage | None:
    """Return a page's blocks, features and labels, or None for a page without text."""
    from evals.extraction.labels import label_blocks

    tree = parse_html(sample.read_html())
    if tree.body is None:
        return None
    sheets = collect_style_sheets(tree)
    page = cut_into_blocks(tree.body, hides=sheets.is_hidden if sheets else None)
    if not page.texts:
        return None
    view = build_block_arrays(page)
    rows = features.build_features(page, read_signals(tree, sample.url), view).to_rows()
    page.attributes, page.links, page.images = {}, [], []
    return TrainingPage(sample, page, rows, view.words, label_blocks(page.texts, sample.text))


def rewrite_versions(page: TrainingPage) -> list[TrainingPage]:
    """Return other versions of a page; long pages have none."""
    max_blocks, max_ideograph_share = 1_500, 0.2
    sample, versions = page.sample, list(draw_versions(page.sample))
    if len(IDEOGRAPH.findall(sample.text)) > max_ideograph_share * len(sample.text):
        versions = [each for each in versions if "ideographs" not in each]
    if not versions or len(page.sizes) > max_blocks:
        return []
    signals = read_signals(parse_html(sample.read_html()), sample.url)
    return [_write_version(page, signals, version) for version in versions]


def draw_versions(sample: Sample) -> Iterator[str]:
    """Draw the other versions of a page, always the same ones.

    All news and a third of the benchmark, except forums, get plain layouts; a third of both is in ideographs.
    """
    corpus, number = find_corpus(sample), crc32(f"x{sample.id}".encode())
    if corpus not in REWRITTEN_CORPORA:
        return
    if sample.type != "forum" and (corpus != BENCHMARK or number % 3 == 0):
        yield "plain"
    if sample.type != "forum" and number % 6 == 1:
        yield "plain ideographs"
    if crc32(sample.id.encode()) % 5 == 0:
        yield "ideographs"


def _write_version(page: TrainingPage, signals: PageSignals, version: str) -> TrainingPage:
    sample, blocks = page.sample, page.page
    if "ideographs" in version:
        blocks, signals = rewrite_page(blocks, signals)
    if "plain" in version:
        blocks, signals = rewrite_layout(blocks, signals, draw_layout(sample.id))
    view = build_block_arrays(blocks)
    rows = features.build_features(blocks, signals, view).to_rows()
    return TrainingPage(replace(sample, id=sample.id + VERSION_MARK + version), blocks, rows, view.words, page.labels)


def find_corpus(sample: Sample) -> str:
    """Return the name of a page's corpus."""
    if VERSION_MARK in sample.id:
        return REWRITTEN
    return sample.id.split("/")[0] if "/" in sample.id else BENCHMARK


def weigh_page(sample: Sample) -> float:
    """Return the weight of a page relative to others."""
    if find_corpus(sample) == REWRITTEN:
        return IDEOGRAPHS_PAGE_WEIGHT if "ideographs" in sample.id else PLAIN_PAGE_WEIGHT
    return PAGE_WEIGHTS.get(find_corpus(sample), OTHER_PAGE_WEIGHT)


def split_benchmark(samples: list[Sample], count: int, *, by_page: bool = False) -> list[int]:
    """Return the fold of each page of the benchmark, -1 for pages of other corpora."""
    mine = [each for each in samples if find_corpus(each) == BENCHMARK]
    numbers = split_folds([each.id if by_page else each.site for each in mine], count)
    place = dict(zip((each.id for each in mine), numbers, strict=True))
    return [place.get(each.id, -1) for each in samples]


def leave_out(samples: list[Sample], tested: frozenset[int], *, by_page: bool = False) -> list[int]:
    """Return the pages to train on, without tested pages or (unless `by_page`) sites."""
    ids = {samples[at].id for at in tested}
    sites = set() if by_page else {samples[at].site for at in tested}
    return [
        at for at, each in enumerate(samples) if each.site not in sites and each.id.split(VERSION_MARK)[0] not in ids
    ]
