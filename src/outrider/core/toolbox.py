"""Call tools on behalf of MCP hosts, command line and agents."""

import copy
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from outrider.core.argument_errors import WrongArguments
from outrider.core.arguments import LEFT_OUT_VALUES, ReadArguments, parse_arguments
from outrider.core.call_records import CallRecorder
from outrider.core.context import Call
from outrider.core.errors import NotFound, OutriderError, Unavailable
from outrider.core.grant import Grant
from outrider.core.pausable_timeout import limit_time
from outrider.core.prompts import OfferedToolCount, Prompt, ToolsetContext, build_toolset_context, call_with_services
from outrider.core.result import Result, TextBlock
from outrider.core.tool import InstalledToolNames, Services, Stake, Tool, Toolset
from outrider.core.tool_policy import ToolPolicy, filter_tools, is_enabled_by_name, require_consent
from outrider.core.tool_suggestions import remove_tool_names, suggest_tools

QuotaCheck = Callable[[Tool, Call], Awaitable[None]]
# Returns the result of a call that another process must make, or None for one that this process makes.
CallForwarder = Callable[[Tool, Mapping[str, Any], Call], Awaitable[Result | None]]


class Toolbox:
    """The offered tools of some toolsets, with the services that they need.

    Attributes:
        tools: Offered tools by name; `refresh_tools` updates those that change at run time.
        unlisted: Offered tools that lists omit, because listed ones do the same under another name.
        changes: Whether tools may be added and removed at run time.
        version: Increases with every such change.
        quota_check: Raises an error for calls beyond a quota; None without quotas.
        forward_call: Forwards calls to the process that holds their session; None in a single process.
    """

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        services: Services,
        events: CallRecorder,
        policy: ToolPolicy | None = None,
        *,
        unlisted: Collection[str] = (),
    ) -> None:
        self.toolsets = {toolset.name: toolset for toolset in toolsets}
        self.policy = policy or ToolPolicy()
        installed = [tool for toolset in self.toolsets.values() for tool in toolset.tools.values()]
        # One tool may be in several toolsets, but no two tools have the same name.
        known: dict[str, Tool] = {}
        for tool in installed:
            other = known.setdefault(tool.name, tool)
            if other is not tool:
                raise ValueError(f"tool {tool.name!r} is in toolsets {other.toolset!r} and {tool.toolset!r}")
        self.changes = any(toolset.tool_source for toolset in self.toolsets.values())
        # If tools change at run time, an unknown name may be known later.
        self.tools: dict[str, Tool] = filter_tools(installed, self.policy, warn=not self.changes)
        self.unlisted = frozenset(name for name in unlisted if not is_enabled_by_name(name, self.policy))
        self._static_tools = self._all_tools = self.tools
        self._reserved_names = frozenset(tool.name for tool in installed)
        self._dynamic_tools: tuple[Tool, ...] = ()
        self.version = 0
        self.quota_check: QuotaCheck | None = None
        self.forward_call: CallForwarder | None = None
        self._services = services
        self._events = events

    async def refresh_tools(self) -> bool:
        """Update tools that were added or removed; return whether there were any."""
        if not self.changes or self.tools is not self._all_tools:  # a caller replaced `tools`: leave them alone
            return False
        dynamic_tools: tuple[Tool, ...] = ()
        for toolset in self.toolsets.values():
            if toolset.tool_source is not None:
                dynamic_tools += await toolset.tool_source(self._services, self._reserved_names)
        if dynamic_tools == self._dynamic_tools:
            return False
        self._dynamic_tools = dynamic_tools
        self.version += 1
        self.tools = self._all_tools = self._static_tools | filter_tools(dynamic_tools, self.policy, warn=False)
        return True

    def list_tools(self) -> list[Tool]:
        """Return the offered tools as lists show them."""
        return [tool for tool in self.tools.values() if tool.name not in self.unlisted]

    def find_withheld_names(self) -> frozenset[str]:
        """Return the names of installed tools that callers do not see."""
        installed = self._services.get(InstalledToolNames, self._reserved_names) | self._reserved_names
        return installed - {tool.name for tool in self.list_tools()}

    async def find_tool(self, name: str) -> Tool:
        """Return the tool of that name, also one that was just added. Raises NotFound."""
        if name not in self.tools:
            await self.refresh_tools()
        return self.get_tool(name)

    def restrict_to(self, names: Iterable[str], stakes: Mapping[str, Stake] | None = None) -> "Toolbox":
        """Return a toolbox of these tools only, which does not change; `stakes` override the policy's.

        Names of tools that are not offered are left out.
        """
        allowed_names = set(names)
        restricted = self._filter_tools(lambda tool: tool.name in allowed_names, self.tools, changes=False)
        restricted.unlisted = frozenset()
        restricted.policy = self.policy.model_copy(update={"stakes": {**self.policy.stakes, **(stakes or {})}})
        return restricted

    def select_toolset(self, toolset: str) -> "Toolbox":
        """Return a toolbox of one toolset, by its name or an alias. Raises NotFound."""
        selected = self._find_toolset(toolset)
        own_tools = selected.tools
        restricted = self._filter_tools(
            lambda tool: tool.toolset == selected.name or own_tools.get(tool.name) is tool,
            self._static_tools,
            changes=selected.tool_source is not None,
        )
        restricted.toolsets = {selected.name: selected}
        restricted.unlisted = frozenset()  # a caller that names the toolset gets all of it
        restricted._dynamic_tools = ()  # noqa: SLF001 - an instance of this class
        return restricted

    def apply_grant(self, grant: Grant | None) -> "Toolbox":
        """Return a toolbox of the tools that a caller may use; all of them without a grant."""
        if grant is None:
            return self
        restricted = self._filter_tools(grant.can_use_tool, self._static_tools, changes=False)
        own = {tool.toolset for tool in restricted.tools.values()}
        restricted.toolsets = {
            toolset.name: toolset
            for toolset in restricted.list_toolsets()
            if toolset.name in own or grant.can_use_toolset(toolset.name)
        }
        return restricted

    def get_tool(self, name: str) -> Tool:
        """Return the tool of that name. Raises NotFound with the nearest names."""
        if name in self.tools:
            return self.tools[name]
        usual_names = {tool: names for each in self.toolsets.values() for tool, names in each.usual_names.items()}
        hint = suggest_tools(name[:100], [tool.name for tool in self.list_tools()], usual_names)
        raise NotFound(f"no tool {name[:100]!r}", hint=hint, code="unknown_tool")

    def list_toolsets(self) -> list[Toolset]:
        """Return the toolsets that offer at least one tool."""
        used = {tool.toolset for tool in self.tools.values()}
        return [
            toolset
            for toolset in self.toolsets.values()
            if toolset.name in used or toolset.tools.keys() & self.tools.keys()
        ]

    async def describe_context(self, toolset: str, call: Call) -> ToolsetContext:
        """Describe the current state of a toolset for the call's session. Raises NotFound."""
        described = self._find_toolset(toolset)
        count = OfferedToolCount(sum(name in self.tools for name in described.tools))
        text, state = "", {}
        if described.describe:
            text, state = await call_with_services(described.describe, self._services, call, count)
        return build_toolset_context(described.display_name or described.name, described.name, count, text, state)

    async def list_prompts(self, call: Call) -> list[Prompt]:
        """Return the prompts of the toolsets for this caller, without their contexts."""
        sources = [toolset.prompts for toolset in self.list_toolsets() if toolset.prompts]
        return [
            prompt
            for source in sources
            for prompt in await call_with_services(source.list_prompts, self._services, call)
        ]

    async def get_prompt_version(self) -> tuple[object, ...]:
        """Return a value that differs after every change of the prompts; empty if they never change."""
        sources = [toolset.prompts for toolset in self.list_toolsets() if toolset.prompts]
        return tuple([await call_with_services(source.get_version, self._services) for source in sources])

    async def call(self, name: str, arguments: object = None, call: Call | None = None) -> Result:
        """Call a tool with validation, consent, time limit and a call record.

        Args:
            name: The tool's bare name.
            arguments: A mapping, its JSON text, or None.
            call: The caller's context; the default is an anonymous local call.

        Returns:
            The tool's result.

        Raises:
            OutriderError: For everything that the caller can react to.
            AnswerNeeded: A person must be asked first.
        """
        call = call or Call()
        tool = self.tools.get(name) or await self.find_tool(name)
        with self._events.record_call(tool, call) as record:
            try:
                record.arguments = parse_arguments(arguments)
                read = await self._read_arguments(tool, record.arguments, call)
                record.arguments = read.arguments
                if self.quota_check is not None:
                    await self.quota_check(tool, call)
                require_consent(tool, self.policy.stakes, call, read.arguments)
                result = await self.forward_call(tool, read.arguments, call) if self.forward_call else None
                if result is None:
                    result = await self._run_with_timeout(tool, read.model, read.arguments, call)
            except OutriderError as error:
                await self._improve_hint(error, tool, call)
                raise
            if read.notes:
                result = replace(result, content=(*result.content, TextBlock(read.summary)))
            record.result = result
        return result

    async def run_forwarded_call(self, name: str, arguments: dict[str, Any], call: Call) -> Result:
        """Make a call for another process, which has checked consent and records it. Raises as `call`."""
        tool = await self.find_tool(name)
        return await self._run_with_timeout(tool, tool.validate_arguments(arguments), arguments, call)

    def _find_toolset(self, name: str) -> Toolset:
        for toolset in self.toolsets.values():
            if name in (toolset.name, *toolset.aliases):
                return toolset
        raise NotFound(f"no toolset {name!r}", hint=f"the toolsets are {', '.join(self.toolsets)}")

    def _filter_tools(
        self, predicate: Callable[[Tool], bool], static_tools: Mapping[str, Tool], *, changes: bool
    ) -> "Toolbox":
        """Return a copy with the tools that match; `static_tools` stay even if tools change at run time."""
        filtered = copy.copy(self)
        filtered.changes = changes
        filtered.tools = {name: tool for name, tool in self.tools.items() if predicate(tool)}
        filtered._all_tools = filtered.tools  # noqa: SLF001 - an instance of this class
        filtered._static_tools = {name: tool for name, tool in static_tools.items() if predicate(tool)}  # noqa: SLF001
        return filtered

    async def _read_arguments(self, tool: Tool, arguments: dict[str, Any], call: Call) -> ReadArguments:
        if call.grant is not None:
            call.grant.require_tool(tool)
        toolset = self.toolsets.get(tool.toolset)
        defaults: dict[str, str] = {}
        for name, find_value in (toolset.default_arguments if toolset else {}).items():
            if name in tool.parameters.model_fields and arguments.get(name) in LEFT_OUT_VALUES:
                defaults[name] = await call_with_services(find_value, self._services, call, tool)
        return tool.read_arguments(arguments, {name: value for name, value in defaults.items() if value})

    async def _improve_hint(self, error: OutriderError, tool: Tool, call: Call) -> None:
        """Complete the hint for a missing argument, without tools that the caller lacks."""
        toolset = self.toolsets.get(tool.toolset)
        for field in error.missing if isinstance(error, WrongArguments) else ():
            if toolset is not None and field in toolset.missing_hints:
                error.hint = await call_with_services(toolset.missing_hints[field], self._services, call)
        refused = {name for name, each in self.tools.items() if call.grant and not call.grant.can_use_tool(each)}
        error.hint = remove_tool_names(error.hint, self.find_withheld_names() | refused)

    async def _run_with_timeout(self, tool: Tool, validated: Any, arguments: dict[str, Any], call: Call) -> Result:
        # `limit_time` raises nothing, so a TimeoutError of the tool itself stays distinct.
        with limit_time(tool.timeout, call.heartbeat), self._events.inflight.track_call(tool, call, arguments):
            return await tool.run(self._services, call, validated)
        message = f"{tool.name} timed out after {tool.timeout:g} s"
        raise Unavailable(message, code="timeout", hint="ask for less at once")
