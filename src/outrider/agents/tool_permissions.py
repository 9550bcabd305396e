"""Decide which tools an agent may use, and their stakes."""

import copy
from collections.abc import Iterable, Mapping, Sequence

from outrider.agents.definition import Agent
from outrider.agents.remote_tools import RemoteTool
from outrider.agents.run import Run
from outrider.core.errors import NotFound
from outrider.core.grant import Grant
from outrider.core.tool import Stake, Tool
from outrider.core.tool_policy import filter_tools, resolve_stake
from outrider.core.toolbox import Toolbox


def restrict_toolbox(toolbox: Toolbox, agent: Agent, remote: Mapping[str, Tool] | None = None) -> Toolbox:
    """Return a toolbox with only the agent's tools, under its stakes.

    An agent from a workspace's file may be untrusted: it can only raise the configured stakes, and all its remote tools
    ask before each call.

    Args:
        toolbox: All offered tools.
        agent: The agent.
        remote: The agent's tools of other servers; the policy's `enable` and `disable` also apply to them.

    Raises:
        NotFound: A toolset or tool is not offered.
    """
    enabled_remote = filter_tools((remote or {}).values(), toolbox.policy, warn=False)
    toolset_tools = [name for toolset in agent.toolsets for name in _list_tools(toolbox, toolset)]
    names = dict.fromkeys([*toolset_tools, *agent.tools, *enabled_remote])
    tools = {name: enabled_remote.get(name) or toolbox.get_tool(name) for name in names}
    restricted = copy.copy(toolbox)
    restricted.tools, restricted.unlisted = tools, frozenset()
    stakes: dict[str, Stake] = {}
    for name, tool in tools.items():
        asks_always = agent.origin == "workspace" and isinstance(tool, RemoteTool)
        stakes[name] = "high" if asks_always else agent.resolve_stake(name, resolve_stake(tool, toolbox.policy.stakes))
    restricted.policy = toolbox.policy.model_copy(update={"stakes": stakes})
    return restricted


def freeze_agent(
    agent: Agent,
    toolsets: Sequence[str],
    parent_run: Run | None,
    *,
    served: Toolbox,
    all_tools: Toolbox,
    remote: Mapping[str, Tool] | None = None,
    added: Mapping[str, Tool] | None = None,
    grant: Grant | None = None,
) -> Agent:
    """Return the agent with its toolsets resolved to the tools that are offered now.

    A run may pass its own tools on to a run that it starts. Other tools that it requests ask a person before each call:
    a page or a tool's result that manipulates an agent must not give it more rights.

    Args:
        agent: The agent's current definition.
        toolsets: Additional toolsets that the caller requests.
        parent_run: The run that starts this one, if any.
        served: The tools that hosts get; agents from a workspace's file get only these.
        all_tools: All tools of the app.
        remote: The tools of the other servers that the agent names.
        added: The tools of the other servers that the caller requests.
        grant: The rights of the person behind the call, which limit all agents below it.

    Raises:
        NotFound: A toolset or tool is not offered.
        Refused: The caller requests a toolset without having the right to use it.
    """
    extended = agent.model_copy(update={"toolsets": [*agent.toolsets, *toolsets]})
    available = served if agent.origin == "workspace" else all_tools
    try:
        toolbox = restrict_toolbox(available, extended, {**(remote or {}), **(added or {})})
    except NotFound as error:
        if agent.origin == "workspace":
            restrict_toolbox(all_tools, extended, {**(remote or {}), **(added or {})})
            error.hint = (
                "it is not served, and an agent from a project's file gets only served tools: add it to the setting "
                "toolsets, or make the agent yours: `outrider agents add FILE`"
            )
        raise
    if grant is not None:
        for tool in (available.get_tool(name) for toolset in toolsets for name in _list_tools(available, toolset)):
            if not grant.can_use_toolset(tool.toolset):
                grant.require_tool(tool)
        toolbox.tools = {name: tool for name, tool in toolbox.tools.items() if grant.can_use_tool(tool)}
    stakes = {name: stake for name, stake in toolbox.policy.stakes.items() if name in toolbox.tools}
    if parent_run is not None:
        inherited = {*restrict_toolbox(available, agent, remote).tools, *parent_run.definition.get("tools", ())}
        stakes |= {name: "high" for name in toolbox.tools if name not in inherited}
    return extended.model_copy(update={"toolsets": [], "tools": list(toolbox.tools), "stakes": stakes})


def _list_tools(toolbox: Toolbox, toolset: str) -> Iterable[str]:
    if toolset == "all":
        return [tool.name for tool in toolbox.list_tools()]
    return toolbox.select_toolset(toolset).tools
