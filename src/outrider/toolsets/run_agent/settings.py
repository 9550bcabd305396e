"""Settings of agents as tools."""

from typing import Literal

from pydantic import BaseModel, Field

from outrider.core.approval_required import ApprovalFormat


class RunAgentSettings(BaseModel, extra="forbid", defer_build=True):
    """The `run_agent` part of the settings."""

    detach_s: float = Field(
        default=600,
        gt=0,
        le=3_600,
        description="Seconds a call waits for its agent before it returns a runId to get the answer later",
    )
    progress: Literal["accumulated", "deltas"] = Field(
        default="accumulated",
        description="Whether each progress notification holds the text so far or only the new part",
    )
    blocked_format: ApprovalFormat = Field(
        default="error_json",
        description="Answer to clients that cannot show questions: JSON in an error's text, or a resource",
    )
