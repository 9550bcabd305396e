"""Two runs side by side: which steps correspond, and in what they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from outrider.agents.views.step_list import StepRow


@dataclass(frozen=True)
class StepPair:
    """A step of one run beside the step of the other that corresponds to it; None where there is none.

    Attributes:
        differs: Whether they do not say the same: another tool, other arguments, or another outcome.
    """

    left: StepRow | None
    right: StepRow | None

    @property
    def differs(self) -> bool:
        if self.left is None or self.right is None:
            return True
        return _build_signature(self.left) != _build_signature(self.right)


def align_steps(left: Sequence[StepRow], right: Sequence[StepRow]) -> list[StepPair]:
    """The steps in order, each once. Equal tools correspond, and what lies between them in turn (Ratcliff, Metzener:
    Pattern Matching, Dr. Dobb's Journal 1988, as in difflib).
    """
    matcher = SequenceMatcher(
        None, [_describe_step(each) for each in left], [_describe_step(each) for each in right], autojunk=False
    )
    pairs: list[StepPair] = []
    for _, from_left, to_left, from_right, to_right in matcher.get_opcodes():
        pairs += _beside(left[from_left:to_left], right[from_right:to_right])
    return pairs


def _beside(left: Sequence[StepRow], right: Sequence[StepRow]) -> list[StepPair]:
    both = min(len(left), len(right))
    together = [StepPair(*each) for each in zip(left, right, strict=False)]
    return together + [StepPair(each, None) for each in left[both:]] + [StepPair(None, each) for each in right[both:]]


def _describe_step(step: StepRow) -> str:
    return f"tool {step.tool}" if step.is_tool else "model"


def _build_signature(step: StepRow) -> tuple[str, object, str | None]:
    return _describe_step(step), step.arguments, step.outcome
