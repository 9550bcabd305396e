"""Settings of agents and models; keys never appear in a repr or an error."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from outrider.agents.definition import Budgets, split_names

ApiFormat = Literal["", "chat", "responses", "anthropic", "google"]
KEY_HELP = "the NAME of an environment variable, `env:NAME`, or `keys:NAME` for an entry of keys.json"


class TokenPrice(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """US dollars per million tokens."""

    input: float = Field(ge=0, description="Tokens that the model reads")
    output: float = Field(ge=0, description="Tokens that it writes")


class ModelProfile(BaseModel):
    """A model and how to reach it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    provider: str = Field("", description="The provider's name; empty means any OpenAI-compatible endpoint")
    model: str = Field("", description="The provider's name for the model; empty means its default model")
    base_url: str = Field("", description="The URL of the API, if it is not the provider's own")
    key: str = Field("", repr=False, description=f"Where the key is: {KEY_HELP}")
    api: ApiFormat = Field("", description="The wire format, if it is not the provider's default")
    timeout_s: float = Field(120, gt=0, le=3_600, description="Seconds without data after which a request fails")
    context: int | None = Field(
        None, ge=1_000, description="The model's context window in tokens, if the built-in table does not know it"
    )
    pictures: bool | None = Field(
        None, description="Whether the model sees pictures, if that does not follow from its provider and name"
    )
    price: TokenPrice | None = Field(
        None, description="The price of tokens, if the built-in table does not know the model"
    )


class ModelsSettings(BaseModel):
    """The `models` part of the settings."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    default: Annotated[list[str], BeforeValidator(split_names)] = Field(
        [],
        description="Profiles or provider:model for agents that name none; each is the fallback for the one before",
    )
    profiles: dict[str, ModelProfile] = Field(
        {}, description="Profiles by name: `provider`, `model` and optionally `base_url`, `key`, `api`, `price`"
    )
    keys: dict[str, str] = Field({}, repr=False, description="API keys by provider; they belong in keys.json")
    local: bool = Field(True, description="Look for Ollama, llama.cpp, vLLM and LM Studio on this machine")


class RunLimits(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """How many outermost runs may be active at the same time, over all processes."""

    user: int = Field(
        0, ge=0, description="Concurrent runs per person, or per session without a person; 0 means no limit"
    )
    agents: dict[str, int] = Field({}, description="Concurrent runs by agent name")
    models: dict[str, int] = Field({}, description="Concurrent runs by provider name, or by provider:model")


class AgentsSettings(BaseModel, extra="forbid", defer_build=True):
    """The `agents` part of the settings."""

    budgets: Budgets = Field(
        Budgets(steps=50, seconds=600, tokens=2_000_000), description="Limits of a run whose agent does not set them"
    )
    runs: int = Field(
        50,
        ge=0,
        le=1_000,
        description="Concurrent runs in one process; others wait. 0 leaves all runs to other processes",
    )
    limits: RunLimits = RunLimits()
    keep_thoughts: bool = Field(True, description="Whether the thinking of models is saved with the run")


class McpServerSettings(BaseModel):
    """Another MCP server whose tools agents may use: a command to start, or a URL."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    command: str = Field("", description="The program to start; it speaks MCP over its standard input and output")
    args: list[str] = Field([], description="Its arguments")
    env: dict[str, str] = Field({}, repr=False, description="Its environment variables, in addition to HOME and PATH")
    cwd: str = Field("", description="The folder it starts in")
    url: str = Field("", description="The URL of a server that speaks streamable HTTP")
    headers: dict[str, str] = Field({}, repr=False, description="Headers of each request to it")
    type: Literal["", "stdio", "http", "streamable-http", "streamableHttp"] = Field(
        "", description="The transport, as other hosts write it; not needed, because command or url imply it"
    )
    timeout_s: float = Field(120, gt=0, le=3_600, description="Seconds that one call may take")
    disabled: bool = Field(False, description="Whether the server is ignored")

    @model_validator(mode="after")
    def _check_transport(self) -> "McpServerSettings":
        if bool(self.command) == bool(self.url):
            raise ValueError("give either `command` or `url`")
        if self.url and not self.url.startswith(("http://", "https://", "${")):
            raise ValueError("`url` must begin with http:// or https://")
        return self
