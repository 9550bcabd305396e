"""Measure the share of structure that is kept, of each kind, as page means.

python -m evals.structure.evaluate [--own] [--every 5] [--lost 3]
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from evals.extraction.corpus import large, samples
from evals.structure.facts import Facts, facts_of
from evals.structure.kept import KINDS, Mark, kept

PAGES = Path(__file__).parent / "pages"
URL = "https://manual.example/guide/page"
GOALS = {"code": 0.98, "rows": 0.95, "items": 0.92, "headings": 0.95, "links": 0.97, "math": 0.95}

Extractor = Callable[[bytes, str], str]


@dataclass(frozen=True)
class Page:
    """A page with what it marks up."""

    name: str
    url: str
    html: bytes
    facts: Facts


def ours(html: bytes, url: str) -> str:
    """The package's Markdown."""
    from outrider import extract

    return extract(html, url=url).markdown


def own() -> Iterator[Page]:
    """The pages that were written for this purpose."""
    for path in sorted(PAGES.glob("*.html")):
        facts = Facts.of(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
        yield Page(path.stem, URL, path.read_bytes(), facts)


def wcxb(folder: Path, every: int = 1) -> Iterator[Page]:
    """The pages of the large corpus, of which the facts are derived."""
    for sample in list(samples(folder))[::every]:
        html = sample.html()
        yield Page(sample.id, sample.url, html, facts_of(html, sample.url, sample.text))


@dataclass(frozen=True)
class Score:
    """Of one kind, over a corpus.

    Attributes:
        share: Of the facts of the main content those that are kept; mean of the pages that have any.
        form: The same of the facts whose words are there at all: what is left out is none of the renderer's doing.
        pages: How many pages have any.
        facts: How many there are.
        lost: Those that are not kept, with their page's name.
    """

    share: float
    form: float
    pages: int
    facts: int
    lost: tuple[tuple[str, object], ...]


Judged = tuple[Page, dict[str, list[Mark]]]


def measure(pages: Iterator[Page], extractor: Extractor) -> dict[str, Score]:
    """The score of each kind that occurs."""
    return scores([(page, kept(page.facts, extractor(page.html, page.url))) for page in pages])


def scores(judged: list[Judged]) -> dict[str, Score]:
    """The same of pages of which the Markdown has been judged."""
    return {kind: score for kind in KINDS if (score := _score(kind, judged)).pages}


def _score(kind: str, judged: list[Judged]) -> Score:
    marks = [found[kind] for _, found in judged if found[kind]]
    there = [kept for found in marks if (kept := [mark for mark in found if mark is not Mark.MISSING])]
    lost = [
        (page.name, fact)
        for page, found in judged
        for fact, mark in zip(getattr(page.facts, kind), found[kind], strict=True)
        if mark is not Mark.KEPT
    ]
    return Score(_share(marks), _share(there), len(marks), sum(map(len, marks)), tuple(lost))


def _share(pages: list[list[Mark]]) -> float:
    return mean([mean(mark is Mark.KEPT for mark in page) for page in pages] or [0.0])


def main() -> None:
    """Prints a line for each kind, and examples of what was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--own", action="store_true", help="only the small corpus")
    options.add_argument("--every", type=int, default=1, help="each nth page of the large corpus")
    options.add_argument("--lost", type=int, default=0, metavar="N", help="up to N examples of each kind")
    given = options.parse_args()
    corpora = {"own": own()}
    if not given.own and (folder := large()):
        corpora["large"] = wcxb(folder, given.every)
    for name, pages in corpora.items():
        for kind, score in measure(pages, ours).items():
            print(
                f"{name:6} {kind:9} {score.share:.3f}, of what is there {score.form:.3f} (goal {GOALS[kind]:.2f}), "
                f"{score.pages} pages, {score.facts} facts"
            )
            for page, fact in score.lost[:: max(1, len(score.lost) // given.lost)] if given.lost else ():
                print(f"    {page}: {str(fact)[:300]!r}")


if __name__ == "__main__":
    main()
