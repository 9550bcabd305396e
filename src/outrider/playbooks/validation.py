"""What is wrong with a workflow before anybody follows it."""

from collections import Counter
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from outrider.playbooks.playbook import Workflow


def assign_step_ids(workflow: Workflow) -> Workflow:
    """With an id for every step that has none: `step-<place>`."""
    taken = {step.stepId for step in workflow.workflow}
    steps = []
    for place, step in enumerate(workflow.workflow, 1):
        name = f"step-{place}"
        while not step.stepId and name in taken:
            name += "x"
        steps.append(step.model_copy(update={"stepId": step.stepId or name}))
    return workflow.model_copy(update={"workflow": steps})


def list_problems(workflow: Workflow, tools: Collection[str] = ()) -> list[str]:
    """One sentence for each problem, the field first; empty for a workflow that can be followed.

    Data that no earlier step gives is a problem only where the workflow declares its inputs; else it
    counts as input itself.

    Args:
        workflow: What to check.
        tools: The known tools; none means that a step may name any.
    """
    strange = iter_unknown_tools(workflow, tools) if tools else ()
    return [*_iter_duplicates(workflow), *strange, *_iter_missing_data(workflow)]


def list_inputs(workflow: Workflow) -> list[str]:
    """The data that a person must give: as declared, and what steps need and no earlier step gives."""
    given: set[str] = set()
    found = dict.fromkeys(workflow.inputs)
    for step in workflow.workflow:
        found |= dict.fromkeys(name for name in step.requiredData if name not in given)
        given.add(step.outputVariable)
    return list(found)


def _iter_duplicates(workflow: Workflow) -> Iterator[str]:
    for field in ("stepId", "outputVariable"):
        names = Counter(getattr(step, field) for step in workflow.workflow)
        for name, count in names.items():
            if name and count > 1:
                yield f"workflow.{field}: {name!r} is given {count} times"


def iter_unknown_tools(workflow: Workflow, tools: Collection[str]) -> Iterator[str]:
    """A sentence for each step whose tool is none of these, with the nearest names; prefixes of hosts do not count."""
    for place, step in enumerate(workflow.workflow, 1):
        name = step.action.toolName.rpartition("__")[2]
        if name not in tools:
            close = get_close_matches(name, tools, n=2)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            yield f"workflow.{place}.action.toolName: there is no tool {name!r} here{hint}"


def _iter_missing_data(workflow: Workflow) -> Iterator[str]:
    given = set(workflow.inputs)
    for place, step in enumerate(workflow.workflow, 1):
        for name in step.requiredData if workflow.inputs else ():
            if name not in given:
                yield f"workflow.{place}.requiredData: {name!r} is no input, and no earlier step gives it"
        given.add(step.outputVariable)
