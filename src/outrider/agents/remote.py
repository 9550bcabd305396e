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

from outrider.core.arguments import as_object
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, OutriderError, Unavailable
from outrider.core.result import Result
from outrider.core.tool import NAME_LIMIT, Effect, Services, Stake, Tool, as_result

MARK = 6  # digits that tell apart names which would otherwise be the same
PROBLEMS = 5  # with arguments that are named at once
Send = Callable[[Call, dict[str, Any]], Awaitable[Result]]


class Servers(Protocol):
    """The MCP servers that the operator has configured."""

    @property
    def names(self) -> Collection[str]: ...

    async def tools(self, server: str) -> Sequence["RemoteTool"]:
        """What the server offers now; it is started or connected to if it is not yet.

        Raises NotFound for a name that nobody has configured, NotConfigured and Unavailable for a server that cannot
        be reached.
        """
        ...


class Given(RootModel[dict[str, Any]]):
    """Arguments as the server will get them."""


@dataclass(frozen=True)
class RemoteTool(Tool):
    """A tool of another server.

    Attributes:
        original: Its name there.
        takes: The JSON Schema of its arguments.
        idempotent: Calling it again changes nothing more.
        fn: Sends a call there; gets the `Call` and the arguments.
    """

    original: str = ""
    takes: Mapping[str, Any] = field(default_factory=dict)
    idempotent: bool = False

    @property
    def needs(self) -> tuple[type, ...]:
        return ()

    @property
    def parameters(self) -> type[BaseModel]:
        return Given

    @property
    def input_schema(self) -> dict[str, Any]:
        return dict(self.takes)

    @property
    def output_schema(self) -> dict[str, Any] | None:
        return None

    def validated(self, arguments: object) -> BaseModel:
        """The arguments, checked before anybody is asked about them. Raises InvalidInput."""
        given = as_object(arguments)
        problems = [f"{each.json_path.removeprefix('$.')}: {each.message[:300]}" for each in self._problems(given)]
        if problems:
            raise InvalidInput(
                f"{self.name}: {'; '.join(problems[:PROBLEMS])}",
                hint="call it again with arguments that fit its schema",
            )
        return Given(given)

    async def run(self, services: Services, call: Call, given: BaseModel) -> Result:  # noqa: ARG002
        """Sends the call."""
        assert isinstance(given, Given)
        return as_result(await self.fn(call, given.root))

    def _problems(self, given: dict[str, Any]) -> Iterable[Any]:
        """What does not fit the schema; a schema that is none, or refers to elsewhere, is the server's to apply."""
        try:
            return list(self._validator.iter_errors(given))
        except (SchemaError, Unresolvable, RecursionError, TypeError, ValueError, AttributeError):
            return ()

    @cached_property
    def _validator(self) -> Any:
        kind = validator_for(self.takes, default=Draft202012Validator)
        return kind(dict(self.takes), registry=Registry())  # one that fetches nothing


def effect_of(*, reads: bool | None, destroys: bool | None) -> tuple[Effect, Stake]:
    """What a tool does and whether it asks, by its server's hints; one without hints asks before each call."""
    if reads:
        return "read", "never_ask"
    return ("write", "low") if destroys is False else ("act", "high")


def names_of(server: str, originals: Collection[str], taken: Collection[str] = ()) -> dict[str, str]:
    """A tool name for each of a server's tools: `<server>_<tool>`, at most 64 characters, without `__`.

    Names that would be cut, or be the same, end in digits of what they were made of: they are the same in every process
    and whatever else the server offers.
    """
    plain = {each: _slug(f"{server}_{each}") for each in originals}
    count = Counter(plain.values())

    def is_free(name: str) -> bool:
        return len(name) <= NAME_LIMIT and count[name] == 1 and name not in taken and not name.startswith("run_")

    return {each: name if is_free(name) else _marked(name, server, each) for each, name in plain.items()}


def toolset_of(server: str) -> str:
    """The name under which records show the server's tools."""
    return f"mcp_{_slug(server)}"


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "tool"


def _marked(name: str, server: str, original: str) -> str:
    mark = blake2s(f"{server}\n{original}".encode()).hexdigest()[:MARK]
    return f"{name[: NAME_LIMIT - MARK - 1].rstrip('_')}_{mark}"


async def offered(servers: Servers, wanted: Sequence[str]) -> dict[str, Tool]:
    """The tools of these servers by name; `server/tool` means that one alone.

    Raises what `Servers.tools` does, and InvalidInput for a tool that the server does not have.
    """
    found: dict[str, Tool] = {}
    for each in wanted:
        server, _, only = each.partition("/")
        every = await servers.tools(server)
        tools = [tool for tool in every if only in ("", tool.original)]
        if only and not tools:
            known = ", ".join(tool.original for tool in every) or "none"
            raise InvalidInput(f"mcp: server {server!r} has no tool {only!r}", hint=f"its tools are {known}")
        found |= {tool.name: tool for tool in tools}
    return found


async def kept(servers: Servers, wanted: Sequence[str], names: Collection[str]) -> dict[str, Tool]:
    """What a run that has begun calls under the names that it began with, whatever its servers do meanwhile.

    A server that cannot be reached, or has given a tool up, is no end of the run: the tool says so when it is called.
    """
    found: dict[str, Tool] = {}
    for server in dict.fromkeys(each.partition("/")[0] for each in wanted):
        with suppress(OutriderError):
            found |= {tool.name: tool for tool in await servers.tools(server)}
        mine = [name for name in names if name.startswith(f"{_slug(server)}_"[: NAME_LIMIT - MARK - 1])]
        found |= {name: _later(servers, server, name) for name in mine if name not in found}
    return {name: tool for name, tool in found.items() if name in names}


def _later(servers: Servers, server: str, name: str) -> Tool:
    """Stands for a tool that is not there now, and looks for it again when it is called."""

    async def look(call: Call, arguments: dict[str, Any]) -> Result:
        tool = next((each for each in await servers.tools(server) if each.name == name), None)
        if tool is None:
            raise Unavailable(
                f"server {server!r} does not offer {name} any more",
                hint="go on without it, and say so",
                code="tool_gone",
            )
        return await tool.run({}, call, tool.validated(arguments))

    words = f"A tool of the server {server!r}, which does not answer now."
    return RemoteTool(
        name, name, words, "act", look, stake="high", toolset=toolset_of(server), takes={"type": "object"}
    )
