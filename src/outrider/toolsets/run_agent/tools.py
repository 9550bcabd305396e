"""Agents as tools: one `run_<name>` for each agent, and tools for their runs."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, WithJsonSchema

from outrider.agents.catalogue import Catalogue
from outrider.agents.definition import Budgets
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.core.result import Result
from outrider.core.server_record import ServerRecord
from outrider.core.tool import MAX_TOOL_NAME_CHARS, Services, Tool, Toolset
from outrider.toolsets.parameters import IdempotencyKey
from outrider.toolsets.run_agent.delegation import Delegation, DelegationMode, DelegationRequest
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES

run_agent_toolset = Toolset(
    "run_agent",
    "run_<name> gives a task to that agent, which does not see this conversation: put all it must know into the "
    "query. Keep marks like :cite[ref] in answers. agent_run gets the answer of a background run.",
    usual_names=USUAL_TOOL_NAMES["run_agent"],
    # Runs are durable, so an interrupted call continues the run that it started.
    record=ServerRecord(
        id=1008,
        description="Run a child agent (agent as tool).",
        icon="ActionRobotIcon",
        availability="auto",
        timeout_ms=600_000,
        retry_on_interrupt=True,
    ),
)

MAX_WAIT_S: Final = 3_600.0  # seconds that an operator may let a call wait
PLACEHOLDER_TOOL_NAME: Final = "run_agent_tool_not_available"
MAX_SLUG_CHARS: Final = MAX_TOOL_NAME_CHARS - len("builtin_run_agent__run_")
AGENT_URI: Final = re.compile(r"agent://[\w-]+/w/(\w+)/agents/([\w. -]+)")


class AgentInput(BaseModel, extra="forbid", defer_build=True):
    """An agent as hosts configure it."""

    uri: str = Field(pattern=rf"^{AGENT_URI.pattern}$", max_length=300)
    mimeType: str = ""


class ExecutionMode(BaseModel, extra="forbid", defer_build=True):
    """The mode as hosts configure it."""

    value: Literal["run-agent", "handoff"]
    mimeType: str = ""


class AgentBudget(BaseModel, extra="forbid", defer_build=True):
    """Limits of the agent and of everything that it calls."""

    max_steps: int | None = Field(None, ge=1, le=1_000)
    max_seconds: float | None = Field(None, gt=0, le=86_400)
    max_tokens: int | None = Field(None, ge=1)

    def to_budgets(self) -> Budgets:
        """Convert to the agents' own type."""
        return Budgets(steps=self.max_steps, seconds=self.max_seconds, tokens=self.max_tokens)


def _build_shape_schema(required: list[str] | None = None, **properties: Any) -> WithJsonSchema:
    """Build a minimal schema of an object, because every agent's tool repeats its tokens."""
    shape = {"type": "object", "properties": properties}
    return WithJsonSchema(shape | ({"required": required} if required else {}))


TaskQuery = Annotated[
    str, Field(min_length=1, max_length=100_000, description="The task, with everything the agent needs to know")
]
# Pattern and length are validated separately: pydantic compiles `{1,200}` slowly.
Identifier = Annotated[
    str, Field(pattern=r"^[\w-]+$", max_length=200), WithJsonSchema({"type": "string", "pattern": r"^[\w-]{1,200}$"})
]
IdentifierList = list[Identifier] | None
ToolsetIds = Annotated[IdentifierList, Field(max_length=50, description="Extra toolsets for this task")]
FileIds = Annotated[IdentifierList, Field(max_length=100, description="Ids of files to attach")]
FileNames = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=1_000)]] | None,
    Field(max_length=100, description="Files for the agent: workspace paths or ids"),
]
ChildAgent = Annotated[
    AgentInput | None,
    _build_shape_schema(
        ["uri"], uri={"type": "string", "pattern": f"^{AGENT_URI.pattern}$"}, mimeType={"type": "string"}
    ),
]
ConfiguredMode = Annotated[
    ExecutionMode | None, _build_shape_schema(value={"enum": ["run-agent", "handoff"]}, mimeType={"type": "string"})
]
KnownConversation = Annotated[
    str | None,
    Field(max_length=200, description="This conversation's: hand it over; one of the agent's: continue it"),
]
ModeParameter = Annotated[
    DelegationMode | None, Field(description="background: return at once; handoff: the agent takes over")
]
BudgetLimits = Annotated[
    AgentBudget | None,
    _build_shape_schema(max_steps={"type": "integer"}, max_seconds={"type": "number"}, max_tokens={"type": "integer"}),
]
RunId = Annotated[str, Field(min_length=1, max_length=64, description="From an agent's result")]


