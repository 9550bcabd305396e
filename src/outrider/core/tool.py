"""What a tool is: an async function that a model can call.

The slash divides a tool's parameters. Before it stands what the house gives (services, found by
their type, and the `Call`); after it stands what the model gives, and that becomes the schema.
"""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, ParamSpec, Self, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from outrider.core import schema
from outrider.core.arguments import validate_arguments
from outrider.core.context import Call
from outrider.core.prompts import ContextFunction, PromptSource
from outrider.core.result import Result, TextBlock

Effect = Literal["read", "write", "act"]
Stake = Literal["never_ask", "low", "high"]
Services = Mapping[type, Any]
ToolSourceFunction = Callable[[Services, Collection[str]], Awaitable[tuple["Tool", ...]]]
P = ParamSpec("P")
R = TypeVar("R")
MAX_TOOL_NAME_CHARS = 64  # what MCP clients commonly accept, the prefix `builtin_<toolset>__` included
DEFAULT_STAKES: dict[Effect, Stake] = {"read": "never_ask", "write": "low", "act": "high"}


@dataclass(frozen=True)
class Tool:
    """A tool as its callers see it.

    Attributes:
        name: Unique over all toolsets, `[A-Za-z0-9_]`, without a double underscore.
        effect: `read` changes nothing, `write` keeps something, `act` does something in the world.
        stake: Whether a person is asked first; follows from the effect unless given.
        timeout: Seconds after which a call is given up.
        open_world: It reaches beyond this machine.
        always_load: Hosts that defer tools are asked to show this one from the start.
        untrusted: Its results hold text that other people wrote.
        private: Parameters whose values no record keeps: they may be passwords.
        viewers: Who may only read may use it, too: it refuses them by itself where it would keep something
            (`Grant.check_keeping`).
    """

    name: str
    title: str
    description: str
    effect: Effect
    fn: Callable[..., Awaitable[Any]]
    stake: Stake = "never_ask"
    timeout: float = 180.0
    open_world: bool = False
    always_load: bool = False
    untrusted: bool = False
    private: frozenset[str] = frozenset()
    viewers: bool = False
    toolset: str = ""

    @cached_property
    def _signature(self) -> tuple[list[inspect.Parameter], dict[str, Any]]:
        return list(inspect.signature(self.fn).parameters.values()), get_type_hints(self.fn, include_extras=True)

    @cached_property
    def required_services(self) -> tuple[type, ...]:
        """The services that stand before the slash, by type."""
        parameters, hints = self._signature
        return tuple(hints[each.name] for each in parameters if each.kind is each.POSITIONAL_ONLY)

    @cached_property
    def parameters(self) -> type[BaseModel]:
        """What the model gives, as a pydantic model that forbids unknown names."""
        parameters, hints = self._signature
        asked = [each for each in parameters if each.kind is not each.POSITIONAL_ONLY]
        fields: dict[str, Any] = {
            each.name: (hints[each.name], ... if each.default is each.empty else each.default) for each in asked
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @cached_property
    def _schemas(self) -> dict[str, Any]:
        function = f"{getattr(self.fn, '__module__', '')}:{getattr(self.fn, '__qualname__', '')}"
        return schema.find_schemas(function) or self.build_schemas()

    @property
    def input_schema(self) -> dict[str, Any]:
        return self._schemas["input"]

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the structured result; None for tools that are to be read."""
        return self._schemas["output"]

    def build_schemas(self) -> dict[str, Any]:
        """Both schemas from the function's own signature, as `docs/generate.py` ships them."""
        returned = self._signature[1].get("return")
        is_data = inspect.isclass(returned) and issubclass(returned, BaseModel)
        return {
            "input": schema.build_input_schema(TypeAdapter(self.parameters)),
            "output": schema.build_output_schema(TypeAdapter(returned)) if is_data else None,
        }

    async def __call__(self, services: Services, call: Call, arguments: object) -> Result:
        """Validates, runs and shapes. Raises the errors of `outrider.core.errors`."""
        return await self.run(services, call, self.validate_arguments(arguments))

    def validate_arguments(self, arguments: object) -> BaseModel:
        """The arguments as `parameters`. Raises InvalidInput."""
        return validate_arguments(self.parameters, self.name, arguments)

    async def run(self, services: Services, call: Call, given: BaseModel) -> Result:
        """Runs the tool on validated arguments."""
        before = [call if need is Call else _service(services[need], call) for need in self.required_services]
        after = {name: getattr(given, name) for name in type(given).model_fields}
        return to_result(await self.fn(*before, **after))


class PerCallService:
    """A service that is another for each caller."""

    def bind_to_call(self, call: Call) -> Self:
        """The service as this call may use it."""
        raise NotImplementedError


def _service(service: Any, call: Call) -> Any:
    return service.bind_to_call(call) if isinstance(service, PerCallService) else service


def to_result(value: Any) -> Result:
    """A tool's return value as a result: text is to be read, a pydantic model is data (the fields that it set)."""
    if isinstance(value, Result):
        return value
    if isinstance(value, str):
        return Result((TextBlock(value),))
    if isinstance(value, BaseModel):
        return Result((TextBlock(str(value)),), data=value.model_dump(mode="json", exclude_unset=True))
    return Result((TextBlock(str(value)),))


class InstalledToolNames(frozenset[str]):
    """The names of all tools that are installed, offered or not; a service."""


@dataclass
class Toolset:
    """Tools that are served together as one MCP server.

    Attributes:
        name: How it is chosen and addressed (`--toolsets web`, `/mcp/web`).
        instructions: What a model should know before it uses any of the tools.
        default: Served when nobody chooses.
        aliases: Further names it answers to, for hosts that know it by another.
        display_name: What people see where it differs from the name.
        tool_source: Gives the tools that come and go beside `tools` (see `register_tool_source`); None where all are fixed.
        default_check: Whether the set is served when nobody chooses, where that depends on what is configured.
        describe: Tells how things stand, for a system prompt (see `register_context`); None where there is nothing to tell.
        prompts: Gives the prompts that users can pick; None where there are none.
    """

    name: str
    instructions: str
    default: bool = False
    aliases: tuple[str, ...] = ()
    display_name: str = ""
    tools: dict[str, Tool] = field(default_factory=dict)
    tool_source: "ToolSourceFunction | None" = None
    default_check: "Callable[[Services], bool] | None" = None
    describe: ContextFunction | None = None
    prompts: PromptSource | None = None

    def register_tool_source(self, fn: "ToolSourceFunction") -> "ToolSourceFunction":
        """Makes `fn` the source of the tools that come and go.

        It is awaited before tools are listed and every few seconds, so it must be cheap while nothing has changed. It
        gets the services and the names that are taken, and returns tools of this set with names of their own.
        """
        self.tool_source = fn
        return fn

    def register_default_check(self, fn: "Callable[[Services], bool]") -> "Callable[[Services], bool]":
        """Makes `fn` decide whether the set is served when nobody chooses."""
        self.default_check = fn
        return fn

    def register_context(self, fn: ContextFunction) -> ContextFunction:
        """Makes `fn` tell how things stand: a text of at most 4,000 characters, and the same as JSON-able data.

        Its parameters are services by their type, `Call` (whose session it is) and `Offered` (how many tools there
        are). An empty text stands for the form that all toolsets share.
        """
        self.describe = fn
        return fn

    def share_tool(self, other: "Toolset", name: str) -> None:
        """Lists another set's tool here too; it stays one tool, with that set's name in its prefix."""
        self.tools[name] = other.tools[name]

    def tool(
        self,
        *,
        effect: Effect = "read",
        title: str = "",
        **traits: Any,
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
        """Makes an async function a tool of this set; `traits` are further fields of `Tool`.

        The function's name and docstring are the tool's. Raises ValueError for a name that hosts
        could not take, or that the set already has.
        """

        def register_tool(fn: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
            name = getattr(fn, "__name__", "")
            check_tool_name(name, MAX_TOOL_NAME_CHARS - len(f"builtin_{self.name}__"))
            if name in self.tools:
                raise ValueError(f"tool {name!r} is in toolset {self.name!r} twice")
            text = inspect.getdoc(fn) or ""
            made = Tool(name, title or name, text, effect, fn, stake=DEFAULT_STAKES[effect], toolset=self.name)
            self.tools[name] = replace(made, **traits)
            return fn

        return register_tool


def check_tool_name(name: str, limit: int = MAX_TOOL_NAME_CHARS) -> None:
    """Raises ValueError unless every host can take the name, and take it apart again."""
    plain = name.replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or "__" in name or len(name) > limit:
        raise ValueError(f"bad tool name {name!r}: letters, digits and single underscores, at most {limit} in all")
