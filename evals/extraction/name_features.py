"""Find the features of class and id names in the training data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.blocks.class_words import CATEGORY_COUNT
from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.classify import features
from outrider.pages.extraction.classify.attribute_words import MAX_NAME_CHARS
from outrider.pages.extraction.classify.name_vectors import hash_words


def find_name_columns(columns: NDArray) -> NDArray[np.int64]:
    """Find the columns about classes and ids, or about the address."""
    address_features = (19, 20, 21)  # of the features of pages
    flags = features.BLOCK_COLUMNS + features.PAGE_COLUMNS  # flags of the address and of the body precede them
    wanted_columns = {
        *range(flags - 2 * CATEGORY_COUNT, flags + features.FLAG_COLUMNS),
        *(features.BLOCK_COLUMNS + at for at in address_features),
    }
    return np.array([at for at, column in enumerate(columns.tolist()) if column in wanted_columns])


def build_name_lines(pages: list[PageBlocks], count: int) -> tuple[tuple[Any, Any], NDArray[np.int64]]:
    """Build two sparse matrices of name lines (see `TrainingData`) and each block's line number."""
    known: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    memory: dict[str, tuple[int, ...]] = {"": ()}
    line: list[int] = []
    for page in pages:
        own, whole = [()], [()]
        above = [0, *(row[0] for row in page.elements[1:])]
        for names, up in zip(page.names[1:], above[1:], strict=True):
            if names not in memory:
                memory[names] = tuple(at for name in names[:MAX_NAME_CHARS].split() for at in hash_words(name, count))
            own.append(memory[names])
            whole.append(whole[up] + memory[names])
        for at, *_ in page.rows:
            near = own[at] + own[above[at]] + own[above[above[at]]]
            line.append(known.setdefault((whole[at], near), len(known)))
    return (
        _build_sparse_matrix([each for each, _ in known], count),
        _build_sparse_matrix([each for _, each in known], count),
    ), np.array(line)


def _build_sparse_matrix(lines: list[tuple[int, ...]], count: int) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *map(len, lines)])
    shares = np.repeat([max(1, len(line)) ** -0.5 for line in lines], np.diff(ends)).astype(np.float32)
    found = csr_matrix((shares, [at for line in lines for at in line], ends), shape=(len(lines), count))
    found.sum_duplicates()
    return found
