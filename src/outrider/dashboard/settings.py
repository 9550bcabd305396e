"""The settings of the dashboard."""

from pydantic import BaseModel, Field, field_validator


class DashboardSettings(BaseModel, extra="forbid", defer_build=True):
    """The dashboard: whether it is offered, where, and to whom."""

    enabled: bool = Field(default=True, description="Offer the dashboard, only on this machine unless `remote`")
    port: int = Field(
        default=0, ge=0, le=65535, description="Port of `outrider mcp` and `outrider dashboard`; 0 takes a free one"
    )
    remote: bool = Field(
        default=False,
        description="Offer the dashboard with `outrider serve` even if other machines can reach serve.host; needs "
        "`token`",
    )
    url: str = Field(
        default="",
        pattern=r"^(https?://[^\s?#]+/)?$",
        description="Address, with a final slash, at which people reach the dashboard of `outrider serve`, for results "
        "that need a person; empty means where it listens",
    )
    token: str = Field(
        default="",
        description="At least 32 characters that sign a person in, the same on all replicas; empty means a new one "
        "at each start, in the address that `outrider dashboard` prints",
    )

    @field_validator("token")
    @classmethod
    def _check_token_length(cls, value: str) -> str:
        min_token_chars = 32  # characters of a token chosen by the operator: about 128 bits if it is random
        if value and len(value) < min_token_chars:
            raise ValueError(
                'must have at least 32 characters: python -c "import secrets; print(secrets.token_hex(32))"'
            )
        return value
