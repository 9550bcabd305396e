"""Settings of flows."""

from pydantic import BaseModel, Field


class FlowsSettings(BaseModel, extra="forbid", defer_build=True):
    """The `flows` part of the settings."""

    notify: list[str] = Field(
        default=[], description="Names of notices (`watches.notices`) of scheduled runs that stop or heal"
    )
    max_schedules: int = Field(default=100, ge=0, description="Maximum schedules per person; 0 turns schedules off")
