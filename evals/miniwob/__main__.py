"""Plays all tasks, or those that are named, and prints a table."""

import argparse
import sys

import anyio

from evals.miniwob.arena import AT_ONCE, SEED, play
from evals.miniwob.site import tasks


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m evals.miniwob", description=__doc__)
    options.add_argument("tasks", nargs="*", help="all if none is named")
    options.add_argument("--seed", default=SEED)
    options.add_argument("--at-once", type=int, default=AT_ONCE)
    given = options.parse_args()

    async def work():
        return await play(given.tasks or tasks(), seed=given.seed, at_once=given.at_once)

    done = anyio.run(work)
    for each in done:
        print(f"{each.task:30} {'solved' if each.solved else 'missed':7} {each.seconds:5.1f} s  {'' if each.solved else each.why[:150]!r}")
    print(sum(each.solved for each in done), "of", len(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
