"""The share of structure that is kept, of each kind; page means.

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
from evals.structure.kept import KINDS, kept

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
    """Of one kind: the mean share of the pages that have any, how many pages and facts, and what was lost."""

    share: float
    pages: int
    facts: int
    lost: tuple[tuple[str, object], ...]


def measure(pages: Iterator[Page], extractor: Extractor) -> dict[str, Score]:
    """The score of each kind that occurs."""
    found = [(page, kept(page.facts, extractor(page.html, page.url))) for page in pages]
    return {kind: score for kind in KINDS if (score := _score(kind, found)).pages}


def _score(kind: str, found: list[tuple[Page, dict[str, list[bool]]]]) -> Score:
    shares = [mean(marks[kind]) for _, marks in found if marks[kind]]
    lost = [
        (page.name, fact)
        for page, marks in found
        for fact, is_kept in zip(getattr(page.facts, kind), marks[kind], strict=True)
        if not is_kept
    ]
    return Score(mean(shares or [0]), len(shares), sum(len(marks[kind]) for _, marks in found), tuple(lost))


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
                f"{name:6} {kind:9} {score.share:.3f} (goal {GOALS[kind]:.2f}) on {score.pages} pages, {score.facts} facts"
            )
            for page, fact in score.lost[:: max(1, len(score.lost) // given.lost)] if given.lost else ():
                print(f"    {page}: {str(fact)[:300]!r}")


if __name__ == "__main__":
    main()
