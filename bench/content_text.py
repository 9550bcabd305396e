"""Real text, grown: as many documents as wanted out of the sentences of the pages of `evals/extraction`.

Each document is some sentences in an order of its own, with a share of their words replaced by others of a long tail:
a large collection has rare words, and not only the few thousand of the pages.
"""

import random
import re
from collections.abc import Iterator

from evals.extraction.corpus import OWN, samples

SENTENCE = re.compile(r"(?<=[.!?])\s+")
SENTENCES = 7  # in a document: about 800 characters, one chunk
REPLACED = 0.08
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo".split()  # noqa: SIM905


def sentences() -> list[str]:
    """The sentences of middling length."""
    found = (each.strip() for sample in samples(OWN) for each in SENTENCE.split(sample.text.replace("\n", " ")))
    return sorted({each for each in found if 40 <= len(each) <= 220 and each.isascii()})


def documents(count: int, seed: int = 0) -> Iterator[str]:
    """So many documents, the same for the same seed."""
    chance = random.Random(seed)
    known = sentences()
    for _ in range(count):
        words = " ".join(chance.choices(known, k=SENTENCES)).split()
        yield " ".join(rare(chance) if chance.random() < REPLACED else word for word in words)


def rare(chance: random.Random) -> str:
    """A word of the tail: its rank falls as Zipf's law says."""
    rank = int(chance.paretovariate(0.6)) % 2_000_000
    word = ""
    while True:
        rank, place = divmod(rank, len(SYLLABLES))
        word += SYLLABLES[place]
        if not rank:
            return word


def queries(count: int, seed: int = 1) -> list[str]:
    """Questions of three words, each out of one document."""
    chance = random.Random(seed)
    found = []
    for text in documents(count, seed=seed):
        words = sorted({word.lower() for word in text.split() if len(word) > 4 and word.isalpha()})
        found.append(" ".join(chance.sample(words, 3)))
    return found
