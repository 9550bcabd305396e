"""Settings of notices."""

from pydantic import BaseModel, Field, model_validator


class NoticeSettings(BaseModel, extra="forbid", defer_build=True):
    """One way to report an event to a person: a webhook or a command."""

    webhook: str = Field("", pattern="^(https?://.+)?$", description="Address that gets each event as JSON")
    secret_env: str = Field("", description="Environment variable with the secret that signs the webhook's requests")
    command: list[str] = Field(
        default=[],
        description="Program and arguments, which gets the event as text; {subject} and {url} are filled in",
    )

    @model_validator(mode="after")
    def _check_kind(self) -> "NoticeSettings":
        if bool(self.webhook) == bool(self.command):
            raise ValueError("give either `webhook` or `command`")
        return self
