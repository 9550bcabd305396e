"""Validate workflows: step ids, data flow and tool names."""

from collections import Counter
from collections.abc import Collection, Iterator
from difflib import get_close_matches

from outrider.playbooks.playbook import Workflow


def assign_step_ids(workflow: Workflow) -> Workflow:
    """Return the workflow with ids `step-<position>` for steps without one."""
    used_ids = {step.stepId for step in workflow.workflow}
    steps = []
    for position, step in enumerate(workflow.workflow, 1):
        step_id = f"step-{position}"
        while not step.stepId and step_id in used_ids:
            step_id += "x"
        steps.append(step.model_copy(update={"stepId": step.stepId or step_id}))
    return workflow.model_copy(update={"workflow": steps})


def list_problems(workflow: Workflow, tools: Collection[str] = ()) -> list[str]:
    """Return a sentence for each problem, beginning with the field; empty for a valid workflow.

    Data that no earlier step provides is a problem only if the workflow declares its inputs; else it
    is treated as an input.

    Args:
        workflow: The workflow to check.
        tools: The known tools; if empty, steps may name any tool.
    """
    problems = [
        f"workflow.{field}: {name!r} is used {count} times"
        for field in ("stepId", "outputVariable")
        for name, count in Counter(getattr(step, field) for step in workflow.workflow).items()
        if name and count > 1
    ]
    if tools:
        problems += iter_unknown_tools(workflow, tools)
    problems += [
        f"workflow.{position}.action.flow: only runFlow runs a flow, not {step.action.toolName!r}"
        for position, step in enumerate(workflow.workflow, 1)
        if step.action.flow and _remove_prefix(step.action.toolName) != "runFlow"
    ]
    provided = set(workflow.inputs)
    for position, step in enumerate(workflow.workflow, 1):
        problems += [
            f"workflow.{position}.requiredData: {name!r} is not an input, and no earlier step provides it"
            for name in step.requiredData
            if workflow.inputs and name not in provided
        ]
        provided.add(step.outputVariable)
    return problems


def iter_unknown_flows(workflow: Workflow, flows: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each step whose flow does not exist."""
    for position, step in enumerate(workflow.workflow, 1):
        if step.action.flow and step.action.flow not in flows:
            yield f"workflow.{position}.action.flow: no flow {step.action.flow!r} here; saveFlow saves it"


def list_inputs(workflow: Workflow) -> list[str]:
    """Return the data that a person must provide: declared inputs, and data that no earlier step provides."""
    provided: set[str] = set()
    inputs = dict.fromkeys(workflow.inputs)
    for step in workflow.workflow:
        inputs |= dict.fromkeys(name for name in step.requiredData if name not in provided)
        provided.add(step.outputVariable)
    return list(inputs)


def iter_unknown_tools(workflow: Workflow, tools: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each step with an unknown tool; prefixes of hosts are ignored."""
    for position, step in enumerate(workflow.workflow, 1):
        name = _remove_prefix(step.action.toolName)
        if name not in tools:
            close = get_close_matches(name, tools, n=2)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            yield f"workflow.{position}.action.toolName: unknown tool {name!r} here{hint}"


def _remove_prefix(tool_name: str) -> str:
    """Return the name of a tool without the prefix of a host."""
    return tool_name.rpartition("__")[2]
