"""Measure how many answers `web_fetch(query=…)` finds, and with how many tokens.

    python -m evals.excerpts.evaluate [--corpus FOLDER] [--every 5]

Questions are made of the corpus: of each phrase that is known to stand in a page, four of its rarer
words, as a model would ask. An answer is reached if the whole phrase stands in the excerpts.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.extraction.corpus import OWN, Sample, samples
from outrider.core.text import count_tokens
from outrider.pages.excerpt import find_excerpts
from outrider.pages.extract import extract

BUDGETS = (300, 600, 1_000)  # tokens
LEAST = 8  # words of a phrase that is asked for
ASKED = 4  # of its words
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """Words to look for in a page's Markdown, and the words in a row that answer."""

    markdown: str
    query: str
    answer: str


def questions(corpus: Iterable[Sample], *, tokens: int = max(BUDGETS)) -> Iterator[Question]:
    """One question for each known phrase of the pages that are longer than so many tokens."""
    chance = random.Random(0)
    for sample in corpus:
        markdown = extract(sample.html(), url=sample.url or None).markdown
        if count_tokens(markdown) > tokens:
            yield from _of(markdown, sample.with_, chance)


def _of(markdown: str, phrases: tuple[str, ...], chance: random.Random) -> Iterator[Question]:
    whole = plain(markdown)
    often = Counter(whole.split())
    for phrase in map(plain, phrases):
        rare = sorted({word for word in phrase.split() if len(word) > 3}, key=lambda word: (often[word], word))
        if len(phrase.split()) >= LEAST and len(rare) >= ASKED and phrase in whole:
            yield Question(markdown, " ".join(chance.sample(rare, ASKED)), phrase)


def plain(text: str) -> str:
    """The words of a text with single spaces."""
    return " ".join(WORD.findall(text.lower()))


def measure(corpus: Iterable[Sample], *, tokens: int = max(BUDGETS)) -> dict[str, float]:
    """Number of questions, tokens of a page in the mean, and the share answered within each budget."""
    asked = list(questions(corpus, tokens=tokens))
    found = {"questions": float(len(asked))}
    if not asked:
        return found
    found["page_tokens"] = round(sum(count_tokens(each.markdown) for each in asked) / len(asked))
    for budget in BUDGETS:
        found[f"answered_in_{budget}"] = round(sum(answered(each, budget) for each in asked) / len(asked), 4)
    return found


def answered(question: Question, budget: int) -> bool:
    """Whether excerpts of so many tokens hold the answer."""
    found = find_excerpts(question.markdown, question.query, max_tokens=budget)
    return any(question.answer in plain(each.text) for each in found)


def main() -> None:
    """Prints one line of JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=OWN)
    arguments.add_argument("--every", type=int, default=1, help="take each nth page only")
    chosen = arguments.parse_args()
    tokens = 0 if chosen.corpus == OWN else max(BUDGETS)
    print(json.dumps(measure(list(samples(chosen.corpus))[:: chosen.every], tokens=tokens)))


if __name__ == "__main__":
    main()
