"""Print the cases that the package and Chromium pass; fails if Chromium is ahead."""

import argparse
import sys
from collections import Counter
from pathlib import Path

import anyio

from evals.names.cases import read_suites
from evals.names.measure import Outcome, measure_cases

CACHE = Path(__file__).parents[2] / ".cache"


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m evals.names", description=__doc__)
    options.add_argument("--wpt", type=Path, default=CACHE / "wpt", help="a checkout of web-platform-tests/wpt")
    options.add_argument("--axe", type=Path, default=CACHE / "axe-core", help="accessible-text.js and implicit-role.js")
    arguments = options.parse_args()
    if not arguments.wpt.is_dir():
        print(
            f"skipped: {arguments.wpt} is missing; clone github.com/web-platform-tests/wpt there, or name it with --wpt"
        )
        return 0
    suites = read_suites(arguments.wpt, arguments.axe if arguments.axe.is_dir() else None)
    outcomes = anyio.run(measure_cases, arguments.wpt, suites)
    print("\n".join([*(_describe(each) for each in outcomes if not each.passes), *_summarize(outcomes)]))
    return int(sum(each.passes for each in outcomes) < sum(each.chromium_passes for each in outcomes))


def _describe(outcome: Outcome) -> str:
    case = outcome.case
    mark = "" if outcome.chromium_passes else f" (Chromium: {outcome.chromium!r})"
    return f"{case.page} {case.selector} {case.property}: {outcome.ours!r} not {case.expected!r}{mark} {case.title}"


def _summarize(outcomes: list[Outcome]) -> list[str]:
    total = Counter(each.case.suite for each in outcomes)
    ours = Counter(each.case.suite for each in outcomes if each.passes)
    chromium = Counter(each.case.suite for each in outcomes if each.chromium_passes)
    rows = [f"{suite:24}{total[suite]:6}{ours[suite]:10}{chromium[suite]:10}" for suite in total]
    head = f"\n{'suite':24}{'cases':>6}{'outrider':>10}{'Chromium':>10}"
    return [head, *rows, f"{'all':24}{total.total():6}{ours.total():10}{chromium.total():10}"]


if __name__ == "__main__":
    sys.exit(main())
