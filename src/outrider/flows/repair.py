"""Replace the element of a step that has stopped."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import unified_diff

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.flows.flow import Flow, FlowStep, Target
from outrider.flows.flow_files import SavedFlow

ELEMENT = re.compile(r'\b([a-z]{1,30}) "([^"\n]{1,300})" ([ef][a-z]{0,8}\d{1,7})\b')  # several are in one line
# Reasons to stop for which another element helps.
REPAIRABLE_REASONS = ("not_found", "ambiguous", "changed")


@dataclass(frozen=True)
class OutlineElement:
    """An element that the page showed: its reference, role and name."""

    ref: str
    role: str
    name: str

    def __str__(self) -> str:
        return f'{self.role} "{self.name}"'


def list_outline_elements(outline: str) -> list[OutlineElement]:
    """Return the elements of an outline in its order."""
    return [OutlineElement(match[3], match[1], match[2]) for match in ELEMENT.finditer(outline)]


def choose_element(elements: Sequence[OutlineElement], wanted: str, target: Target) -> OutlineElement:
    """Return the element that someone names by role and name, name or reference.

    Raises NotFound if the page did not show it, Refused if it showed several and no row says which.
    """
    words = wanted.strip()
    found = [each for each in elements if words in (str(each), each.name, each.ref)]
    if not found:
        shown = ", ".join(str(each) for each in elements[:10]) or "nothing to press or fill"
        raise NotFound(f"element: the page did not show {words[:100]!r}", hint=f"choose one of {shown[:600]}")
    alike = [each for each in elements if (each.role, each.name) == (found[0].role, found[0].name)]
    if not target.row and (len(alike) > 1 or len({str(each) for each in found}) > 1):
        message = f"element: the page showed {words[:100]!r} several times"
        raise Refused(message, hint="write it into the flow's file with its row or heading", code="ambiguous")
    return found[0]


def list_choices(elements: Sequence[OutlineElement], step: FlowStep) -> list[str]:
    """Return the elements that `choose_element` accepts for a step; none for steps without exactly one element."""
    if not has_one_element(step):
        return []
    names = [str(each) for each in elements]
    return [name for name in dict.fromkeys(names) if names.count(name) == 1 or (step.target and step.target.row)]


def has_one_element(step: FlowStep) -> bool:
    """Return whether the element of a step can be replaced."""
    return step.target is not None and step.to is None


def repair_step(flow: Flow, place: str, element: OutlineElement, *, asks: bool) -> Flow:
    """Return the flow with another element in one step; with `asks`, that step asks a person from now on."""

    def put_element(step: FlowStep) -> FlowStep:
        row = step.target.row if step.target else None
        target = Target.model_validate({"role": element.role, "name": element.name} | ({"row": row} if row else {}))
        field = step.kind if isinstance(getattr(step, step.kind), Target) else "on"
        return step.model_copy(update={field: target} | ({"ask": True} if asks else {}))

    return _change_step(flow, place, put_element)


def replace_step(flow: Flow, place: str, step: FlowStep) -> Flow:
    """Return the flow with another step at a place; it still asks a person if the old one did."""
    return _change_step(flow, place, lambda old: step.model_copy(update={"ask": step.ask or old.ask}))


def find_step(flow: Flow, place: str) -> FlowStep:
    """Return the step at a place in the file. Raises InvalidInput if there is none."""
    steps: Sequence[FlowStep] = flow.steps
    step: FlowStep | None = None
    for number in (int(number) for number in place.split(".")):
        step = steps[number - 1] if number <= len(steps) else None
        steps = (step.steps or ()) if step else ()
    if step is None:
        raise InvalidInput(f"{flow.name} no longer has a step {place}", hint="run it again")
    return step


def compare_files(old: str, new: str) -> str:
    """Return the lines in which two files of a flow differ, with their context."""
    max_lines = 4_000  # difflib takes quadratic time
    before, after = old.splitlines()[:max_lines], new.splitlines()[:max_lines]
    return "\n".join(list(unified_diff(before, after, n=2, lineterm=""))[2:])


def format_versions(saved: Sequence[SavedFlow]) -> str:
    """Return a flow's versions, newest first, with their differences.

    Each is compared with the previous one.
    """
    parts = []
    for number, each in enumerate(saved):
        when = datetime.fromtimestamp(each.saved_at, UTC).isoformat(timespec="minutes")
        before = saved[number + 1] if number + 1 < len(saved) else None
        difference = f"\n{compare_files(before.text, each.text)}" if before else ""
        parts.append(f"Version {each.version}, {when}{difference}")
    return "\n\n".join(parts)


def _change_step(flow: Flow, place: str, change: Callable[[FlowStep], FlowStep]) -> Flow:
    def change_at(steps: Sequence[FlowStep], numbers: Sequence[int]) -> list[FlowStep]:
        number, *rest = numbers
        step = steps[number - 1]
        changed = step.model_copy(update={"steps": change_at(step.steps or (), rest)}) if rest else change(step)
        return [*steps[: number - 1], changed, *steps[number:]]

    numbers = [int(number) for number in place.split(".")]
    return flow.model_copy(update={"steps": change_at(flow.steps, numbers)})
