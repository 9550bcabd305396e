"""Fails where the model has become worse, or another than was measured.

    python -m evals.extraction.gate

Checks the small corpus always, the large one where it is found (see `corpus.large`). The large corpus
is what the model was trained on: its floor catches a broken pipeline, not a weak model; the scores of
unseen sites stand in the model's provenance and have floors of their own.
"""

import sys

from evals.extraction.corpus import OWN, digest, large, samples
from evals.extraction.evaluate import measure, ours
from outrider.pages.content.model import model

OWN_DIGEST = ""
OWN_FLOORS = {"all": 0.9}
LARGE_FLOOR = 0.86
UNSEEN_FLOORS = {"all": 0.86, "article": 0.94, "documentation": 0.93, "service": 0.83, "forum": 0.77, "listing": 0.72}


def failures() -> list[str]:
    """What is wrong, one sentence each."""
    found = [] if digest(OWN) == OWN_DIGEST else [f"the small corpus is another than was pinned: {digest(OWN)}"]
    found += _below("small corpus", measure(list(samples(OWN)), ours), OWN_FLOORS)
    found += _below("unseen sites", model().provenance["scores"], UNSEEN_FLOORS)
    folder = large()
    if folder is not None:
        if digest(folder) != model().provenance["sha256"]:
            found.append("the large corpus is another than the model was trained on")
        found += _below("large corpus", measure(list(samples(folder))[::10], ours), {"all": LARGE_FLOOR})
    return found


def _below(name: str, scores: dict[str, float], floors: dict[str, float]) -> list[str]:
    return [
        f"{name}: F1 of {kind} is {scores.get(kind, 0)}, floor {floor}"
        for kind, floor in floors.items()
        if scores.get(kind, 0) < floor
    ]


if __name__ == "__main__":
    problems = failures()
    print("\n".join(problems) or "extraction is as good as was measured")
    sys.exit(bool(problems))
