"""Which tools are offered, and which ask a person first."""

import logging
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.tool import Stake, Tool

log = logging.getLogger(__name__)
EVERYTHING = {"*", "all"}


class ToolPolicy(BaseModel, extra="forbid"):
    """Settings: which tools exist for the caller, and which need a person's consent."""

    enable: list[str] = Field(default=["all"], description="Tools to offer: names, `all` or `none`")
    disable: list[str] = Field(default=[], description="Tools to withhold; wins over enable")
    stakes: dict[str, Stake] = Field(
        default={},
        description="Tool name (or `*`) to never_ask, low or high; high asks a person before each call",
    )


def offered(tools: Iterable[Tool], policy: ToolPolicy) -> dict[str, Tool]:
    """The tools that the policy lets through, by name. Unknown names are ignored with a warning."""
    known = {tool.name: tool for tool in tools}
    allowed = _chosen(policy.enable, known)
    denied = _chosen(policy.disable, known)
    return {name: tool for name, tool in known.items() if name in allowed and name not in denied}


def stake_of(tool: Tool, stakes: Mapping[str, Stake]) -> Stake:
    """The setting for this tool, else for `*`, else the tool's own."""
    return stakes.get(tool.name) or stakes.get("*") or tool.stake


def consent(tool: Tool, stakes: Mapping[str, Stake], call: Call, arguments: object) -> None:
    """Lets the call pass, or raises AnswerNeeded (nobody was asked yet) or Refused (they said no)."""
    if stake_of(tool, stakes) != "high" or call.answer is True:
        return
    if call.answer is False:
        raise Refused(f"the user did not allow {tool.name}", hint="do not repeat the call; go on without it")
    raise AnswerNeeded(f"Allow {tool.title} ({tool.name}) with {arguments}?", state=tool.name)


def _chosen(wanted: Iterable[str], known: Mapping[str, Tool]) -> set[str]:
    """The known names among `wanted`; case and dashes do not matter."""
    names = {_normal(part) for each in wanted for part in each.replace("\n", ",").split(",") if part.strip()}
    if names & EVERYTHING:
        return set(known)
    for stranger in sorted(names - {_normal(name) for name in known} - {"none"}):
        log.warning("no tool %r to enable or disable; `outrider tools` lists them", stranger)
    return {name for name in known if _normal(name) in names}


def _normal(name: str) -> str:
    return name.strip().replace("-", "_").casefold()
