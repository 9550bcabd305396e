"""Serve playbooks as prompts that users pick in their host."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.core.prompts import OfferedToolCount, Prompt, PromptArgument, PromptSource, format_status
from outrider.playbooks import Playbook, PlaybookStore
from outrider.playbooks.validation import list_inputs
from outrider.toolsets.playbook.tools import playbook


async def list_prompts(playbooks: PlaybookStore, call: Call) -> Sequence[Prompt]:
    """Return a prompt for each of the assistant's 100 newest playbooks; none for callers without an assistant."""
    max_prompts, max_name_chars = 100, 40
    try:
        newest = await playbooks.list_own(call, 1, max_prompts)
    except NotConfigured:
        return ()
    named: dict[str, Playbook] = {}
    for record in reversed(newest.items):  # from the oldest, which keeps its name if another has the same
        slug = re.sub(r"[^a-z0-9]+", "_", record.content.goal.lower()).strip("_")[:max_name_chars].strip("_")
        base = name = f"playbook_{slug or record.id[:8]}"
        number = 1
        while name in named:
            number += 1
            name = f"{base}_{number}"
        named[name] = record
    return [_build_prompt(name, record) for name, record in reversed(named.items())]


async def read_version(playbooks: PlaybookStore) -> object:
    """Return a value that changes whenever playbooks change."""
    return await playbooks.compute_version()


playbook.prompts = PromptSource(list_prompts, read_version)


@playbook.register_context
async def describe_playbooks(
    playbooks: PlaybookStore, call: Call, offered: OfferedToolCount
) -> tuple[str, dict[str, Any]]:
    """Return the number of playbooks as a part of a system prompt, and as data."""
    try:
        count = (await playbooks.list_own(call, 1, 1)).total
    except NotConfigured:
        return format_status("Playbook", "playbook", offered, "**Playbooks**: none, the host names no assistant"), {}
    return format_status("Playbook", "playbook", offered, f"**Playbooks**: {count}"), {"playbooks": count}


def _build_prompt(name: str, record: Playbook) -> Prompt:
    max_goal_chars = 200
    content = record.content
    arguments = tuple(PromptArgument(name, "Needed by a step") for name in list_inputs(content))
    goal = content.goal if len(content.goal) <= max_goal_chars else f"{content.goal[:max_goal_chars]}…"
    return Prompt(
        name, content.initialCommand[:max_goal_chars] or goal, goal, partial(_render_instruction, record), arguments
    )


def _render_instruction(record: Playbook, arguments: Mapping[str, str]) -> str:
    """Render the playbook as an instruction, with the values that the user has given."""
    content = record.content
    known = [f"- {name}: {arguments[name]}" for name in list_inputs(content) if arguments.get(name)]
    lines = [f"Follow the playbook {record.id}: {content.goal}"]
    lines += ["", "Given:", *known] if known else []
    lines += ["", "Steps:"]
    for number, step in enumerate(content.workflow, 1):
        needs = f"; needs {', '.join(step.requiredData)}" if step.requiredData else ""
        gives = f"; gives {step.outputVariable}" if step.outputVariable else ""
        flow = f" with flow {step.action.flow}" if step.action.flow else ""
        action = f"tool {step.action.toolName}{flow}, to {step.action.purpose}{needs}{gives}"
        lines.append(f"{number}. {step.description} ({action})")
    if criteria := content.successCriteria:
        artifacts = f" ({', '.join(criteria.requiredArtifacts)})" if criteria.requiredArtifacts else ""
        lines += ["", f"Success criteria: {criteria.description}{artifacts}"]
    return "\n".join([*lines, "", "Start with select_playbook for that id, and end with finish_playbook."])
