"""Settings of the search package; their repr and validation errors hide keys."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

PROFILES_FILE = "~/.outrider/web.json"
DEFAULT_ENGINES = ["google", "bing", "duckduckgo"]


class ResultPageSettings(BaseModel, extra="forbid", defer_build=True):
    """The `search.browser` part: engines' result pages."""

    engines: list[str] = Field(
        default=DEFAULT_ENGINES,
        description="Result pages to open, in that order, for tools that search with the browser: google, bing, "
        "duckduckgo, yahoo, ecosia, yandex, baidu; an empty list leaves them to agent-browser",
    )


class AgentBrowserSettings(BaseModel, extra="forbid", defer_build=True):
    """The `search.agent_browser` part: result pages through the program `agent-browser`."""

    command: str = Field(
        default="",
        description="Program agent-browser, by name or path; `npm` lets npm install it into data_dir; empty turns "
        "it off",
    )

    @property
    def may_install(self) -> bool:
        """Whether npm may install the program."""
        return self.command == "npm"


class SearchSettings(BaseModel):
    """The `search` part of the settings."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    profile: str = Field(default="", description="Profile to ask first; empty or `default` for the default chain")
    profiles: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="The content of web.json: by name an object with `provider`, its credentials and optionally "
        "`endpoint`, `timeout_s` and `user_agent`",
    )
    providers: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        repr=False,
        description="By provider name an object with its credentials and optionally `endpoint`, `timeout_s`, "
        "`user_agent` and `rate` (calls per second, or [calls, seconds])",
    )
    order: list[str] = Field(default_factory=list, description="Providers to ask before the others, in that order")
    keyless: bool = Field(default=True, description="Use providers that need no key")
    browser: ResultPageSettings = ResultPageSettings()
    agent_browser: AgentBrowserSettings = AgentBrowserSettings()
    disabled: list[str] = Field(default_factory=list, description="Providers never to ask")
    per_domain: int = Field(
        default=3, ge=0, description="Maximum results per host when answers are merged; 0 means no limit"
    )

    def select_profile(self, profile: str | None) -> tuple[str, list[str]]:
        """Return the profile in force, "" for the default chain, and warnings about unusable profiles."""
        name = (self.profile if profile is None else profile).strip()
        warnings = [
            f"search profile {each!r} is ignored: it is not an object"
            for each, content in self.profiles.items()
            if not isinstance(content, dict)
        ]
        if name in ("", "default"):
            return "", warnings
        if isinstance(self.profiles.get(name), dict):
            return name, warnings
        if name not in self.profiles:
            others = ", ".join(sorted(self.profiles)) or "none"
            warnings.append(f"no search profile {name!r} (profiles: {others}); the default chain is used")
        return "", warnings


def is_placeholder(value: Any) -> bool:
    """Return whether a value is empty or contains the word "replace"."""
    text = "" if value is None or isinstance(value, bool | list | dict) else str(value).strip()
    return not text or "replace" in text.lower()
