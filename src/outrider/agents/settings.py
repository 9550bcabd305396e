"""What an operator says about agents and the models that they run on. Keys never show in a repr or an error."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from outrider.agents.definition import Budgets, split_names

ApiFormat = Literal["", "chat", "responses", "anthropic", "google"]
KEY_HELP = "the NAME of an environment variable, `env:NAME`, or `keys:NAME` for an entry of keys.json"


class TokenPrice(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """US dollars for a million tokens."""

    input: float = Field(ge=0, description="Tokens that the model reads")
    output: float = Field(ge=0, description="Tokens that it writes")


class ModelProfile(BaseModel):
    """One way to a model."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    provider: str = Field("", description="Its name; empty means any OpenAI-compatible endpoint")
    model: str = Field("", description="The model's name there; empty means the provider's usual one")
    base_url: str = Field("", description="Another address of the API than the provider's own")
    key: str = Field("", repr=False, description=f"Where the key is: {KEY_HELP}")
    api: ApiFormat = Field("", description="The wire format, where it is not the provider's usual one")
    timeout_s: float = Field(120, gt=0, le=3_600, description="Seconds of silence after which a request is given up")
    context: int | None = Field(None, ge=1_000, description="Tokens that fit into it, where the table does not know")
    price: TokenPrice | None = Field(None, description="What tokens cost, where the built-in table does not know")


class ModelsSettings(BaseModel):
    """The `models` part of the settings."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    default: Annotated[list[str], BeforeValidator(split_names)] = Field(
        [],
        description="Profiles or provider:model to use where an agent names none; the next answers for the one before",
    )
    profiles: dict[str, ModelProfile] = Field(
        {}, description="By name an object with `provider`, `model` and optionally `base_url`, `key`, `api`, `price`"
    )
    keys: dict[str, str] = Field({}, repr=False, description="By provider its key; keys.json is the place for them")
    local: bool = Field(True, description="Look for Ollama, llama.cpp, vLLM and LM Studio on this machine")


class RunLimits(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """How many runs may be at work at the same time, over all processes. Only outermost ones count."""

    user: int = Field(0, ge=0, description="Of one person, or of one conversation without a name; 0 sets no limit")
    agents: dict[str, int] = Field({}, description="By an agent's name")
    models: dict[str, int] = Field({}, description="By a provider's name, or by provider:model")


class AgentsSettings(BaseModel, extra="forbid", defer_build=True):
    """The `agents` part of the settings."""

    budgets: Budgets = Field(
        Budgets(steps=50, seconds=600, tokens=2_000_000), description="What a run may use where its agent does not say"
    )
    width: int = Field(
        8, ge=1, le=64, description="Tools, other agents among them, that one step runs at the same time"
    )
    runs: int = Field(
        50,
        ge=0,
        le=1_000,
        description="Runs at the same time in one process; further ones wait. 0 leaves all to other processes",
    )
    limits: RunLimits = RunLimits()
    stream_ms: int = Field(20, ge=5, le=1_000, description="Milliseconds of text that one event gathers")
    keep_thoughts: bool = Field(True, description="Whether the thinking of models is kept with the run")


class McpServerSettings(BaseModel):
    """Another MCP server whose tools agents may be given: a command that is started, or an address."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    command: str = Field("", description="The program to start; it speaks MCP over its standard input and output")
    args: list[str] = Field([], description="Its arguments")
    env: dict[str, str] = Field({}, repr=False, description="Its environment beside HOME, PATH and the like")
    cwd: str = Field("", description="The folder it starts in")
    url: str = Field("", description="The address of a server that speaks streamable HTTP")
    headers: dict[str, str] = Field({}, repr=False, description="What each request to it carries")
    type: Literal["", "stdio", "http", "streamable-http", "streamableHttp"] = Field(
        "", description="As other hosts write it; follows from command or url"
    )
    timeout_s: float = Field(120, gt=0, le=3_600, description="Seconds that one call may take")
    disabled: bool = Field(False, description="Whether it is left alone")

    @model_validator(mode="after")
    def _check_transport(self) -> "McpServerSettings":
        if bool(self.command) == bool(self.url):
            raise ValueError("give either `command` or `url`")
        if self.url and not self.url.startswith(("http://", "https://", "${")):
            raise ValueError("`url` must begin with http:// or https://")
        return self
