"""Fuzz the same targets guided by coverage, with atheris.

    python -m evals.fuzz.guided --target content found/seeds -max_total_time=1800

What follows the folder goes to libFuzzer. What it finds is written as `crash-…`, with the invariant on
standard error. Bounds of time and memory are libFuzzer's own: `-timeout=10 -rss_limit_mb=1024`.
"""

import argparse
import random
import sys
from pathlib import Path

BOUNDS = ("-timeout=10", "-rss_limit_mb=1500", "-max_len=200000", "-len_control=0")
SEEDS = 60


def main() -> None:
    """Writes seeds into the folder if it is empty, then fuzzes until it is told to stop."""
    import atheris  # ty: ignore[import-not-found]

    with atheris.instrument_imports(include=["outrider.pages"]):
        import outrider
        import outrider.pages.extraction.main_content
        from evals.fuzz.targets import TARGETS, check
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--target", choices=sorted(TARGETS), default="content")
    options.add_argument("folder", type=Path)
    given, others = options.parse_known_args()
    target = TARGETS[given.target]()
    given.folder.mkdir(parents=True, exist_ok=True)
    if not any(given.folder.iterdir()):
        rng = random.Random(0)
        for number in range(SEEDS):
            (given.folder / f"seed-{number}").write_bytes(target.make(rng)[:20_000])
    assert outrider.extract(b"<p>ready").text  # what is imported late is imported now
    atheris.Setup([sys.argv[0], str(given.folder), *BOUNDS, *others], lambda data: check(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
