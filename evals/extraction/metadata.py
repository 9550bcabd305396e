r"""Score titles, authors and publication dates on a corpus, for several extractors.

    python -m evals.extraction.metadata [--corpus FOLDER] [--with trafilatura] [--every 5] [--misses title]

A title is right if it has the reference's words in order, with anything between them. An author is right if all words
of the shorter name are in the longer one, a date if it is the same day. If the reference lacks a fact, an extracted one
counts as spurious; references are incomplete, so compare rates.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evals.extraction.corpus import find_large_corpus, read_samples
from evals.extraction.metric import split_words

FACT_NAMES = ("title", "author", "date")


@dataclass(frozen=True)
class PageMetadata:
    """The metadata of a page; empty where unknown."""

    title: str
    author: str
    date: str


Extractor = Callable[[bytes, str], PageMetadata]


def extract_with_outrider(source: bytes, url: str) -> PageMetadata:
    """Extract metadata with the package."""
    from outrider.pages.extract import extract

    found = extract(source, url=url or None)
    return PageMetadata(found.title, found.author, found.published)


def extract_with_trafilatura(source: bytes, url: str) -> PageMetadata:
    """Extract metadata with trafilatura, with its default search for dates."""
    from trafilatura import bare_extraction

    found = bare_extraction(source, url=url or None, with_metadata=True)
    return PageMetadata(found.title or "", found.author or "", found.date or "") if found else PageMetadata("", "", "")


EXTRACTORS: dict[str, Extractor] = {"ours": extract_with_outrider, "trafilatura": extract_with_trafilatura}


def read_references(corpus: Path) -> dict[str, PageMetadata]:
    """Return the metadata of each page by its id."""
    pages = map(json.loads, filter(None, (corpus / "pages.jsonl").read_text(encoding="utf-8").split("\n")))
    return {page["id"]: PageMetadata(*(page.get(name) or "" for name in FACT_NAMES)) for page in pages}


def is_right(fact: str, found: str, reference: str) -> bool:
    """Return whether two values of a fact are the same."""
    if fact == "date":
        return found[: len(reference)] == reference
    mine, theirs = split_words(found), split_words(reference)
    if fact == "author":
        shorter, longer = sorted((set(mine), set(theirs)), key=len)
        return bool(shorter) and shorter <= longer
    return mine == theirs


def measure_metadata(answers: dict[str, PageMetadata], truths: dict[str, PageMetadata]) -> dict[str, float]:
    """Return the shares of right, wrong and spurious values of each fact."""
    figures: dict[str, float] = {}
    for fact in FACT_NAMES:
        pairs = [(getattr(answers[page], fact), getattr(truths[page], fact)) for page in answers]
        having = [(found, truth) for found, truth in pairs if truth]
        lacking = [found for found, truth in pairs if not truth]
        right = sum(is_right(fact, found, truth) for found, truth in having)
        arguments = sum(bool(found) for found, _ in having)
        figures[f"{fact}_right"] = round(right / max(1, len(having)), 3)
        figures[f"{fact}_wrong"] = round((arguments - right) / max(1, len(having)), 3)
        if lacking:
            figures[f"{fact}_spurious"] = round(sum(map(bool, lacking)) / len(lacking), 3)
    return figures


def iter_misses(fact: str, answers: dict[str, PageMetadata], truths: dict[str, PageMetadata]) -> Iterator[str]:
    """Yield each value that differs from the reference, together with the reference."""
    for page, found in answers.items():
        mine, theirs = getattr(found, fact), getattr(truths[page], fact)
        if bool(mine) != bool(theirs) or (mine and not is_right(fact, mine, theirs)):
            yield f"{page}  {mine!r}  should be  {theirs!r}"


def main() -> None:
    """Print one line of JSON for each extractor, or our own misses."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--corpus", type=Path, default=find_large_corpus())
    arguments.add_argument("--with", dest="others", action="append", default=[], choices=sorted(EXTRACTORS))
    arguments.add_argument("--every", type=int, default=1, help="take each nth page only")
    arguments.add_argument("--misses", choices=FACT_NAMES)
    chosen = arguments.parse_args()
    truths = read_references(chosen.corpus)
    pages = list(read_samples(chosen.corpus))[:: chosen.every]
    for name in ["ours", *chosen.others]:
        answers, spent = {}, 0.0
        for sample in pages:
            source, start = sample.read_html(), time.process_time()
            answers[sample.id] = EXTRACTORS[name](source, sample.url)
            spent += time.process_time() - start
        if chosen.misses:
            print("\n".join(iter_misses(chosen.misses, answers, truths)))
        print(json.dumps({"extractor": name, "pages": len(pages), **measure_metadata(answers, truths)}))


if __name__ == "__main__":
    main()
