"""Fuzz the same targets guided by coverage, with atheris.

    python -m evals.fuzz.guided --target content found/seeds -max_total_time=1800

Arguments after the folder go to libFuzzer. Findings are written as `crash-…`, with the invariant on standard error. The
limits of time and memory are libFuzzer's own: `-timeout=10 -rss_limit_mb=1024`.
"""

import argparse
import random
import sys
from pathlib import Path


def main() -> None:
    """Write seeds into the folder if it is empty, then fuzz until stopped."""
    seed_count = 60
    libfuzzer_options = ("-timeout=10", "-rss_limit_mb=1500", "-max_len=200000", "-len_control=0")
    import atheris  # ty: ignore[import-not-found]

    with atheris.instrument_imports(include=["outrider.pages"]):
        import outrider
        import outrider.pages.extraction.main_content
        from evals.fuzz.targets import TARGETS, check_input
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--target", choices=sorted(TARGETS), default="content")
    options.add_argument("folder", type=Path)
    arguments, others = options.parse_known_args()
    target = TARGETS[arguments.target]()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if not any(arguments.folder.iterdir()):
        rng = random.Random(0)
        for number in range(seed_count):
            (arguments.folder / f"seed-{number}").write_bytes(target.make_input(rng)[:20_000])
    assert outrider.extract(b"<p>ready").text  # loads late imports now
    atheris.Setup(
        [sys.argv[0], str(arguments.folder), *libfuzzer_options, *others], lambda data: check_input(target, data)
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
