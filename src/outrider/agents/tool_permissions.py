"""What an agent may use: its tools as they are offered at the start, under stakes that nothing later widens."""

import copy
from collections.abc import Iterable, Mapping, Sequence

from outrider.agents.definition import Agent
from outrider.agents.remote_tools import RemoteTool
from outrider.agents.run import Run
from outrider.core.grant import Grant
from outrider.core.tool import Stake, Tool
from outrider.core.tool_policy import filter_tools, resolve_stake
from outrider.core.toolbox import Toolbox


def restrict_toolbox(toolbox: Toolbox, agent: Agent, remote: Mapping[str, Tool] | None = None) -> Toolbox:
    """The toolbox with nothing but the agent's tools, under its stakes.

    An agent of a workspace's file is somebody else's text: its stakes can only raise those of the house, and every tool
    of another server asks.

    Args:
        toolbox: What is offered here.
        agent: Whose tools they will be.
        remote: Tools of other servers that the agent has; the policy's `enable` and `disable` hold for them, too.

    Raises:
        NotFound: A toolset or tool that is not offered.
    """
    beside = filter_tools((remote or {}).values(), toolbox.policy, warn=False)
    names = [*(name for each in agent.toolsets for name in _list_tools(toolbox, each)), *agent.tools, *beside]
    tools = {name: beside.get(name) or toolbox.get_tool(name) for name in dict.fromkeys(names)}
    seen = copy.copy(toolbox)
    seen.tools = tools
    stakes = {name: _resolve_stake(tool, agent, toolbox.policy.stakes) for name, tool in tools.items()}
    seen.policy = toolbox.policy.model_copy(update={"stakes": stakes})
    return seen


def freeze_agent(
    agent: Agent,
    toolsets: Sequence[str],
    above: Run | None,
    *,
    served: Toolbox,
    every: Toolbox,
    remote: Mapping[str, Tool] | None = None,
    added: Mapping[str, Tool] | None = None,
    grant: Grant | None = None,
) -> Agent:
    """The agent with its tools by name, as they are offered now.

    A run that begins another may hand on the tools that it has itself. Of others that it asks for each call is a
    question for a person: what a page or a tool's result talked it into must not widen anybody's rights.

    Args:
        agent: As it is defined.
        toolsets: Further ones that the caller asks for.
        above: The run that begins this one, if one does.
        served: What hosts get; agents of a workspace's file get of it only, because they may choose and not widen.
        every: All of the house's tools.
        remote: The tools of the other servers that the agent names.
        added: Those of the servers that the caller asks for besides.
        grant: What the person behind the call may do: their agents get nothing else, nor do agents of those.

    Raises:
        NotFound: A toolset or tool that is not offered.
        Refused: The caller asks for a toolset that is not theirs.
    """
    wanted = agent.model_copy(update={"toolsets": [*agent.toolsets, *toolsets]})
    house = served if agent.origin == "workspace" else every
    seen = restrict_toolbox(house, wanted, {**(remote or {}), **(added or {})})
    if grant is not None:
        _check_asked(grant, toolsets, house)
        seen.tools = {name: tool for name, tool in seen.tools.items() if grant.can_use_tool(tool)}
    stakes = {name: stake for name, stake in seen.policy.stakes.items() if name in seen.tools}
    if above is not None:
        known = {*restrict_toolbox(house, agent, remote).tools, *above.definition.get("tools", ())}
        stakes |= {name: "high" for name in seen.tools if name not in known}
    return wanted.model_copy(update={"toolsets": [], "tools": list(seen.tools), "stakes": stakes})


def _check_asked(grant: Grant, toolsets: Sequence[str], house: Toolbox) -> None:
    for name in toolsets:
        for tool in (house.get_tool(each) for each in _list_tools(house, name)):
            if not grant.can_use_toolset(tool.toolset):
                grant.require_tool(tool)


def _list_tools(toolbox: Toolbox, toolset: str) -> Iterable[str]:
    if toolset == "all":
        return toolbox.tools
    return toolbox.select_toolset(toolset).tools


def _resolve_stake(tool: Tool, agent: Agent, house: Mapping[str, Stake]) -> Stake:
    stake_order: tuple[Stake, ...] = ("never_ask", "low", "high")
    if agent.origin == "workspace" and isinstance(tool, RemoteTool):
        return "high"
    usual = resolve_stake(tool, house)
    own = agent.stakes.get(tool.name) or agent.stakes.get("*")
    if own is None or (agent.origin == "workspace" and stake_order.index(own) < stake_order.index(usual)):
        return usual
    return own
