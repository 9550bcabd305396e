"""Which tools are offered, and which ask a person first."""

import logging
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.tool import Stake, Tool

log = logging.getLogger(__name__)
ALL_NAMES = {"*", "all"}


class ToolPolicy(BaseModel, extra="forbid", defer_build=True):
    """Settings: which tools exist for the caller, and which need a person's consent."""

    enable: list[str] = Field(default=["all"], description="Tools to offer: names, `all` or `none`")
    disable: list[str] = Field(default=[], description="Tools to withhold; wins over enable")
    stakes: dict[str, Stake] = Field(
        default={},
        description="Tool name (or `*`) to never_ask, low or high; high asks a person before each call",
    )


def filter_tools(tools: Iterable[Tool], policy: ToolPolicy, *, warn: bool = True) -> dict[str, Tool]:
    """The tools that the policy lets through, by name. Unknown names are ignored, with a warning if wanted."""
    known = {tool.name: tool for tool in tools}
    allowed = _match_names(policy.enable, known)
    denied = _match_names(policy.disable, known)
    if warn:
        for names in (policy.enable, policy.disable, policy.stakes):
            _warn_of_strangers(map(_normalize_name, _split_names(names)), known)
    return {name: tool for name, tool in known.items() if name in allowed and name not in denied}


def resolve_stake(tool: Tool, stakes: Mapping[str, Stake]) -> Stake:
    """The setting for this tool, else for `*`, else the tool's own."""
    settings = {_normalize_name(name): stake for name, stake in stakes.items()}
    return settings.get(_normalize_name(tool.name)) or settings.get("*") or tool.stake


def require_consent(
    tool: Tool, stakes: Mapping[str, Stake], call: Call, arguments: Mapping[str, object], *, why: str = ""
) -> None:
    """Lets the call pass, or raises AnswerNeeded (nobody was asked yet) or Refused (they said no)."""
    if resolve_stake(tool, stakes) != "high" or call.answer is True:
        return
    if call.answer is False:
        raise Refused(f"the user did not allow {tool.name}", hint="do not repeat the call; go on without it")
    shown = {name: "[private]" if name in tool.private else value for name, value in arguments.items()}
    raise AnswerNeeded(f"Allow {tool.title} ({tool.name}) with {_spelled(shown)}?{why}", state=tool.name)


def _spelled(arguments: object) -> str:
    """The arguments as they are; repr() makes visible what bidi and zero-width characters would hide."""
    max_chars = 4_000  # characters of the arguments that a question repeats
    text = repr(arguments)
    return text if len(text) <= max_chars else f"{text[:max_chars]}… (cut: {len(text)} characters in all)"


def _match_names(wanted: Iterable[str], known: Mapping[str, Tool]) -> set[str]:
    """The known names among `wanted`; case and dashes do not matter."""
    names = {_normalize_name(part) for part in _split_names(wanted)}
    if names & ALL_NAMES:
        return set(known)
    return {name for name in known if _normalize_name(name) in names}


def _split_names(wanted: Iterable[str]) -> list[str]:
    return [part for each in wanted for part in each.replace("\n", ",").split(",") if part.strip()]


def _warn_of_strangers(names: Iterable[str], known: Iterable[str]) -> None:
    for stranger in sorted(set(names) - {_normalize_name(name) for name in known} - ALL_NAMES - {"none"}):
        log.warning("no tool %r to enable, disable or ask for; `outrider tools` lists them", stranger)


def _normalize_name(name: str) -> str:
    return name.strip().replace("-", "_").casefold()
