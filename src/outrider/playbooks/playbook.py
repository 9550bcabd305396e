"""The models of playbooks; field names are those of their JSON in hosts and exported files."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

from outrider.core.parameter_names import OtherNames

LongText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
ShortName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class Action(BaseModel, extra="forbid", defer_build=True):
    """The tool that a step calls, and its purpose; with `runFlow` the flow that it runs."""

    toolName: ShortName
    purpose: LongText
    flow: Annotated[str | None, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$", description="For runFlow")] = None


class Step(BaseModel, extra="forbid", defer_build=True):
    """A step, with the names of the data that it needs and of its output for later steps."""

    stepId: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    description: Annotated[LongText, OtherNames(("instruction", "text", "task"))]
    action: Action
    requiredData: Annotated[list[ShortName], Field(max_length=50)] = []
    outputVariable: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""


class SuccessCriteria(BaseModel, extra="forbid", defer_build=True):
    """When the workflow counts as successful."""

    description: LongText
    requiredArtifacts: Annotated[list[ShortName], Field(max_length=50)] = []


class Workflow(BaseModel, extra="forbid", defer_build=True):
    """The content of a playbook."""

    goal: LongText
    initialCommand: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    inputs: Annotated[list[ShortName], Field(max_length=50, description="Names of data that the user provides")] = []
    workflow: Annotated[list[Step], Field(min_length=1, max_length=100)]
    successCriteria: SuccessCriteria | None = None


@dataclass(frozen=True)
class Playbook:
    """A stored workflow. Times are seconds since the epoch; `workspace` is None if the host named none."""

    id: str
    assistant: str
    content: Workflow
    created_at: float
    updated_at: float
    workspace: str | None = None

    def contains_text(self, text: str) -> bool:
        """Return whether the assistant's name, goal or a step contains a text.

        Case is ignored.
        """
        fields = [self.assistant, self.content.goal, self.content.initialCommand]
        for step in self.content.workflow:
            fields += (step.stepId, step.description, step.action.toolName)
        return any(text.casefold() in field.casefold() for field in fields)


@dataclass(frozen=True)
class PlaybookRun:
    """A run of a playbook; `outcome` is running, succeeded or failed."""

    id: str
    playbook: str
    session: str
    started_at: float
    ended_at: float | None
    outcome: str
    notes: str
