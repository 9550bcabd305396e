"""Generate documents from the sentences of the pages of `evals/extraction`.

Each document has some sentences in random order, with a share of their words replaced by rare ones, because a large
collection has more than the few thousand words of the pages.
"""

import random
import re
from collections.abc import Iterator

from evals.extraction.corpus import OWN_CORPUS, read_samples

SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
SYLLABLES = "ba ce di fo gu ha ke li mo nu pa re si to vu wa xe yi zo".split()  # noqa: SIM905


def read_sentences() -> list[str]:
    """Return the sentences of medium length."""
    found = (
        each.strip()
        for sample in read_samples(OWN_CORPUS)
        for each in SENTENCE_END.split(sample.text.replace("\n", " "))
    )
    return sorted({each for each in found if 40 <= len(each) <= 220 and each.isascii()})


def generate_documents(count: int, seed: int = 0) -> Iterator[str]:
    """Yield documents, the same for the same seed."""
    rare_word_share = 0.08
    sentences_per_document = 7  # in a document: about 800 characters, one chunk
    chance = random.Random(seed)
    known = read_sentences()
    for _ in range(count):
        words = " ".join(chance.choices(known, k=sentences_per_document)).split()
        yield " ".join(draw_rare_word(chance) if chance.random() < rare_word_share else word for word in words)


def draw_rare_word(chance: random.Random) -> str:
    """Draw a rare word, whose rank follows Zipf's law."""
    rank = int(chance.paretovariate(0.6)) % 2_000_000
    word = ""
    while True:
        rank, place = divmod(rank, len(SYLLABLES))
        word += SYLLABLES[place]
        if not rank:
            return word


def draw_queries(count: int, seed: int = 1) -> list[str]:
    """Draw queries of three words, each from one document."""
    chance = random.Random(seed)
    found = []
    for text in generate_documents(count, seed=seed):
        words = sorted({word.lower() for word in text.split() if len(word) > 4 and word.isalpha()})
        found.append(" ".join(chance.sample(words, 3)))
    return found
