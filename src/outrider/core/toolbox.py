"""The one way to call a tool, whoever calls: a host over MCP, the command line, or a sub-agent."""

import copy
import time
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import anyio

from outrider.core.arguments import as_object
from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, NotFound, OutriderError, Unavailable
from outrider.core.events import Event, Events
from outrider.core.policy import ToolPolicy, consent, offered
from outrider.core.result import Result
from outrider.core.tool import Services, Tool, Toolset


class Toolbox:
    """The offered tools of some toolsets, with the services that they need."""

    def __init__(
        self,
        toolsets: Iterable[Toolset],
        services: Services,
        events: Events,
        policy: ToolPolicy | None = None,
    ) -> None:
        self.toolsets = {toolset.name: toolset for toolset in toolsets}
        self.policy = policy or ToolPolicy()
        every = [tool for toolset in self.toolsets.values() for tool in toolset.tools.values()]
        _refuse_duplicates(every)
        self.tools: dict[str, Tool] = offered(every, self.policy)
        self._services = services
        self._events = events

    def only(self, toolset: str) -> "Toolbox":
        """The same house seen through one toolset. Raises NotFound."""
        for each in self.toolsets.values():
            if toolset in (each.name, *each.aliases):
                seen = copy.copy(self)
                seen.toolsets = {each.name: each}
                seen.tools = {name: tool for name, tool in self.tools.items() if name in each.tools}
                return seen
        raise NotFound(f"no toolset {toolset!r}", hint=f"the toolsets are {', '.join(self.toolsets)}")

    def get(self, name: str) -> Tool:
        """The tool of that name, or NotFound with the nearest names."""
        if name in self.tools:
            return self.tools[name]
        close = get_close_matches(name, self.tools, n=3)
        hint = f"did you mean {' or '.join(close)}?" if close else f"the tools are {', '.join(self.tools)}"
        raise NotFound(f"no tool {name!r}", hint=hint, code="unknown_tool")

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
        tool = self.get(name)
        given: dict[str, Any] = {}
        started = time.monotonic()
        outcome, size, message = "ok", 0, ""
        try:
            given = as_object(arguments)
            result = await self._run(tool, given, call)
            size = len(result.text)
            outcome = "error" if result.is_error else "ok"
        except BaseException as error:
            outcome, message = _outcome(error), str(error)
            raise
        else:
            return result
        finally:
            self._events.record(
                Event.of(tool, call, given, outcome, message, seconds=time.monotonic() - started, size=size)
            )

    async def _run(self, tool: Tool, arguments: dict[str, Any], call: Call) -> Result:
        given = tool.validated(arguments)
        consent(tool, self.policy.stakes, call, arguments)
        with anyio.move_on_after(tool.timeout):  # not fail_after: a tool's own TimeoutError is another matter
            return await tool.run(self._services, call, given)
        raise Unavailable(
            f"{tool.name} did not finish within {tool.timeout:g} seconds", code="timeout", hint="ask for less"
        )


def _outcome(error: BaseException) -> str:
    if isinstance(error, OutriderError):
        return error.code
    if isinstance(error, AnswerNeeded):
        return "asks"
    return "bug" if isinstance(error, Exception) else "cancelled"


def _refuse_duplicates(tools: Iterable[Tool]) -> None:
    owners: dict[str, str] = {}
    for tool in tools:
        if tool.name in owners:
            raise ValueError(f"tool {tool.name!r} is in toolsets {owners[tool.name]!r} and {tool.toolset!r}")
        owners[tool.name] = tool.toolset
