"""Fail if less structure is kept than was measured.

    python -m evals.structure.gate

The small corpus always, the large one where it is found. Floors lie a little below what was measured last;
they are raised when it becomes better, and never lowered to make this pass.
"""

import sys
from collections.abc import Iterator

from evals.extraction.corpus import large
from evals.structure.evaluate import Extractor, Page, Score, measure, ours, own, wcxb

OWN_FLOORS = {"code": 0.99, "rows": 0.99, "items": 0.99, "headings": 0.93, "links": 0.96, "math": 0.99}
LARGE_FLOORS = {"code": 0.98, "rows": 0.89, "items": 0.975, "headings": 0.945, "links": 0.935}
EVERY = 10  # pages of the large corpus


def failures(pages: Iterator[Page], floors: dict[str, float], extractor: Extractor = ours) -> list[str]:
    """What is below its floor, one sentence each, with some of what was lost."""
    found = measure(pages, extractor)
    return [
        f"{kind}: {share:.3f} is kept, floor {floor}; lost: {lost(found.get(kind))}"
        for kind, floor in floors.items()
        if (share := found[kind].share if kind in found else 0.0) < floor
    ]


def lost(score: Score | None) -> str:
    """Some examples, shortened."""
    return "; ".join(f"{page} {str(fact)[:80]!r}" for page, fact in score.lost[:3]) if score else "all"


def main() -> int:
    """Prints what is wrong; 1 if anything is."""
    problems = failures(own(), OWN_FLOORS)
    if folder := large():
        problems += failures(wcxb(folder, EVERY), LARGE_FLOORS)
    print("\n".join(problems) or "as much structure is kept as was measured")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