@run_agent_toolset.tool(
    effect="write", title="Run an agent", stake="never_ask", open_world=True, untrusted=True, timeout=MAX_WAIT_S + 60
)
async def run_agent(
    delegation: Delegation,
    call: Call,
    /,
    agent: Annotated[str, Field(min_length=1, max_length=64, description="The agent's name")],
    query: TaskQuery,
    context_files: FileNames = None,
    toolsets: ToolsetIds = None,
    conversation_id: KnownConversation = None,
    mode: ModeParameter = None,
    budget: BudgetLimits = None,
    idempotency_key: IdempotencyKey = None,
) -> Result:
    """Run an agent by its name. Prefer its own tool run_<name> if there is one."""
    request = DelegationRequest(
        query=query,
        toolsets=toolsets or (),
        files=context_files or (),
        conversation_id=conversation_id or "",
        mode=mode,
        budget=budget.to_budgets() if budget else None,
        idempotency_key=idempotency_key or "",
    )
    return await delegation.run_agent(agent, request, call)


@run_agent_toolset.tool(title="See an agent's run", untrusted=True, timeout=MAX_WAIT_S + 60)
async def agent_run(
    delegation: Delegation,
    call: Call,
    /,
    runId: Annotated[str | None, Field(max_length=64, description="Leave out to list your last runs")] = None,
    waitSeconds: Annotated[float, Field(ge=0, le=600, description="How long to wait for it to end")] = 0,
) -> Result | str:
    """Get the answer of an agent's run, or list your last runs."""
    if runId:
        return await delegation.wait_for_run(await delegation.find_own_run(runId, call), call, seconds=waitSeconds)
    recent = await delegation.list_recent_runs(call)
    usage = {run.id: await delegation.runs.sum_usage(run.id) for run in recent if not run.has_ended}
    used = {run_id: f", {tree.describe()}" for run_id, tree in usage.items() if tree.requests}
    lines = [
        f"- {run.id} ({run.status}{used.get(run.id, '')}) {run.agent}: {' '.join(run.query.split())[:120]}"
        for run in recent
    ]
    return "\n".join(("Your last runs, newest first:", *lines)) if lines else "You have not run any agent yet."


@run_agent_toolset.tool(effect="write", title="Cancel an agent's run", stake="never_ask")
async def cancel_agent_run(delegation: Delegation, call: Call, /, runId: RunId) -> str:
    """Cancel an agent's run and everything it started. A finished run does not change."""
    run = await delegation.find_own_run(runId, call)
    await delegation.runs.cancel(run.id)
    after = await delegation.runs.get(run.id)
    return f"Run {run.id} of agent {run.agent} is {after.status}."


@run_agent_toolset.register_default_check
def is_configured(services: Services) -> bool:
    """Return whether any agent is defined, or a model for agents is set; then the toolset is served by default."""
    delegation: Delegation = services[Delegation]
    return delegation.options.configured


