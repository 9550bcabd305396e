"""Play tasks and print a table; fails if a solvable task is not solved."""

import argparse
import sys
from collections.abc import Sequence

import anyio

from evals.miniwob.episodes import DEFAULT_SEED, SESSION_COUNT, Episode, play_tasks
from evals.miniwob.gate import EXPECTED_MISSES, find_failures
from evals.miniwob.site import list_tasks


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m evals.miniwob", description=__doc__)
    options.add_argument("tasks", nargs="*", help="all if none is named")
    options.add_argument("--seed", default=DEFAULT_SEED, help="of every episode")
    options.add_argument("--at-once", type=int, default=SESSION_COUNT, help="sessions at the same time")
    arguments = options.parse_args()

    async def play_all() -> list[Episode]:
        done = await play_tasks(arguments.tasks or list_tasks(), seed=arguments.seed, at_once=arguments.at_once)
        return await _retry_failures(await _retry_failures(done, arguments.seed), arguments.seed)

    done = anyio.run(play_all)
    print("\n".join([*map(_format_row, done), *summarize_episodes(done), *(problems := find_failures(done))]))
    return bool(problems)


async def _retry_failures(done: list[Episode], seed: str) -> list[Episode]:
    """Play unexpected failures again alone, because pages have time limits and machines may be busy."""
    failed = [each.task for each in done if not each.solved and each.task not in EXPECTED_MISSES]
    again = {each.task: each for each in await play_tasks(failed, seed=seed, at_once=1)} if failed else {}
    return [again.get(each.task, each) for each in done]


def _format_row(each: Episode) -> str:
    seen = f"{each.coverage.clickable - len(each.coverage.missing)}/{each.coverage.clickable}" if each.coverage else ""
    why = "" if each.solved else EXPECTED_MISSES.get(each.task) or each.why
    return f"{each.task:30}{'solved' if each.solved else 'missed':8}{each.seconds:5.1f} s {seen:>8}  {why[:160]}"


def summarize_episodes(done: Sequence[Episode]) -> list[str]:
    """Return the lines below the table."""
    coverages = [each.coverage for each in done if each.coverage]
    lines = [f"\n{sum(each.solved for each in done)} of {len(done)} tasks solved"]
    lines += [
        f"not in the snapshot, {each.task}: {what}" for each in done if each.coverage for what in each.coverage.missing
    ]
    lines += [
        f"words not in the snapshot, {each.task}: {' '.join(each.coverage.missing_words)}"
        for each in done
        if each.coverage and each.coverage.missing_words
    ]
    clickable, missing = sum(each.clickable for each in coverages), sum(len(each.missing) for each in coverages)
    words, missing_words = sum(each.words for each in coverages), sum(len(each.missing_words) for each in coverages)
    lines += [
        f"clickable elements in the snapshot: {clickable - missing} of {clickable}, {1 - missing / clickable:.2%}"
    ]
    return [
        *lines,
        f"visible words in the snapshot: {words - missing_words} of {words}, {1 - missing_words / words:.2%}",
    ]


if __name__ == "__main__":
    sys.exit(main())
