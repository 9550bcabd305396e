"""Fail if less structure is kept than last measured.

    python -m evals.structure.gate

It checks the small corpus, and the large one if it is found. Floors are a little below the last measurement; they
are raised when it improves, and never lowered to make this pass.
"""

import sys
from collections.abc import Iterator

from evals.extraction.corpus import find_large_corpus
from evals.structure.evaluate import (
    Extractor,
    StructuredPage,
    StructureScore,
    convert_with_outrider,
    measure_structure,
    read_large_corpus,
    read_own_pages,
)

OWN_FLOORS = {"code": 0.99, "rows": 0.99, "items": 0.99, "headings": 0.93, "links": 0.96, "math": 0.99}


def find_failures(
    pages: Iterator[StructuredPage], floors: dict[str, float], extractor: Extractor = convert_with_outrider
) -> list[str]:
    """Return the shares below their floors, one sentence each, with examples."""
    found = measure_structure(pages, extractor)
    return [
        f"{kind}: {share:.3f} is kept, floor {floor}; lost: {describe_lost(found.get(kind))}"
        for kind, floor in floors.items()
        if (share := found[kind].share if kind in found else 0.0) < floor
    ]


def describe_lost(score: StructureScore | None) -> str:
    """Describe some lost facts, shortened."""
    return "; ".join(f"{page} {str(fact)[:80]!r}" for page, fact in score.lost[:3]) if score else "all"


def main() -> int:
    """Print the failures; returns 1 if there are any."""
    large_floors = {"code": 0.98, "rows": 0.89, "items": 0.975, "headings": 0.945, "links": 0.935}
    corpus_step = 10  # pages of the large corpus
    problems = find_failures(read_own_pages(), OWN_FLOORS)
    if folder := find_large_corpus():
        problems += find_failures(read_large_corpus(folder, corpus_step), large_floors)
    print("\n".join(problems) or "as much structure is kept as was measured")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
