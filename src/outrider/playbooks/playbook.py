"""What a playbook is. The field names are those of its JSON, which hosts and exported files know."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints

LongText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000)]
ShortName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]


class Action(BaseModel, extra="forbid", defer_build=True):
    """Which tool a step calls, and what for."""

    toolName: ShortName
    purpose: LongText


class Step(BaseModel, extra="forbid", defer_build=True):
    """One step: what it needs by name, and the name under which later steps find what it gives."""

    stepId: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    description: LongText
    action: Action
    requiredData: Annotated[list[ShortName], Field(max_length=50)] = []
    outputVariable: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""


class SuccessCriteria(BaseModel, extra="forbid", defer_build=True):
    """How to tell that it worked."""

    description: LongText
    requiredArtifacts: Annotated[list[ShortName], Field(max_length=50)] = []


class Workflow(BaseModel, extra="forbid", defer_build=True):
    """A playbook's own words, without who keeps it."""

    goal: LongText
    initialCommand: Annotated[str, StringConstraints(strip_whitespace=True, max_length=2_000)] = ""
    inputs: Annotated[list[ShortName], Field(max_length=50, description="Names of data that the user gives")] = []
    workflow: Annotated[list[Step], Field(min_length=1, max_length=100)]
    successCriteria: SuccessCriteria | None = None


@dataclass(frozen=True)
class Playbook:
    """A kept workflow. Times are seconds since the epoch; `workspace` is the assistant's, where the host named one."""

    id: str
    assistant: str
    content: Workflow
    created_at: float
    updated_at: float
    workspace: str | None = None


@dataclass(frozen=True)
class PlaybookRun:
    """One time that a playbook was followed; `outcome` is running, succeeded or failed."""

    id: str
    playbook: str
    session: str
    started_at: float
    ended_at: float | None
    outcome: str
    notes: str
