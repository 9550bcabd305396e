"""Plays all tasks, or those that are named, and prints a table; fails where one that could be solved is not any more."""

import argparse
import sys
from collections.abc import Sequence

import anyio

from evals.miniwob.arena import AT_ONCE, SEED, Played, play
from evals.miniwob.gate import MISSES, failures
from evals.miniwob.site import tasks


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m evals.miniwob", description=__doc__)
    options.add_argument("tasks", nargs="*", help="all if none is named")
    options.add_argument("--seed", default=SEED, help="of every episode")
    options.add_argument("--at-once", type=int, default=AT_ONCE, help="sessions at the same time")
    given = options.parse_args()

    async def work() -> list[Played]:
        done = await play(given.tasks or tasks(), seed=given.seed, at_once=given.at_once)
        return await _once_more(await _once_more(done, given.seed), given.seed)

    done = anyio.run(work)
    print("\n".join([*map(_row, done), *totals(done), *(problems := failures(done))]))
    return bool(problems)


async def _once_more(done: list[Played], seed: str) -> list[Played]:
    """What failed and should not have is played again, alone: the pages have clocks, the machine has other work."""
    failed = [each.task for each in done if not each.solved and each.task not in MISSES]
    again = {each.task: each for each in await play(failed, seed=seed, at_once=1)} if failed else {}
    return [again.get(each.task, each) for each in done]


def _row(each: Played) -> str:
    seen = f"{each.truth.clickable - len(each.truth.missing)}/{each.truth.clickable}" if each.truth else ""
    why = "" if each.solved else MISSES.get(each.task) or each.why
    return f"{each.task:30}{'solved' if each.solved else 'missed':8}{each.seconds:5.1f} s {seen:>8}  {why[:160]}"


def totals(done: Sequence[Played]) -> list[str]:
    """The lines below the table."""
    truths = [each.truth for each in done if each.truth]
    lines = [f"\n{sum(each.solved for each in done)} of {len(done)} tasks solved"]
    lines += [f"not in the snapshot, {each.task}: {what}" for each in done if each.truth for what in each.truth.missing]
    lines += [
        f"not told, {each.task}: {' '.join(each.truth.untold)}" for each in done if each.truth and each.truth.untold
    ]
    clickable, missing = sum(each.clickable for each in truths), sum(len(each.missing) for each in truths)
    words, untold = sum(each.words for each in truths), sum(len(each.untold) for each in truths)
    lines += [
        f"clickable elements in the snapshot: {clickable - missing} of {clickable}, {1 - missing / clickable:.2%}"
    ]
    return [*lines, f"visible words in the snapshot: {words - untold} of {words}, {1 - untold / words:.2%}"]


if __name__ == "__main__":
    sys.exit(main())
