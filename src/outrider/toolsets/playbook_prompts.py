"""Playbooks as prompts: what users can pick in their host, filled in with what the steps need."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from outrider.core.context import Call
from outrider.core.errors import NotConfigured
from outrider.core.prompting import Offered, Prompt, PromptArgument, PromptSource, status
from outrider.playbooks import Playbook, Playbooks, Step
from outrider.playbooks.check import inputs_of
from outrider.toolsets.playbook import playbook

MOST = 100  # newest playbooks of an assistant that are prompts
NAME_CHARS = 40
FOR_PEOPLE = 200  # characters of a goal in a list


async def listed(playbooks: Playbooks, call: Call) -> Sequence[Prompt]:
    """A prompt for each playbook of the caller's assistant; none for callers without one."""
    try:
        found = await playbooks.page(call, 1, MOST)
    except NotConfigured:
        return ()
    names: dict[str, Playbook] = {}
    for kept in reversed(found.items):  # the oldest keeps its name when a namesake comes
        names[_free(_named(kept), names)] = kept
    return [_prompt(name, kept) for name, kept in reversed(names.items())]


async def stamp(playbooks: Playbooks) -> object:
    """Changes with the playbooks."""
    return await playbooks.stamp()


playbook.prompts = PromptSource(listed, stamp)


@playbook.context
async def described(playbooks: Playbooks, call: Call, offered: Offered) -> tuple[str, dict[str, Any]]:
    """How many playbooks there are."""
    try:
        count = (await playbooks.page(call, 1, 1)).total
    except NotConfigured:
        return status("Playbook", "playbook", offered, "**Playbooks**: none, the host names no assistant"), {}
    return status("Playbook", "playbook", offered, f"**Playbooks**: {count}"), {"playbooks": count}


def _prompt(name: str, kept: Playbook) -> Prompt:
    content = kept.content
    arguments = tuple(PromptArgument(each, "Needed by a step") for each in inputs_of(content))
    goal = content.goal if len(content.goal) <= FOR_PEOPLE else f"{content.goal[:FOR_PEOPLE]}…"
    return Prompt(name, content.initialCommand[:FOR_PEOPLE] or goal, goal, partial(_told, kept), arguments)


def _told(kept: Playbook, given: Mapping[str, str]) -> str:
    """The playbook as an instruction."""
    content = kept.content
    known = [f"- {name}: {given[name]}" for name in inputs_of(content) if given.get(name)]
    lines = [f"Follow the playbook {kept.id}: {content.goal}"]
    lines += ["", "Given:", *known] if known else []
    lines += ["", "Steps:", *(f"{number}. {_step(step)}" for number, step in enumerate(content.workflow, 1))]
    criteria = content.successCriteria
    wanted = f" ({', '.join(criteria.requiredArtifacts)})" if criteria and criteria.requiredArtifacts else ""
    lines += ["", f"It has worked when: {criteria.description}{wanted}"] if criteria else []
    return "\n".join([*lines, "", "Begin with select_playbook of that id, and end with finish_playbook."])


def _step(step: Step) -> str:
    needs = f"; needs {', '.join(step.requiredData)}" if step.requiredData else ""
    gives = f"; gives {step.outputVariable}" if step.outputVariable else ""
    return f"{step.description} (tool {step.action.toolName}, to {step.action.purpose}{needs}{gives})"


def _named(kept: Playbook) -> str:
    """What the goal begins with, as a name."""
    words = re.sub(r"[^a-z0-9]+", "_", kept.content.goal.lower()).strip("_")[:NAME_CHARS].strip("_")
    return f"playbook_{words or kept.id[:8]}"


def _free(name: str, taken: Mapping[str, Playbook]) -> str:
    number, chosen = 1, name
    while chosen in taken:
        number += 1
        chosen = f"{name}_{number}"
    return chosen
