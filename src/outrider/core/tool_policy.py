"""Decide which tools are offered, and which ask a person first."""

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
    disable: list[str] = Field(default=[], description="Tools to withhold; overrides enable")
    stakes: dict[str, Stake] = Field(
        default={},
        description="Tool name (or `*`) to never_ask, low or high; high asks a person before each call",
    )


def filter_tools(tools: Iterable[Tool], policy: ToolPolicy, *, warn: bool = True) -> dict[str, Tool]:
    """Return the tools that the policy allows, by name. Unknown names are ignored, with a warning by default."""
    known = {tool.name: tool for tool in tools}
    allowed = _match_names(policy.enable, known)
    denied = _match_names(policy.disable, known)
    if warn:
        valid_names = {_normalize_name(name) for name in known} | ALL_NAMES | {"none"}
        for names in (policy.enable, policy.disable, policy.stakes):
            for unknown in sorted(set(_split_names(names)) - valid_names):
                log.warning("no tool %r to enable, disable or ask for; `outrider tools` lists them", unknown)
    return {name: tool for name, tool in known.items() if name in allowed and name not in denied}


def is_enabled_by_name(name: str, policy: ToolPolicy) -> bool:
    """Return whether the policy enables this tool by its name."""
    return _normalize_name(name) in _split_names(policy.enable)


def resolve_stake(tool: Tool, stakes: Mapping[str, Stake]) -> Stake:
    """Return the setting for this tool, else for `*`, else the tool's own."""
    if not stakes:
        return tool.stake
    settings = {_normalize_name(name): stake for name, stake in stakes.items()}
    return settings.get(_normalize_name(tool.name)) or settings.get("*") or tool.stake


def require_consent(
    tool: Tool, stakes: Mapping[str, Stake], call: Call, arguments: Mapping[str, object], *, why: str = ""
) -> None:
    """Allow the call, or raise AnswerNeeded or Refused.

    AnswerNeeded means that the person was not asked yet, Refused that the person denied it.
    """
    max_chars = 4_000  # of the arguments shown in the question
    if resolve_stake(tool, stakes) != "high" or call.answer is True:
        return
    if call.answer is False:
        raise Refused(f"the user did not allow {tool.name}", hint="do not repeat the call; continue without it")
    public_arguments = {name: "[private]" if tool.is_private(name) else value for name, value in arguments.items()}
    text = repr(public_arguments)  # makes bidi and zero-width characters visible
    if len(text) > max_chars:
        text = f"{text[:max_chars]}… (cut: {len(text)} characters in all)"
    question = f"Allow {tool.title} ({tool.name}) with {text}?{why}"
    raise AnswerNeeded(question, state=tool.name, details={"hint": suggest_stake(tool.name)})


def suggest_stake(tool: str) -> str:
    """Return the command with which an operator allows a tool without a question."""
    return f"the operator can allow it: `outrider config set tools.stakes.{tool} never_ask`"


def _match_names(patterns: Iterable[str], known: Mapping[str, Tool]) -> set[str]:
    """Return the known names that are listed; case and dashes do not matter."""
    names = set(_split_names(patterns))
    if names & ALL_NAMES:
        return set(known)
    return {name for name in known if _normalize_name(name) in names}


def _split_names(lists: Iterable[str]) -> list[str]:
    """Return normalized names from texts that may each hold several, separated by commas or lines."""
    return [_normalize_name(part) for names in lists for part in names.replace("\n", ",").split(",") if part.strip()]


def _normalize_name(name: str) -> str:
    return name.strip().replace("-", "_").casefold()
