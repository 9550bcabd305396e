"""What an agent is: a name, instructions, a model, tools, and limits. Written as a file or kept as a row."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from outrider.core.arguments import validate_arguments
from outrider.core.errors import InvalidInput
from outrider.core.tool import Stake

FRONT_MATTER_FENCE = "---"
AgentOrigin = Literal["kind", "home", "workspace", "row"]
ThinkingEffort = Literal["off", "low", "medium", "high"]


def split_names(value: object) -> object:
    """`a, b` and a lone `a` are lists too: that is how people write them in front matter."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [] if value is None else value


NameList = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], BeforeValidator(split_names)]


class Budgets(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """How much one run may use, all the agents that it calls included."""

    steps: int | None = Field(None, ge=1, le=1000, description="Requests to the model")
    seconds: float | None = Field(None, gt=0, le=86_400, description="Time at work, without waiting for people")
    tokens: int | None = Field(None, ge=1, description="Tokens, those read and those written")
    cost: float | None = Field(None, gt=0, description="US dollars, where the model's price is known")
    context: int | None = Field(
        None, ge=1_000, description="Tokens that one request may carry; above it old results and steps are shortened"
    )

    def clamp_to(self, outer: "Budgets") -> "Budgets":
        """These budgets, each filled in from the outer ones and never above them."""
        pairs = {name: (getattr(self, name), getattr(outer, name)) for name in Budgets.model_fields}
        known = {name: [each for each in pair if each is not None] for name, pair in pairs.items()}
        return Budgets(**{name: min(values) for name, values in known.items() if values})

    def fill_from(self, defaults: "Budgets") -> "Budgets":
        """These budgets, each filled in from the defaults where it is not set."""
        return Budgets(**(defaults.model_dump(exclude_none=True) | self.model_dump(exclude_none=True)))


class Agent(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """One agent.

    Attributes:
        model: Profiles or `provider:model`, the first that answers; empty means the default one.
        toolsets: All offered tools of these toolsets.
        tools: Single tools beside them, `run_<name>` of other agents too.
        mcp: Other MCP servers, all tools of each; `server/tool` is one tool alone.
        stakes: Tool name (or `*`) to never_ask, low or high; a workspace's file can only raise them.
        origin: Where the definition comes from.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$", description="letters, digits, dashes; at most 64")
    description: str = Field(min_length=1, max_length=1_000, description="what it is for, in a sentence")
    instructions: str = Field(min_length=1, description="the text below the front matter")
    model: NameList = Field([], description="profiles or provider:model, the first that answers")
    thinking: ThinkingEffort | None = Field(None, description="off, low, medium or high")
    toolsets: NameList = Field([], description="names of toolsets")
    tools: NameList = Field([], description="names of tools")
    mcp: NameList = Field([], description="names of configured MCP servers, or server/tool")
    stakes: dict[str, Stake] = Field({}, description="tool name to never_ask, low or high")
    budgets: Budgets = Field(default_factory=Budgets)
    origin: AgentOrigin = "home"


def read_agent(path: Path, origin: AgentOrigin) -> Agent:
    """The agent in a file: front matter between two lines of `---`, instructions below.

    Raises InvalidInput, which names the file, the field and the remedy.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidInput(f"{path} cannot be read: {reason}", code="bad_agent") from None
    return parse_agent(text, str(path), origin=origin, name=path.stem)


def parse_agent(text: str, where: str, *, origin: AgentOrigin = "home", name: str = "") -> Agent:
    """The agent that a text defines; `name` is its name unless the front matter gives one. Raises InvalidInput."""
    max_chars = 200_000  # characters of an agent's file
    if len(text) > max_chars:
        raise _build_error(where, f"is longer than {max_chars:,} characters", "shorten the instructions")
    head, body = _split_front_matter(text, where)
    fields = {"name": name} | _parse_front_matter(head, where) | {"instructions": body.strip(), "origin": origin}
    return build_agent(fields, where)


def build_agent(fields: dict[str, Any], where: str) -> Agent:
    """The agent of these fields. Raises InvalidInput that lists every wrong one."""
    try:
        made = validate_arguments(Agent, where, fields)
    except InvalidInput as error:
        raise InvalidInput(error.message, hint=error.hint, code="bad_agent", details=error.details) from None
    assert isinstance(made, Agent)
    return made


def render_agent(agent: Agent) -> str:
    """The agent as the text of a file."""
    import yaml

    head = agent.model_dump(exclude={"instructions", "origin"}, exclude_defaults=True, mode="json")
    return f"{FRONT_MATTER_FENCE}\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}{FRONT_MATTER_FENCE}\n\n{agent.instructions}\n"


def _split_front_matter(text: str, where: str) -> tuple[str, str]:
    lines = text.splitlines()
    if not lines or lines[0].strip() != FRONT_MATTER_FENCE:
        raise _build_error(
            where, "has no front matter", "begin it with a line of --- , then `description: …`, then ---"
        )
    ends = [number for number, line in enumerate(lines[1:], 1) if line.strip() == FRONT_MATTER_FENCE]
    if not ends:
        raise _build_error(where, "has front matter that does not end", "add a line of --- before the instructions")
    return "\n".join(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _parse_front_matter(head: str, where: str) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        from outrider.agents.extra import build_missing_extra_error

        raise build_missing_extra_error() from None
    try:
        values = yaml.safe_load(head) or {}
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 2})" if mark else ""
        raise _build_error(where, f"has front matter that is not YAML{line}", "quote texts that hold a colon") from None
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise _build_error(where, "has front matter that is no list of `name: value`", "write one field a line")
    return {name: value for name, value in values.items() if name not in ("instructions", "origin")}


def _build_error(where: str, problem: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"{where}: it {problem}", hint=remedy, code="bad_agent")
