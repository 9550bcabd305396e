"""What an operator says about searching. Keys in it never show in its repr or in validation errors."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

WEB_JSON = "~/.outrider/web.json"


class SearchSettings(BaseModel):
    """The `search` part of the settings.

    Attributes:
        profile: The profile of `profiles` to ask first; "" or "default" is the chain alone.
        profiles: The content of `web.json`: by name an object with `provider`, its credentials and
            optionally `endpoint`, `timeout_s` and `user_agent`.
        providers: By provider name an object with its credentials and optionally `endpoint`,
            `timeout_s`, `user_agent` and `rate` (calls a second, or [calls, seconds]).
        order: Providers to ask before the others, in that order.
        keyless: Whether providers may be used without a key.
        disabled: Providers never to ask.
        per_domain: Most results of one host when several providers are fused; 0 for any number.
        deadline_s: Seconds after which a search returns what it has.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    profile: str = ""
    profiles: dict[str, Any] = Field(default_factory=dict, repr=False)
    providers: dict[str, dict[str, Any]] = Field(default_factory=dict, repr=False)
    order: list[str] = Field(default_factory=list)
    keyless: bool = True
    disabled: list[str] = Field(default_factory=list)
    per_domain: int = Field(default=3, ge=0)
    deadline_s: float = Field(default=60.0, gt=0)
