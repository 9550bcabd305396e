"""The one way to call a tool, whoever calls: a host over MCP, the command line, or a sub-agent."""

import copy
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from outrider.core.arguments import parse_arguments
from outrider.core.call_records import CallRecord, CallRecorder
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError, Unavailable
from outrider.core.grant import Grant
from outrider.core.pausable_timeout import limit_time
from outrider.core.prompts import OfferedToolCount, Prompt, ToolsetContext, build_toolset_context, call_with_services
from outrider.core.result import Result
from outrider.core.tool import Services, Stake, Tool, Toolset
from outrider.core.tool_policy import ToolPolicy, filter_tools, require_consent
from outrider.core.tracing import start_span, track_call

QuotaCheck = Callable[[Tool, Call], Awaitable[None]]
# The result of a call that another process has to make, or None for one that is made here.
CallForwarder = Callable[[Tool, Mapping[str, Any], Call], Awaitable[Result | None]]


class Toolbox:
    """The offered tools of some toolsets, with the services that they need.

    Attributes:
        tools: What is offered, by name. Tools that come and go are in it after a `refresh_tools`.
        changes: Whether tools may come and go.
        version: Rises whenever some have.
        quota_check: Asked before each call, where there are quotas; raises what the caller hears instead.
        forward_call: Hands calls to the process that has what they are about, where there are several.
    """

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        services: Services,
        events: CallRecorder,
        policy: ToolPolicy | None = None,
    ) -> None:
        self.toolsets = {toolset.name: toolset for toolset in toolsets}
        self.policy = policy or ToolPolicy()
        every = [tool for toolset in self.toolsets.values() for tool in toolset.tools.values()]
        _check_duplicates(every)
        self.changes = any(toolset.tool_source for toolset in self.toolsets.values())
        # Where tools come and go, a name that is unknown now may be known later.
        self.tools: dict[str, Tool] = filter_tools(every, self.policy, warn=not self.changes)
        self._fixed = self._all_tools = self.tools
        self._reserved_names = frozenset(tool.name for tool in every)
        self._seen: tuple[Tool, ...] = ()
        self.version = 0
        self.quota_check: QuotaCheck | None = None
        self.forward_call: CallForwarder | None = None
        self._services = services
        self._events = events

    async def refresh_tools(self) -> bool:
        """Looks for tools that came or went; whether there were any."""
        if not self.changes or self.tools is not self._all_tools:  # somebody chose from them: that choice is final
            return False
        found: tuple[Tool, ...] = ()
        for toolset in self.toolsets.values():
            if toolset.tool_source is not None:
                found += await toolset.tool_source(self._services, self._reserved_names)
        if found == self._seen:
            return False
        self._seen = found
        self.version += 1
        self.tools = self._all_tools = self._fixed | filter_tools(found, self.policy, warn=False)
        return True

    async def find_tool(self, name: str) -> Tool:
        """The tool of that name, also one that came since the last look. Raises NotFound."""
        if name not in self.tools:
            await self.refresh_tools()
        return self.get_tool(name)

    def restrict_to(self, names: Iterable[str], stakes: Mapping[str, Stake] | None = None) -> "Toolbox":
        """The same house with these tools alone, whatever comes later; `stakes` win over the policy's.

        Names of tools that are not offered are left out.
        """
        wanted = set(names)
        policy = self.policy.model_copy(update={"stakes": {**self.policy.stakes, **(stakes or {})}})
        return self._filter_tools(lambda tool: tool.name in wanted, changes=False, policy=policy, _fixed=self.tools)

    def select_toolset(self, toolset: str) -> "Toolbox":
        """The same house seen through one toolset. Raises NotFound."""
        for each in self.toolsets.values():
            if toolset in (each.name, *each.aliases):
                return self._restrict_to_toolset(each)
        raise NotFound(f"no toolset {toolset!r}", hint=f"the toolsets are {', '.join(self.toolsets)}")

    def apply_grant(self, grant: Grant | None) -> "Toolbox":
        """The same house with what a caller may use; all of it where nobody has to show anything."""
        if grant is None:
            return self
        seen = self._filter_tools(grant.can_use_tool, changes=False)
        seen.toolsets = {each.name: each for each in seen.list_toolsets()}
        return seen

    def get_tool(self, name: str) -> Tool:
        """The tool of that name, or NotFound with the nearest names."""
        if name in self.tools:
            return self.tools[name]
        close = get_close_matches(name[:100], self.tools, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"the tools are {', '.join(self.tools)}"
        raise NotFound(f"no tool {name[:100]!r}", hint=hint, code="unknown_tool")

    def list_toolsets(self) -> list[Toolset]:
        """The toolsets of which something is offered."""
        used = {tool.toolset for tool in self.tools.values()}
        return [each for each in self.toolsets.values() if each.name in used or each.tools.keys() & self.tools.keys()]

    async def describe_context(self, toolset: str, call: Call) -> ToolsetContext:
        """How things stand in a toolset for the call's session. Raises NotFound."""
        for each in self.toolsets.values():
            if toolset in (each.name, *each.aliases):
                count = OfferedToolCount(sum(name in self.tools for name in each.tools))
                text, state = (
                    await call_with_services(each.describe, self._services, call, count) if each.describe else ("", {})
                )
                return build_toolset_context(each.display_name or each.name, each.name, count, text, state)
        raise NotFound(f"no toolset {toolset!r}", hint=f"the toolsets are {', '.join(self.toolsets)}")

    async def list_prompts(self, call: Call) -> list[Prompt]:
        """The prompts that toolsets keep for this caller, besides their contexts."""
        sources = [each.prompts for each in self.list_toolsets() if each.prompts]
        return [
            prompt
            for source in sources
            for prompt in await call_with_services(source.list_prompts, self._services, call)
        ]

    async def get_prompt_version(self) -> tuple[object, ...]:
        """Another whenever prompts have come, changed or gone; empty where they never do."""
        return tuple(
            [
                await call_with_services(each.prompts.get_version, self._services)
                for each in self.list_toolsets()
                if each.prompts
            ]
        )

    def _restrict_to_toolset(self, toolset: Toolset) -> "Toolbox":
        changes = toolset.tool_source is not None
        one = {toolset.name: toolset}
        own = toolset.tools
        return self._filter_tools(
            lambda tool: tool.toolset == toolset.name or own.get(tool.name) is tool,
            changes=changes,
            toolsets=one,
            _seen=(),
        )

    def _filter_tools(self, predicate: Callable[[Tool], bool], *, changes: bool, **other: Any) -> "Toolbox":
        """The same house with the tools that `predicate` lets through."""
        seen = copy.copy(self)
        vars(seen).update(other, changes=changes)
        for name in ("tools", "_fixed"):
            vars(seen)[name] = {key: tool for key, tool in vars(seen)[name].items() if predicate(tool)}
        seen._all_tools = seen.tools  # noqa: SLF001 - it is one of us
        return seen

    async def call(self, name: str, arguments: object = None, call: Call | None = None) -> Result:
        """Calls a tool: validation, consent, time limit and the event record happen here, once.

        Args:
            name: The tool's bare name.
            arguments: A mapping, its JSON text, or None.
            call: Who calls; the default is an anonymous local call.

        Returns:
            The tool's result.

        Raises:
            OutriderError: for everything that the caller can react to.
            AnswerNeeded: a person must be asked first.
        """
        call = call or Call()
        tool = await self.find_tool(name)
        given: dict[str, Any] = {}
        key = str(uuid.uuid4())
        started = time.monotonic()
        outcome, size, message, provider = "ok", 0, "", None
        try:
            given = parse_arguments(arguments)
            with (
                track_call(key, call.session),
                start_span(f"tool {tool.name}", {"gen_ai.tool.name": tool.name, "outrider.toolset": tool.toolset}),
            ):
                result = await self._check_and_run(tool, given, call)
            size, provider = len(result.text), result.data.get("provider")
            outcome = "error" if result.is_error else "ok"
        except BaseException as error:
            outcome, message = _classify_outcome(error), str(error)
            raise
        else:
            return result
        finally:
            seconds = time.monotonic() - started
            _measure(tool, outcome, seconds, size)
            event = CallRecord.from_call(tool, call, given, outcome, message, key=key, seconds=seconds, size=size)
            self._events.record(event.with_provider(provider))

    async def _check_and_run(self, tool: Tool, arguments: dict[str, Any], call: Call) -> Result:
        if call.grant is not None:
            call.grant.require_tool(tool)
        given = tool.validate_arguments(arguments)
        if self.quota_check is not None:
            await self.quota_check(tool, call)
        require_consent(tool, self.policy.stakes, call, arguments)
        if self.forward_call is not None and (made := await self.forward_call(tool, arguments, call)) is not None:
            return made
        return await self._run_with_timeout(tool, given, arguments, call)

    async def run_forwarded_call(self, name: str, arguments: dict[str, Any], call: Call) -> Result:
        """Makes a call for another process, which has asked and will record everything. Raises as `call`."""
        tool = await self.find_tool(name)
        return await self._run_with_timeout(tool, tool.validate_arguments(arguments), arguments, call)

    async def _run_with_timeout(self, tool: Tool, given: Any, arguments: dict[str, Any], call: Call) -> Result:
        # The limit raises nothing: a tool's own TimeoutError is another matter.
        with limit_time(tool.timeout, call.heartbeat), self._events.inflight.track_call(tool, call, arguments):
            return await tool.run(self._services, call, given)
        raise Unavailable(
            f"{tool.name} did not finish within {tool.timeout:g} seconds", code="timeout", hint="ask for less"
        )


def _measure(tool: Tool, outcome: str, seconds: float, size: int) -> None:
    from outrider.core.metrics import TOOL_RESULT_CHARS, TOOL_SECONDS

    facts = {"toolset": tool.toolset, "tool": tool.name, "outcome": outcome}
    TOOL_SECONDS.record(seconds, facts)
    TOOL_RESULT_CHARS.record(size, facts)


def _classify_outcome(error: BaseException) -> str:
    if isinstance(error, OutriderError):
        return error.code
    if isinstance(error, AnswerNeeded):
        return "asks"
    return "bug" if isinstance(error, Exception) else "cancelled"


def _check_duplicates(tools: Iterable[Tool]) -> None:
    """Raises ValueError for two tools of one name; one tool may be listed by several toolsets."""
    known: dict[str, Tool] = {}
    for tool in tools:
        other = known.setdefault(tool.name, tool)
        if other is not tool:
            raise ValueError(f"tool {tool.name!r} is in toolsets {other.toolset!r} and {tool.toolset!r}")
