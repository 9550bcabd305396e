"""Settings of website evaluations."""

from typing import Literal

from pydantic import BaseModel, Field


class WebEvalSettings(BaseModel, extra="forbid", defer_build=True):
    """The `web_eval` part of the settings: defaults for calls."""

    mode: Literal["compact", "dev"] | None = Field(
        None, description="Detail of answers; empty means dev for local addresses, else compact"
    )
    budget_s: float | None = Field(None, gt=0, le=3_600, description="Maximum seconds of an evaluation")
    max_steps: int | None = Field(
        None, gt=0, le=1_000, description="Requests to the model; empty means the agent's own"
    )
    step_timeout_s: float | None = Field(None, gt=0, le=600, description="Maximum seconds of one action")
