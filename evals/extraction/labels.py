"""Label the blocks of a page by aligning them with the reference text."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from evals.extraction.metric import words

LIMIT = 4_000_000_000  # pairs of words; beyond, only whole blocks are looked for
SURE, TOLD = 0.8, 6  # share of a block and number of its words from which its place does not matter


def labels(texts: list[str], reference: str) -> NDArray[np.float64]:
    """Of each block, the share of its words in the longest common subsequence with the reference.

    A block of some words that stands in the reference as a whole counts as found even out of order.
    """
    blocks = [words(text) for text in texts]
    known: dict[str, int] = {}
    theirs = words(reference)
    hits = _aligned(blocks, theirs, known)
    found = hits / np.maximum(np.array([len(block) for block in blocks]), 1)
    flat, seen = f" {' '.join(theirs)} ", Counter()
    for at, block in enumerate(blocks):
        whole = " ".join(block)
        if found[at] < SURE and len(block) >= TOLD and not seen[whole] and f" {whole} " in flat:
            found[at] = 1
        seen[whole] += found[at] > 0.5
    return found


def _aligned(blocks: list[list[str]], theirs: list[str], known: dict[str, int]) -> NDArray[np.float64]:
    hits = np.zeros(len(blocks))
    mine = [word for block in blocks for word in block]
    owner = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    if len(mine) * len(theirs) > LIMIT:
        return hits
    for step in LCSseq.opcodes(_letters(mine, known), _letters(theirs, known)):
        if step.tag == "equal":
            np.add.at(hits, owner[step.src_start : step.src_end], 1)
    return hits


def _letters(sequence: list[str], known: dict[str, int]) -> str:
    """One letter for each word, since the aligner is fastest on text; surrogates are skipped."""
    codes = (known.setdefault(word, len(known)) for word in sequence)
    return "".join(chr(code + 0x100 if code < 0xD700 else code + 0x900) for code in codes)
