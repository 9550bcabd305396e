"""Compare the steps of two runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from outrider.agents.views.step_list import StepRow


@dataclass(frozen=True)
class StepPair:
    """Two corresponding steps of two runs; None where a run has no such step."""

    left: StepRow | None
    right: StepRow | None

    @property
    def differs(self) -> bool:
        """Whether tool, arguments or outcome differ."""
        if self.left is None or self.right is None:
            return True
        left, right = ((_describe_step(step), step.arguments, step.outcome) for step in (self.left, self.right))
        return left != right


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> list[StepPair]:
    """Pair the steps of two runs in order, so that equal tools correspond.

    Steps between equal tools are paired one by one. The algorithm is Ratcliff/Obershelp, as in difflib.
    """
    matcher = SequenceMatcher(
        None, [_describe_step(step) for step in left], [_describe_step(step) for step in right], autojunk=False
    )
    pairs: list[StepPair] = []
    for _, left_start, left_end, right_start, right_end in matcher.get_opcodes():
        pairs += [StepPair(*pair) for pair in zip_longest(left[left_start:left_end], right[right_start:right_end])]
    return pairs


def _describe_step(step: StepRow) -> str:
    return f"tool {step.tool}" if step.is_tool else "model"
