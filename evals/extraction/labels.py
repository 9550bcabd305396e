"""Label the blocks of a page by aligning them with the reference text."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

from evals.extraction.metric import split_words

MIN_SURE_SHARE, MIN_SURE_WORDS = 0.8, 6  # minimum share and words of a block to accept it in any position


def label_blocks(texts: list[str], reference: str) -> NDArray[np.float64]:
    """Return the share of each block's words in the common subsequence with the reference.

    A longer block that is in the reference as a whole is found even if it is out of order.
    """
    blocks = [split_words(text) for text in texts]
    known: dict[str, int] = {}
    theirs = split_words(reference)
    hits = _align_words(blocks, theirs, known)
    found = hits / np.maximum(np.array([len(block) for block in blocks]), 1)
    flat, seen = f" {' '.join(theirs)} ", Counter()
    for at, block in enumerate(blocks):
        whole = " ".join(block)
        if found[at] < MIN_SURE_SHARE and len(block) >= MIN_SURE_WORDS and not seen[whole] and f" {whole} " in flat:
            found[at] = 1
        seen[whole] += found[at] > 0.5
    return found


def _align_words(blocks: list[list[str]], theirs: list[str], known: dict[str, int]) -> NDArray[np.float64]:
    max_word_pairs = 4_000_000_000  # pairs of words; with more, only whole blocks are searched for
    hits = np.zeros(len(blocks))
    mine = [word for block in blocks for word in block]
    owner = np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    if len(mine) * len(theirs) > max_word_pairs:
        return hits
    for step in LCSseq.opcodes(_encode_words(mine, known), _encode_words(theirs, known)):
        if step.tag == "equal":
            np.add.at(hits, owner[step.src_start : step.src_end], 1)
    return hits


def _encode_words(sequence: list[str], known: dict[str, int]) -> str:
    """Encode each word as one letter, because the aligner is fastest on text."""
    codes = (known.setdefault(word, len(known)) for word in sequence)
    return "".join(chr(code + 0x100 if code < 0xD700 else code + 0x900) for code in codes)