@run_agent_toolset.register_tool_source
async def list_agent_tools(services: Services, taken_names: Collection[str]) -> tuple[Tool, ...]:
    """Return one tool per agent, or a placeholder.

    The placeholder is listed if an agent cannot be used or there are none.
    """
    delegation: Delegation = services[Delegation]
    catalogue, database = delegation.catalogue, delegation.database
    descriptions = catalogue.describe_agents()
    if database.opened_event.is_set() or database.dialect != "sqlite":  # listing tools must not open a database file
        stored = await catalogue.load_rows()
        descriptions = descriptions | {name: agent.description for name, agent in stored.items()}
    names, wait = _assign_tool_names(descriptions, taken_names), delegation.options.detach_s
    tools = tuple(_build_agent_tool(names[name], name, description, wait) for name, description in descriptions.items())
    missing = not descriptions or bool(catalogue.list_problems())
    return (*tools, _build_placeholder()) if missing else tools


def _assign_tool_names(agents: Collection[str], taken_names: Collection[str]) -> dict[str, str]:
    """Assign tool names in the agents' alphabetical order.

    They stay the same when others are added.
    """
    names: dict[str, str] = {}
    used = set(taken_names) | {PLACEHOLDER_TOOL_NAME}
    for name in sorted(agents):
        slug, number = slugify_name(name), 2
        tool_name = f"run_{slug}"
        while tool_name in used:
            suffix = f"_{number}"
            tool_name, number = f"run_{slug[: MAX_SLUG_CHARS - len(suffix)].rstrip('_')}{suffix}", number + 1
        used.add(tool_name)
        names[name] = tool_name
    return names


def slugify_name(name: str) -> str:
    """Return an agent's name as part of a tool's: `[a-z0-9_]`, single underscores, at most 41 characters."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:MAX_SLUG_CHARS].rstrip("_") or "agent"


@lru_cache(maxsize=1_000)
def _build_agent_tool(tool: str, name: str, description: str, wait: float) -> Tool:
    """Build the tool of one agent; it is the same object until something about it changes."""

    async def delegate_task(
        delegation: Delegation,
        call: Call,
        /,
        query: TaskQuery,
        childAgent: ChildAgent = None,
        toolsetsToAdd: ToolsetIds = None,
        fileOrContentFragmentIds: FileIds = None,
        conversationId: KnownConversation = None,
        executionMode: ConfiguredMode = None,
        mode: ModeParameter = None,
        budget: BudgetLimits = None,
        idempotencyKey: IdempotencyKey = None,
    ) -> Result:
        match = AGENT_URI.fullmatch(childAgent.uri) if childAgent else None
        if match and match[2] not in (name, slugify_name(name)):
            raise InvalidInput(
                f"childAgent: is agent {match[2]!r}, but this tool runs agent {name!r}",
                hint="leave out childAgent, or call that agent's own tool",
            )
        handoff: DelegationMode | None = "handoff" if executionMode and executionMode.value == "handoff" else None
        request = DelegationRequest(
            query=query,
            toolsets=toolsetsToAdd or (),
            files=fileOrContentFragmentIds or (),
            conversation_id=conversationId or "",
            mode=mode or handoff,
            budget=budget.to_budgets() if budget else None,
            idempotency_key=idempotencyKey or "",
        )
        return await delegation.run_agent(name, request, call)

    return Tool(
        tool,
        name,
        f"Run agent {name} ({description})",
        "write",
        delegate_task,
        stake="never_ask",
        timeout=wait + 60,
        open_world=True,
        untrusted=True,
        toolset=run_agent_toolset.name,
    )


@lru_cache(maxsize=1)
def _build_placeholder() -> Tool:
    async def raise_not_available(catalogue: Catalogue, /, childAgent: ChildAgent = None) -> Result:  # noqa: ARG001
        problems = "; ".join(problem.message for problem in catalogue.list_problems()[:3])
        raise NotConfigured(
            f"No child agent is configured{f': {problems}' if problems else ''}.",
            hint="tell the user; `outrider agents check` shows what is wrong, `outrider agents add` creates one",
            code="no_agent",
        )

    return Tool(
        PLACEHOLDER_TOOL_NAME,
        "Agent not available",
        "A configured agent cannot be used. Do not call this: tell the user that it is missing.",
        "read",
        raise_not_available,
        toolset=run_agent_toolset.name,
    )
