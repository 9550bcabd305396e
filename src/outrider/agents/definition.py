"""Definitions of agents, and the Markdown files that hold them."""

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
    """Turn `a, b` or `a` into a list.

    This is how people write lists in front matter.
    """
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return [] if value is None else value


NameList = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], BeforeValidator(split_names)]


class Budgets(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """Limits of one run, including all agents that it calls."""

    steps: int | None = Field(None, ge=1, le=1000, description="Requests to the model")
    seconds: float | None = Field(None, gt=0, le=86_400, description="Working time, not counting waits for people")
    tokens: int | None = Field(None, ge=1, description="Input and output tokens")
    cost: float | None = Field(None, gt=0, description="US dollars, if the model's price is known")
    context: int | None = Field(
        None, ge=1_000, description="Tokens in one request; beyond this limit, old results and steps are shortened"
    )

    def clamp_to(self, outer: "Budgets") -> "Budgets":
        """Return the lower of both limits for each budget; a missing one is taken from the other side."""
        pairs = {name: (getattr(self, name), getattr(outer, name)) for name in Budgets.model_fields}
        limits = {name: [limit for limit in pair if limit is not None] for name, pair in pairs.items()}
        return Budgets(**{name: min(values) for name, values in limits.items() if values})

    def fill_from(self, defaults: "Budgets") -> "Budgets":
        """Return these budgets, with missing ones taken from the defaults."""
        return Budgets(**(defaults.model_dump(exclude_none=True) | self.model_dump(exclude_none=True)))


class Agent(BaseModel, extra="forbid", defer_build=True, frozen=True):
    """The definition of an agent.

    Attributes:
        model: Profiles or `provider:model`, tried in this order; empty means the default model.
        toolsets: Toolsets; the agent gets all of their offered tools.
        tools: Additional single tools, also `run_<name>` of other agents.
        mcp: Other MCP servers; the agent gets all of their tools. `server/tool` selects a single tool.
        stakes: never_ask, low or high by tool name or `*`; a workspace's file can only raise stakes.
        origin: Where the definition comes from.
        place: The folder of its file; "" for a definition without one.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$", description="letters, digits, dashes; at most 64")
    description: str = Field(min_length=1, max_length=1_000, description="its purpose in one sentence")
    instructions: str = Field(min_length=1, description="the text below the front matter")
    model: NameList = Field([], description="profiles or provider:model, tried in this order")
    thinking: ThinkingEffort | None = Field(None, description="off, low, medium or high")
    toolsets: NameList = Field([], description="names of toolsets")
    tools: NameList = Field([], description="names of tools")
    mcp: NameList = Field([], description="names of configured MCP servers, or server/tool")
    stakes: dict[str, Stake] = Field({}, description="never_ask, low or high by tool name")
    budgets: Budgets = Field(default_factory=Budgets)
    origin: AgentOrigin = "home"
    place: str = ""

    def resolve_stake(self, tool: str, default: Stake) -> Stake:
        """Return the agent's own stake of a tool, else the default; a workspace's file can only raise that."""
        order: tuple[Stake, ...] = ("never_ask", "low", "high")
        own = self.stakes.get(tool) or self.stakes.get("*") or default
        return max(own, default, key=order.index) if self.origin == "workspace" else own


def read_agent(path: Path, origin: AgentOrigin) -> Agent:
    """Read an agent from a file: front matter between two lines of `---`, followed by the instructions.

    Raises InvalidInput with the file, the field and a hint.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InvalidInput(f"{path} cannot be read: {reason}", code="bad_agent") from None
    return parse_agent(text, str(path), origin=origin, name=path.stem).model_copy(
        update={"place": str(path.parent.resolve())}
    )


def parse_agent(text: str, where: str, *, origin: AgentOrigin = "home", name: str = "") -> Agent:
    """Parse an agent's file; `name` is used unless the front matter has a name. Raises InvalidInput."""
    max_chars = 200_000
    if len(text) > max_chars:
        raise _build_error(where, f"is longer than {max_chars:,} characters", "shorten the instructions")
    lines = text.splitlines()
    if not lines or lines[0].strip() != FRONT_MATTER_FENCE:
        raise _build_error(where, "has no front matter", "start it with a line of ---, then `description: …`, then ---")
    ends = [number for number, line in enumerate(lines[1:], 1) if line.strip() == FRONT_MATTER_FENCE]
    if not ends:
        raise _build_error(where, "has front matter that does not end", "add a line of --- before the instructions")
    front_matter, instructions = "\n".join(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])
    fields = {"name": name} | _parse_front_matter(front_matter, where)
    return build_agent(fields | {"instructions": instructions.strip(), "origin": origin}, where)


def build_agent(fields: dict[str, Any], where: str) -> Agent:
    """Build an agent from its fields. Raises InvalidInput that lists every invalid field."""
    try:
        agent = validate_arguments(Agent, where, fields)
    except InvalidInput as error:
        raise InvalidInput(error.message, hint=error.hint, code="bad_agent", details=error.details) from None
    assert isinstance(agent, Agent)
    return agent


def render_agent(agent: Agent) -> str:
    """Return the agent as the text of a file."""
    import yaml

    fields = agent.model_dump(exclude={"instructions", "origin", "place"}, exclude_defaults=True, mode="json")
    front_matter = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True)
    return f"{FRONT_MATTER_FENCE}\n{front_matter}{FRONT_MATTER_FENCE}\n\n{agent.instructions}\n"


def _parse_front_matter(text: str, where: str) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        from outrider.agents.extra import build_missing_extra_error

        raise build_missing_extra_error() from None
    try:
        values = yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f" (line {mark.line + 2})" if mark else ""
        raise _build_error(
            where, f"has front matter that is not valid YAML{line}", "quote texts that contain a colon"
        ) from None
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise _build_error(
            where, "has front matter that is not a list of `name: value`", "write one field on each line"
        )
    return {name: value for name, value in values.items() if name not in ("instructions", "origin", "place")}


def _build_error(where: str, problem: str, hint: str) -> InvalidInput:
    return InvalidInput(f"{where}: it {problem}", hint=hint, code="bad_agent")
