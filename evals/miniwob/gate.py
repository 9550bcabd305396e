"""Check the solved tasks, and the share of the pages that snapshots show."""

from collections.abc import Sequence

from evals.miniwob.episodes import Episode

# Tasks that our scripts do not solve, and why. All others must be solved.
PACE_REASON = "moves faster than a loop of looking, thinking and acting"
EXPECTED_MISSES = {
    "chase-circle": PACE_REASON,
    "click-checkboxes-soft": "needs a model to know which words mean nearly the same",
    "hover-shape": PACE_REASON,
    "moving-items": PACE_REASON,
    "simon-says": PACE_REASON,
}


def find_failures(done: Sequence[Episode]) -> list[str]:
    """Return the failures, one sentence each; shares only if all tasks were played."""
    min_word_share = 0.995  # of visible words
    min_clickable_share = 0.99  # of elements that a pointer can reach
    min_solved_tasks = 125
    found = [
        f"{each.task} was solved before and fails now: {each.why}"
        for each in done
        if not each.solved and each.task not in EXPECTED_MISSES
    ]
    coverages = [each.coverage for each in done if each.coverage]
    clickable, missing = sum(each.clickable for each in coverages), sum(len(each.missing) for each in coverages)
    words, missing_words = sum(each.words for each in coverages), sum(len(each.missing_words) for each in coverages)
    if sum(each.solved for each in done) < min(min_solved_tasks, len(done) - len(EXPECTED_MISSES)):
        found.append(f"only {sum(each.solved for each in done)} tasks are solved")
    if clickable - missing < min_clickable_share * clickable:
        found.append(f"{missing} of {clickable} clickable elements have no reference")
    if words - missing_words < min_word_share * words:
        found.append(f"{missing_words} of {words} visible words are missing from the snapshots")
    return found
