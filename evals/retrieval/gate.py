"""Fail if search has become worse, or if hybrid search does not beat both its parts.

    python -m evals.retrieval.gate

Checks our small set with the vectors of the package, and with MiniLM if its weights are installed. The set is small and
was used to choose weights, so its floors only catch a broken pipeline. `evaluate` compares public sets in the folder
`OUTRIDER_BEIR`.
"""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from evals.retrieval.evaluate import OWN_FOLDER, list_providers, measure_modes, read_set

OWN_DIGEST = "0a694a187a6861665f027254aded6163874ba1580ab7d5d8068816636a10d9cb"
SCORE_FLOORS: Mapping[str, Mapping[str, float]] = {
    "builtin": {"keyword": 0.74, "semantic": 0.75, "hybrid": 0.80},
    "minilm": {"keyword": 0.74, "semantic": 0.94, "hybrid": 0.95},
}


def find_failures(folder: Path = OWN_FOLDER, providers: list[str] | None = None) -> list[str]:
    """Return the failures, one sentence each."""
    actual = compute_digest(folder)
    wrong = [] if actual == OWN_DIGEST else [f"the judged set is not the pinned one: {actual}"]
    judged = read_set(folder)
    for provider in list_providers() if providers is None else providers:
        wrong += find_low_scores(provider, measure_modes(judged, provider))
    return wrong


def find_low_scores(provider: str, scores: Mapping[str, float]) -> list[str]:
    """Return the scores below their floors, and a hybrid score that is not the best."""
    wrong = [
        f"{provider}: nDCG@10 of {mode} is {scores[mode]:.3f}, floor {floor}"
        for mode, floor in SCORE_FLOORS[provider].items()
        if scores[mode] < floor
    ]
    parts = max(scores["keyword"], scores["semantic"])
    better = scores["hybrid"] > parts
    return wrong if better else [*wrong, f"{provider}: hybrid {scores['hybrid']:.3f} does not beat {parts:.3f}"]


def compute_digest(folder: Path) -> str:
    """Return the SHA-256 of a set's files."""
    files = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in files)).hexdigest()


if __name__ == "__main__":
    problems = find_failures()
    print("\n".join(problems) or "searching is as good as was measured")
    sys.exit(bool(problems))
