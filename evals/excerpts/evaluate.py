"""Measure how many answers `web_fetch(query=…)` finds, and with how many tokens.

    python -m evals.excerpts.evaluate [--corpus FOLDER] [--every 5]

Questions come from the corpus: for each phrase known to be in a page, four of its rarer words, as a model would ask. An
answer is found if the excerpts contain the whole phrase.
"""

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.extraction.corpus import OWN_CORPUS, Sample, read_samples
from outrider.core.text import count_tokens
from outrider.pages.excerpt import find_excerpts
from outrider.pages.extract import extract

BUDGETS = (300, 600, 1_000)  # tokens
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Question:
    """Words to look for in a page's Markdown, and the consecutive words that are the answer."""

    markdown: str
    query: str
    answer: str


def build_questions(corpus: Iterable[Sample], *, tokens: int = max(BUDGETS)) -> Iterator[Question]:
    """Yield a question for each known phrase of pages longer than this many tokens."""
    chance = random.Random(0)
    for sample in corpus:
        markdown = extract(sample.read_html(), url=sample.url or None).markdown
        if count_tokens(markdown) > tokens:
            yield from _build_page_questions(markdown, sample.with_, chance)


def _build_page_questions(markdown: str, phrases: tuple[str, ...], chance: random.Random) -> Iterator[Question]:
    asked_words = 4  # of its words
    min_phrase_words = 8  # words of a phrase to ask for
    whole = normalize_text(markdown)
    often = Counter(whole.split())
    for phrase in map(normalize_text, phrases):
        rare = sorted({word for word in phrase.split() if len(word) > 3}, key=lambda word: (often[word], word))
        if len(phrase.split()) >= min_phrase_words and len(rare) >= asked_words and phrase in whole:
            yield Question(markdown, " ".join(chance.sample(rare, asked_words)), phrase)


def normalize_text(text: str) -> str:
    """Return the words of a text with single spaces."""
    return " ".join(WORD.findall(text.lower()))


def measure_excerpts(corpus: Iterable[Sample], *, tokens: int = max(BUDGETS)) -> dict[str, float]:
    """Return the number of questions, mean tokens of a page, and shares answered within each budget."""
    asked = list(build_questions(corpus, tokens=tokens))
    found = {"questions": float(len(asked))}
    if not asked:
        return found
    found["page_tokens"] = round(sum(count_tokens(each.markdown) for each in asked) / len(asked))
    for budget in BUDGETS:
        found[f"answered_in_{budget}"] = round(sum(is_answered(each, budget) for each in asked) / len(asked), 4)
    return found


def is_answered(question: Question, budget: int) -> bool:
    """Return whether excerpts of this many tokens contain the answer."""
    found = find_excerpts(question.markdown, question.query, max_tokens=budget)
    return any(question.answer in normalize_text(each.text) for each in found)


def main() -> None:
    """Print one line of JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=OWN_CORPUS)
    arguments.add_argument("--every", type=int, default=1, help="take each nth page only")
    chosen = arguments.parse_args()
    tokens = 0 if chosen.corpus == OWN_CORPUS else max(BUDGETS)
    print(json.dumps(measure_excerpts(list(read_samples(chosen.corpus))[:: chosen.every], tokens=tokens)))


if __name__ == "__main__":
    main()
