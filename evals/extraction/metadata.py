r"""Score titles, authors and publication dates, also of other extractors, on a corpus that has them.

    python -m evals.extraction.metadata [--corpus FOLDER] [--with trafilatura] [--every 5] [--misses title]

A title is right if it has the reference's words in their order, whatever stands between them. An author is right if all
words of the shorter of the two names stand in the longer one, a date if it is the same day. Of pages whose reference
has none, a fact that is given all the same is counted as spurious; references are not complete, so compare rates.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.extraction.corpus import large, samples
from evals.extraction.metric import words

FACTS = ("title", "author", "date")


@dataclass(frozen=True)
class Told:
    """What is said of a page; empty where nothing is."""

    title: str
    author: str
    date: str


Extractor = Callable[[bytes, str], Told]


def ours(source: bytes, url: str) -> Told:
    """The package's facts."""
    from outrider.pages.extract import extract

    found = extract(source, url=url or None)
    return Told(found.title, found.author, found.published)


def trafilatura(source: bytes, url: str) -> Told:
    """Trafilatura's, with the search for dates that it has by default."""
    from trafilatura import bare_extraction

    found = bare_extraction(source, url=url or None, with_metadata=True)
    return Told(found.title or "", found.author or "", found.date or "") if found else Told("", "", "")


EXTRACTORS: dict[str, Extractor] = {each.__name__: each for each in (ours, trafilatura)}


def references(corpus: Path) -> dict[str, Told]:
    """The facts of each page by its id."""
    pages = map(json.loads, filter(None, (corpus / "pages.jsonl").read_text(encoding="utf-8").split("\n")))
    return {page["id"]: Told(*(page.get(name) or "" for name in FACTS)) for page in pages}


def is_right(fact: str, found: str, reference: str) -> bool:
    """Whether a fact that is in both is the same."""
    if fact == "date":
        return found[: len(reference)] == reference
    mine, theirs = words(found), words(reference)
    if fact == "author":
        shorter, longer = sorted((set(mine), set(theirs)), key=len)
        return bool(shorter) and shorter <= longer
    return mine == theirs


def measure(answers: dict[str, Told], truths: dict[str, Told]) -> dict[str, float]:
    """Of each fact the share that is right of pages that have it, wrong of these, and spurious of the others."""
    figures: dict[str, float] = {}
    for fact in FACTS:
        pairs = [(getattr(answers[page], fact), getattr(truths[page], fact)) for page in answers]
        having = [(found, truth) for found, truth in pairs if truth]
        lacking = [found for found, truth in pairs if not truth]
        right = sum(is_right(fact, found, truth) for found, truth in having)
        given = sum(bool(found) for found, _ in having)
        figures[f"{fact}_right"] = round(right / max(1, len(having)), 3)
        figures[f"{fact}_wrong"] = round((given - right) / max(1, len(having)), 3)
        if lacking:
            figures[f"{fact}_spurious"] = round(sum(map(bool, lacking)) / len(lacking), 3)
    return figures


def misses(fact: str, answers: dict[str, Told], truths: dict[str, Told]) -> Iterator[str]:
    """What was found beside what should have been, where they differ."""
    for page, found in answers.items():
        mine, theirs = getattr(found, fact), getattr(truths[page], fact)
        if bool(mine) != bool(theirs) or (mine and not is_right(fact, mine, theirs)):
            yield f"{page}  {mine!r}  should be  {theirs!r}"


def main() -> None:
    """Prints one line of JSON for each extractor, or the misses of our own."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=large())
    arguments.add_argument("--with", dest="others", action="append", default=[], choices=sorted(EXTRACTORS))
    arguments.add_argument("--every", type=int, default=1, help="take each nth page only")
    arguments.add_argument("--misses", choices=FACTS)
    chosen = arguments.parse_args()
    truths = references(chosen.corpus)
    pages = list(samples(chosen.corpus))[:: chosen.every]
    for name in ["ours", *chosen.others]:
        answers, spent = {}, 0.0
        for sample in pages:
            source, start = sample.html(), time.process_time()
            answers[sample.id] = EXTRACTORS[name](source, sample.url)
            spent += time.process_time() - start
        if chosen.misses:
            print("\n".join(misses(chosen.misses, answers, truths)))
        print(json.dumps({"extractor": name, "pages": len(pages), **measure(answers, truths)}))


if __name__ == "__main__":
    main()
