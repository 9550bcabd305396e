"""Playbooks as prompts: what users can pick in their host, filled in with what the steps need."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.core.prompts import OfferedToolCount, Prompt, PromptArgument, PromptSource, format_status
from outrider.playbooks import Playbook, PlaybookStore, Step
from outrider.playbooks.validation import list_inputs
from outrider.toolsets.playbook.tools import playbook


async def list_prompts(playbooks: PlaybookStore, call: Call) -> Sequence[Prompt]:
    """A prompt for each playbook of the caller's assistant; none for callers without one."""
    max_prompts = 100  # newest playbooks of an assistant that are prompts
    try:
        found = await playbooks.list_own(call, 1, max_prompts)
    except NotConfigured:
        return ()
    names: dict[str, Playbook] = {}
    for kept in reversed(found.items):  # the oldest keeps its name when a namesake comes
        names[_find_free_name(_build_prompt_name(kept), names)] = kept
    return [_build_prompt(name, kept) for name, kept in reversed(names.items())]


async def read_stamp(playbooks: PlaybookStore) -> object:
    """Changes with the playbooks."""
    return await playbooks.compute_version()


playbook.prompts = PromptSource(list_prompts, read_stamp)


@playbook.register_context
async def describe_playbooks(
    playbooks: PlaybookStore, call: Call, offered: OfferedToolCount
) -> tuple[str, dict[str, Any]]:
    """How many playbooks there are."""
    try:
        count = (await playbooks.list_own(call, 1, 1)).total
    except NotConfigured:
        return format_status("Playbook", "playbook", offered, "**Playbooks**: none, the host names no assistant"), {}
    return format_status("Playbook", "playbook", offered, f"**Playbooks**: {count}"), {"playbooks": count}


def _build_prompt(name: str, kept: Playbook) -> Prompt:
    max_goal_chars = 200  # characters of a goal in a list
    content = kept.content
    arguments = tuple(PromptArgument(each, "Needed by a step") for each in list_inputs(content))
    goal = content.goal if len(content.goal) <= max_goal_chars else f"{content.goal[:max_goal_chars]}…"
    return Prompt(
        name, content.initialCommand[:max_goal_chars] or goal, goal, partial(_render_instruction, kept), arguments
    )


def _render_instruction(kept: Playbook, given: Mapping[str, str]) -> str:
    """The playbook as an instruction."""
    content = kept.content
    known = [f"- {name}: {given[name]}" for name in list_inputs(content) if given.get(name)]
    lines = [f"Follow the playbook {kept.id}: {content.goal}"]
    lines += ["", "Given:", *known] if known else []
    lines += ["", "Steps:", *(f"{number}. {_format_step(step)}" for number, step in enumerate(content.workflow, 1))]
    criteria = content.successCriteria
    wanted = f" ({', '.join(criteria.requiredArtifacts)})" if criteria and criteria.requiredArtifacts else ""
    lines += ["", f"It has worked when: {criteria.description}{wanted}"] if criteria else []
    return "\n".join([*lines, "", "Begin with select_playbook of that id, and end with finish_playbook."])


def _format_step(step: Step) -> str:
    needs = f"; needs {', '.join(step.requiredData)}" if step.requiredData else ""
    gives = f"; gives {step.outputVariable}" if step.outputVariable else ""
    return f"{step.description} (tool {step.action.toolName}, to {step.action.purpose}{needs}{gives})"


def _build_prompt_name(kept: Playbook) -> str:
    """What the goal begins with, as a name."""
    max_name_chars = 40
    words = re.sub(r"[^a-z0-9]+", "_", kept.content.goal.lower()).strip("_")[:max_name_chars].strip("_")
    return f"playbook_{words or kept.id[:8]}"


def _find_free_name(name: str, taken: Mapping[str, Playbook]) -> str:
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen
