"""Measure the share of structure that is kept, by kind, as page means.

python -m evals.structure.evaluate [--own] [--every 5] [--lost 3]
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from evals.extraction.corpus import find_large_corpus, read_samples
from evals.structure.facts import Facts, derive_facts
from evals.structure.judge import FACT_KINDS, Mark, judge_facts

PAGES_FOLDER = Path(__file__).parent / "pages"
GOAL_SHARES = {"code": 0.98, "rows": 0.95, "items": 0.92, "headings": 0.95, "links": 0.97, "math": 0.95}

Extractor = Callable[[bytes, str], str]


@dataclass(frozen=True)
class StructuredPage:
    """A page with the structure of its content."""

    name: str
    url: str
    html: bytes
    facts: Facts


def convert_with_outrider(html: bytes, url: str) -> str:
    """Convert a page to Markdown with the package."""
    from outrider import extract

    return extract(html, url=url).markdown


def read_own_pages() -> Iterator[StructuredPage]:
    """Yield the pages written for this purpose."""
    page_url = "https://manual.example/guide/page"
    for path in sorted(PAGES_FOLDER.glob("*.html")):
        facts = Facts.from_json(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
        yield StructuredPage(path.stem, page_url, path.read_bytes(), facts)


def read_large_corpus(folder: Path, every: int = 1) -> Iterator[StructuredPage]:
    """Yield the pages of the large corpus, whose facts are derived."""
    for sample in list(read_samples(folder))[::every]:
        html = sample.read_html()
        yield StructuredPage(sample.id, sample.url, html, derive_facts(html, sample.url, sample.text))


@dataclass(frozen=True)
class StructureScore:
    """The score of one kind over a corpus.

    Attributes:
        share: The kept share of the main content's facts, as the mean of pages with any.
        form: The same for facts whose words are kept, because the renderer does not decide what is left out.
        pages: The number of pages with such facts.
        facts: The number of facts.
        lost: The facts that are not kept, with their page's name.
    """

    share: float
    form: float
    pages: int
    facts: int
    lost: tuple[tuple[str, object], ...]


Judged = tuple[StructuredPage, dict[str, list[Mark]]]


def measure_structure(pages: Iterator[StructuredPage], extractor: Extractor) -> dict[str, StructureScore]:
    """Return the score of each kind that occurs."""
    return compute_scores([(page, judge_facts(page.facts, extractor(page.html, page.url))) for page in pages])


def compute_scores(judged: list[Judged]) -> dict[str, StructureScore]:
    """Return the scores of pages whose Markdown has been judged."""
    return {kind: score for kind in FACT_KINDS if (score := _compute_score(kind, judged)).pages}


def _compute_score(kind: str, judged: list[Judged]) -> StructureScore:
    marks = [found[kind] for _, found in judged if found[kind]]
    there = [kept for found in marks if (kept := [mark for mark in found if mark is not Mark.MISSING])]
    lost = [
        (page.name, fact)
        for page, found in judged
        for fact, mark in zip(getattr(page.facts, kind), found[kind], strict=True)
        if mark is not Mark.KEPT
    ]
    return StructureScore(_compute_share(marks), _compute_share(there), len(marks), sum(map(len, marks)), tuple(lost))


def _compute_share(pages: list[list[Mark]]) -> float:
    return mean([mean(mark is Mark.KEPT for mark in page) for page in pages] or [0.0])


def main() -> None:
    """Print a line for each kind, and examples of lost facts."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--own", action="store_true", help="only the small corpus")
    options.add_argument("--every", type=int, default=1, help="each nth page of the large corpus")
    options.add_argument("--lost", type=int, default=0, metavar="N", help="up to N examples of each kind")
    arguments = options.parse_args()
    corpora = {"own": read_own_pages()}
    if not arguments.own and (folder := find_large_corpus()):
        corpora["large"] = read_large_corpus(folder, arguments.every)
    for name, pages in corpora.items():
        for kind, score in measure_structure(pages, convert_with_outrider).items():
            print(
                f"{name:6} {kind:9} {score.share:.3f}, of what is there {score.form:.3f} (goal {GOAL_SHARES[kind]:.2f}), "
                f"{score.pages} pages, {score.facts} facts"
            )
            for page, fact in score.lost[:: max(1, len(score.lost) // arguments.lost)] if arguments.lost else ():
                print(f"    {page}: {str(fact)[:300]!r}")


if __name__ == "__main__":
    main()
