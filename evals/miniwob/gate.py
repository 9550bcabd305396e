"""What must hold: which tasks are solved, and how much of the pages the snapshots show."""

from collections.abc import Sequence

from evals.miniwob.arena import Played

LEAST_SOLVED = 125
LEAST_CLICKABLE = 0.99  # of what a pointer can reach
LEAST_WORDS = 0.995  # of what can be seen
# Tasks that no script of ours solves, and why. All others must be solved.
PACE = "moves faster than one who looks, thinks and acts in turn"
MISSES = {
    "chase-circle": PACE,
    "click-checkboxes-soft": "wants to know which words mean nearly the same: a model's part",
    "hover-shape": PACE,
    "moving-items": PACE,
    "simon-says": PACE,
}


def failures(done: Sequence[Played]) -> list[str]:
    """What does not hold, one sentence each; shares only where all tasks were played."""
    found = [
        f"{each.task} is no longer solved: {each.why}" for each in done if not each.solved and each.task not in MISSES
    ]
    truths = [each.truth for each in done if each.truth]
    clickable, missing = sum(each.clickable for each in truths), sum(len(each.missing) for each in truths)
    words, untold = sum(each.words for each in truths), sum(len(each.untold) for each in truths)
    if sum(each.solved for each in done) < min(LEAST_SOLVED, len(done) - len(MISSES)):
        found.append(f"only {sum(each.solved for each in done)} tasks are solved")
    if clickable - missing < LEAST_CLICKABLE * clickable:
        found.append(f"{missing} of {clickable} clickable elements have no reference")
    if words - untold < LEAST_WORDS * words:
        found.append(f"{untold} of {words} visible words are not told")
    return found
