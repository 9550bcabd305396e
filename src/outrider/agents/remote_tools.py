"""Offer the tools of other MCP servers to agents."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
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

from outrider.core.arguments import ReadArguments, parse_arguments
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.core.tool import MAX_TOOL_NAME_CHARS, Effect, Services, Stake, Tool, to_result

# Hosts that ask for long names get these tools as `builtin_mcp_servers__<name>`.
MAX_REMOTE_NAME_CHARS = MAX_TOOL_NAME_CHARS - len("builtin_mcp_servers__")
NAME_DIGEST_CHARS = 6  # hex digits at the end of names that were cut or would collide
SendRemoteCall = Callable[[Call, dict[str, Any]], Awaitable[Result]]


class RemoteToolSource(Protocol):
    """The MCP servers that the operator has configured."""

    @property
    def names(self) -> Collection[str]: ...

    async def list_tools(self, server: str) -> Sequence["RemoteTool"]:
        """Return the tools that the server offers now; start it or connect to it if necessary.

        Raises NotFound for a name that is not configured, and NotConfigured or Unavailable for a server that cannot be
        reached.
        """
        ...


class RemoteArguments(RootModel[dict[str, Any]]):
    """Arguments as they are sent to the server."""


@dataclass(frozen=True)
class RemoteTool(Tool):
    """A tool of another server.

    Attributes:
        remote_name: Its name on that server.
        arguments_schema: The JSON Schema of its arguments.
        idempotent: Whether repeating a call has no further effect.
        fn: Sends the call to the server; takes the `Call` and the arguments.
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
        """Check the arguments against the schema before people are asked about the call. Raises InvalidInput."""
        max_problems = 5
        parsed = parse_arguments(arguments)
        try:
            errors = list(self._validator.iter_errors(parsed))
        except (SchemaError, Unresolvable, RecursionError, TypeError, ValueError, AttributeError):
            errors = []  # the schema is invalid or has external references: leave the check to the server
        if errors:
            problems = [f"{error.json_path.removeprefix('$.')}: {error.message[:300]}" for error in errors]
            raise InvalidInput(
                f"{self.name}: {'; '.join(problems[:max_problems])}",
                hint="call it again with arguments that fit its schema",
            )
        return RemoteArguments(parsed)

    def read_arguments(self, arguments: object, defaults: Mapping[str, str] | None = None) -> ReadArguments:  # noqa: ARG002
        """Check the arguments; they are sent to the server unchanged."""
        return ReadArguments(self.validate_arguments(arguments), parse_arguments(arguments))

    async def run(self, services: Services, call: Call, arguments: BaseModel) -> Result:  # noqa: ARG002
        """Send the call to the server."""
        assert isinstance(arguments, RemoteArguments)
        return to_result(await self.fn(call, arguments.root))

    @cached_property
    def _validator(self) -> Any:
        validator_type = validator_for(self.arguments_schema, default=Draft202012Validator)
        # An empty registry does not fetch external references.
        return validator_type(dict(self.arguments_schema), registry=Registry())


def classify_effect(*, reads: bool | None, destroys: bool | None) -> tuple[Effect, Stake]:
    """Return effect and stake of a tool from its server's hints; a tool without hints asks before each call."""
    if reads:
        return "read", "never_ask"
    return ("write", "low") if destroys is False else ("act", "high")


def assign_tool_names(server: str, originals: Collection[str], taken_names: Collection[str] = ()) -> dict[str, str]:
    """Assign a name to each tool of a server: `<server>_<tool>`, at most 43 characters, without `__`.

    Names that are too long, reserved or not unique end in a digest of server and tool, so that they are the same in
    every process, regardless of the server's other tools.
    """
    min_server_chars = 8
    max_chars = MAX_REMOTE_NAME_CHARS - NAME_DIGEST_CHARS - 1
    slugs = {original: _slugify_name(f"{server}_{original}") for original in originals}
    counts = Counter(slugs.values())
    names: dict[str, str] = {}
    for original, slug in slugs.items():
        is_unique = counts[slug] == 1 and slug not in taken_names and not slug.startswith("run_")
        if is_unique and len(slug) <= MAX_REMOTE_NAME_CHARS:
            names[original] = slug
        else:
            digest = blake2s(f"{server}\n{original}".encode()).hexdigest()[:NAME_DIGEST_CHARS]
            tool_slug = _slugify_name(original)
            # The server is cut first, because the name of the tool says more.
            prefix = _slugify_name(server)[: max(max_chars - len(tool_slug) - 1, min_server_chars)].rstrip("_")
            names[original] = f"{f'{prefix}_{tool_slug}'[:max_chars].rstrip('_')}_{digest}"
    return names


def build_toolset_name(server: str) -> str:
    """Return the toolset name of a server's tools in records."""
    return f"mcp_{_slugify_name(server)}"


def _slugify_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "tool"


async def list_remote_tools(servers: RemoteToolSource, references: Sequence[str]) -> dict[str, Tool]:
    """Return the tools of these servers by name; the reference `server/tool` selects a single tool.

    Raises the errors of `RemoteToolSource.list_tools`, and InvalidInput for a tool that the server does not have.
    """
    selected: dict[str, Tool] = {}
    for reference in references:
        server, _, remote_name = reference.partition("/")
        offered = await servers.list_tools(server)
        tools = [tool for tool in offered if remote_name in ("", tool.remote_name)]
        if remote_name and not tools:
            known = ", ".join(tool.remote_name for tool in offered) or "none"
            raise InvalidInput(f"mcp: server {server!r} has no tool {remote_name!r}", hint=f"its tools are {known}")
        selected |= {tool.name: tool for tool in tools}
    return selected


async def restore_remote_tools(
    servers: RemoteToolSource, references: Sequence[str], names: Collection[str]
) -> dict[str, Tool]:
    """Return the tools of a started run under the names that it started with.

    A server that cannot be reached, or no longer offers a tool, does not end the run: the tool fails when it is called.
    """
    tools: dict[str, Tool] = {}
    for server in dict.fromkeys(reference.partition("/")[0] for reference in references):
        with suppress(OutriderError):
            tools |= {tool.name: tool for tool in await servers.list_tools(server)}
        # `assign_tool_names` may have cut the prefix.
        prefix = f"{_slugify_name(server)}_"[: MAX_TOOL_NAME_CHARS - NAME_DIGEST_CHARS - 1]
        missing = [name for name in names if name.startswith(prefix) and name not in tools]
        tools |= {name: _build_lazy_tool(servers, server, name) for name in missing}
    return {name: tool for name, tool in tools.items() if name in names}


def _build_lazy_tool(servers: RemoteToolSource, server: str, name: str) -> Tool:
    """Return a placeholder for a missing tool; it looks for the tool again when it is called."""

    async def call_when_available(call: Call, arguments: dict[str, Any]) -> Result:
        tool = next((tool for tool in await servers.list_tools(server) if tool.name == name), None)
        if tool is None:
            raise Unavailable(
                f"server {server!r} no longer offers {name}",
                hint="continue without it, and mention that in your answer",
                code="tool_gone",
            )
        return await tool.run({}, call, tool.validate_arguments(arguments))

    return RemoteTool(
        name,
        name,
        f"A tool of the server {server!r}, which does not answer at the moment.",
        "act",
        call_when_available,
        stake="high",
        toolset=build_toolset_name(server),
        arguments_schema={"type": "object"},
    )
