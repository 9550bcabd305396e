"""Tools of other MCP servers, as agents get them: under names of their own, with stakes, called like all others."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2s
from typing import Any, Protocol

from jsonschema import SchemaError
from jsonschema.validators import Draft202012Validator, validator_for
from pydantic import BaseModel, RootModel
from referencing import Registry
from referencing.exceptions import Unresolvable

from outrider.core.arguments import parse_arguments
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.core.tool import MAX_TOOL_NAME_CHARS, Effect, Services, Stake, Tool, to_result

NAME_DIGEST_CHARS = 6  # digits that tell apart names which would otherwise be the same
SendRemoteCall = Callable[[Call, dict[str, Any]], Awaitable[Result]]


class RemoteToolSource(Protocol):
    """The MCP servers that the operator has configured."""

    @property
    def names(self) -> Collection[str]: ...

    async def list_tools(self, server: str) -> Sequence["RemoteTool"]:
        """What the server offers now; it is started or connected to if it is not yet.

        Raises NotFound for a name that nobody has configured, NotConfigured and Unavailable for a server that cannot
        be reached.
        """
        ...


class RemoteArguments(RootModel[dict[str, Any]]):
    """Arguments as the server will get them."""


@dataclass(frozen=True)
class RemoteTool(Tool):
    """A tool of another server.

    Attributes:
        remote_name: Its name there.
        arguments_schema: The JSON Schema of its arguments.
        idempotent: Calling it again changes nothing more.
        fn: Sends a call there; gets the `Call` and the arguments.
    """

    remote_name: str = ""
    arguments_schema: Mapping[str, Any] = field(default_factory=dict)
    idempotent: bool = False

    @property
    def required_services(self) -> tuple[type, ...]:
        return ()

    @property
    def parameters(self) -> type[BaseModel]:
        return RemoteArguments

    @property
    def input_schema(self) -> dict[str, Any]:
        return dict(self.arguments_schema)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        return None

    def validate_arguments(self, arguments: object) -> BaseModel:
        """The arguments, checked before anybody is asked about them. Raises InvalidInput."""
        max_problems = 5  # with arguments that are named at once
        given = parse_arguments(arguments)
        problems = [f"{each.json_path.removeprefix('$.')}: {each.message[:300]}" for each in self._list_problems(given)]
        if problems:
            raise InvalidInput(
                f"{self.name}: {'; '.join(problems[:max_problems])}",
                hint="call it again with arguments that fit its schema",
            )
        return RemoteArguments(given)

    async def run(self, services: Services, call: Call, given: BaseModel) -> Result:  # noqa: ARG002
        """Sends the call."""
        assert isinstance(given, RemoteArguments)
        return to_result(await self.fn(call, given.root))

    def _list_problems(self, given: dict[str, Any]) -> Iterable[Any]:
        """What does not fit the schema; a schema that is none, or refers to elsewhere, is the server's to apply."""
        try:
            return list(self._validator.iter_errors(given))
        except (SchemaError, Unresolvable, RecursionError, TypeError, ValueError, AttributeError):
            return ()

    @cached_property
    def _validator(self) -> Any:
        kind = validator_for(self.arguments_schema, default=Draft202012Validator)
        return kind(dict(self.arguments_schema), registry=Registry())  # one that fetches nothing


def classify_effect(*, reads: bool | None, destroys: bool | None) -> tuple[Effect, Stake]:
    """What a tool does and whether it asks, by its server's hints; one without hints asks before each call."""
    if reads:
        return "read", "never_ask"
    return ("write", "low") if destroys is False else ("act", "high")


def assign_tool_names(server: str, originals: Collection[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A tool name for each of a server's tools: `<server>_<tool>`, at most 64 characters, without `__`.

    Names that would be cut, or be the same, end in digits of what they were made of: they are the same in every process
    and whatever else the server offers.
    """
    plain = {each: _slugify_name(f"{server}_{each}") for each in originals}
    count = Counter(plain.values())

    def is_free(name: str) -> bool:
        return (
            len(name) <= MAX_TOOL_NAME_CHARS and count[name] == 1 and name not in taken and not name.startswith("run_")
        )

    return {each: name if is_free(name) else _append_digest(name, server, each) for each, name in plain.items()}


def build_toolset_name(server: str) -> str:
    """The name under which records show the server's tools."""
    return f"mcp_{_slugify_name(server)}"


def _slugify_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "tool"


def _append_digest(name: str, server: str, original: str) -> str:
    mark = blake2s(f"{server}\n{original}".encode()).hexdigest()[:NAME_DIGEST_CHARS]
    return f"{name[: MAX_TOOL_NAME_CHARS - NAME_DIGEST_CHARS - 1].rstrip('_')}_{mark}"


async def list_remote_tools(servers: RemoteToolSource, wanted: Sequence[str]) -> dict[str, Tool]:
    """The tools of these servers by name; `server/tool` means that one alone.

    Raises what `Servers.tools` does, and InvalidInput for a tool that the server does not have.
    """
    found: dict[str, Tool] = {}
    for each in wanted:
        server, _, only = each.partition("/")
        every = await servers.list_tools(server)
        tools = [tool for tool in every if only in ("", tool.remote_name)]
        if only and not tools:
            known = ", ".join(tool.remote_name for tool in every) or "none"
            raise InvalidInput(f"mcp: server {server!r} has no tool {only!r}", hint=f"its tools are {known}")
        found |= {tool.name: tool for tool in tools}
    return found


async def restore_remote_tools(
    servers: RemoteToolSource, wanted: Sequence[str], names: Collection[str]
) -> dict[str, Tool]:
    """What a run that has begun calls under the names that it began with, whatever its servers do meanwhile.

    A server that cannot be reached, or has given a tool up, is no end of the run: the tool says so when it is called.
    """
    found: dict[str, Tool] = {}
    for server in dict.fromkeys(each.partition("/")[0] for each in wanted):
        with suppress(OutriderError):
            found |= {tool.name: tool for tool in await servers.list_tools(server)}
        mine = [
            name
            for name in names
            if name.startswith(f"{_slugify_name(server)}_"[: MAX_TOOL_NAME_CHARS - NAME_DIGEST_CHARS - 1])
        ]
        found |= {name: _build_lazy_tool(servers, server, name) for name in mine if name not in found}
    return {name: tool for name, tool in found.items() if name in names}


def _build_lazy_tool(servers: RemoteToolSource, server: str, name: str) -> Tool:
    """Stands for a tool that is not there now, and looks for it again when it is called."""

    async def call_when_available(call: Call, arguments: dict[str, Any]) -> Result:
        tool = next((each for each in await servers.list_tools(server) if each.name == name), None)
        if tool is None:
            raise Unavailable(
                f"server {server!r} does not offer {name} any more",
                hint="go on without it, and say so",
                code="tool_gone",
            )
        return await tool.run({}, call, tool.validate_arguments(arguments))

    words = f"A tool of the server {server!r}, which does not answer now."
    return RemoteTool(
        name,
        name,
        words,
        "act",
        call_when_available,
        stake="high",
        toolset=build_toolset_name(server),
        arguments_schema={"type": "object"},
    )
