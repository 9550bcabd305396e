"""Fails where searching has become worse, or where hybrid search is not better than both its parts.

    python -m evals.retrieval.gate

Checks the small set of our own with the vectors of the package, and with MiniLM where its weights are installed. It is
small and was looked at while weights were chosen: its floors catch a broken pipeline. Public sets, where `OUTRIDER_BEIR`
names a folder of them, are compared by `evaluate`.
"""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path

from evals.retrieval.evaluate import OWN, measure, read, usable

OWN_DIGEST = "0a694a187a6861665f027254aded6163874ba1580ab7d5d8068816636a10d9cb"
FLOORS: Mapping[str, Mapping[str, float]] = {
    "builtin": {"keyword": 0.74, "semantic": 0.75, "hybrid": 0.80},
    "minilm": {"keyword": 0.74, "semantic": 0.94, "hybrid": 0.95},
}


def failures(folder: Path = OWN, providers: list[str] | None = None) -> list[str]:
    """What is wrong, one sentence each."""
    actual = digest(folder)
    wrong = [] if actual == OWN_DIGEST else [f"the judged set is another than was pinned: {actual}"]
    judged = read(folder)
    for provider in usable() if providers is None else providers:
        wrong += below(provider, measure(judged, provider))
    return wrong


def below(provider: str, scores: Mapping[str, float]) -> list[str]:
    """The scores that are lower than their floors, and a hybrid that is not the best."""
    wrong = [
        f"{provider}: nDCG@10 of {mode} is {scores[mode]:.3f}, floor {floor}"
        for mode, floor in FLOORS[provider].items()
        if scores[mode] < floor
    ]
    parts = max(scores["keyword"], scores["semantic"])
    better = scores["hybrid"] > parts
    return wrong if better else [*wrong, f"{provider}: hybrid {scores['hybrid']:.3f} is no better than {parts:.3f}"]


def digest(folder: Path) -> str:
    """SHA-256 of a set's files."""
    files = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in files)).hexdigest()


if __name__ == "__main__":
    problems = failures()
    print("\n".join(problems) or "searching is as good as was measured")
    sys.exit(bool(problems))
