"""Settings of watches."""

from pydantic import BaseModel, Field, field_validator

from outrider.core.notices.settings import NoticeSettings


class WatchesSettings(BaseModel, extra="forbid", defer_build=True):
    """The `watches` part of the settings."""

    notices: dict[str, NoticeSettings] = Field(
        default={},
        description="By name, a way to report changes: `webhook` with `secret_env`, or `command` (for mail)",
    )
    notify: list[str] = Field(default=[], description="Names of notices for watches that name none")
    timezone: str = Field(default="", description="Time zone of cron schedules, for instance Europe/Vienna; empty: UTC")
    min_interval_s: float = Field(default=300, gt=0, description="Minimum seconds between two checks of a watch")
    max_watches: int = Field(
        default=5_000, ge=0, description="Watches of one person in one workspace; 0 turns watching off"
    )

    @field_validator("timezone")
    @classmethod
    def _check_timezone(cls, value: str) -> str:
        if not value:
            return value
        from zoneinfo import ZoneInfo

        try:
            ZoneInfo(value)
        except (OSError, ValueError, KeyError):  # unknown names are KeyErrors
            raise ValueError("must be the name of a time zone, for instance Europe/Vienna") from None
        return value
