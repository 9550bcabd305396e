"""Tools: async functions that a model can call, grouped into toolsets.

The slash divides a tool function's parameters. Those before it are injected by type (services and
the `Call`); those after it come from the model and make up the input schema.
"""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, ParamSpec, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from outrider.core import schema
from outrider.core.arguments import ReadArguments, read_arguments
from outrider.core.context import Call
from outrider.core.prompts import ContextFunction, PromptSource
from outrider.core.result import Result, TextBlock
from outrider.core.server_record import ServerRecord

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
    """A tool as callers see it.

    Attributes:
        name: Unique over all toolsets, `[A-Za-z0-9_]`, without a double underscore.
        effect: `read` changes nothing, `write` stores something, `act` does something in the world.
        stake: Whether a person is asked first; follows from the effect unless given.
        timeout: Seconds after which a call is cancelled.
        open_world: Whether it reaches beyond this machine.
        always_load: Whether hosts that defer tools should show this one from the start.
        max_result_chars: The maximum length of a result that hosts show in full instead of saving it; 0 leaves that to
            them.
        untrusted: Whether its results hold text from untrusted sources.
        private: Parameters whose values are not recorded, because they may be passwords.
        may_store: Whether it may store something although its effect is `read`: storage quotas count it, and it refuses
            viewers itself in that case (`Grant.require_write_role`).
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
    max_result_chars: int = 0
    untrusted: bool = False
    private: frozenset[str] = frozenset()
    may_store: bool = False
    toolset: str = ""

    @cached_property
    def _signature(self) -> tuple[list[inspect.Parameter], dict[str, Any]]:
        return list(inspect.signature(self.fn).parameters.values()), get_type_hints(self.fn, include_extras=True)

    @cached_property
    def required_services(self) -> tuple[type, ...]:
        """The types of the injected parameters, before the slash."""
        parameters, hints = self._signature
        return tuple(hints[parameter.name] for parameter in parameters if parameter.kind is parameter.POSITIONAL_ONLY)

    @cached_property
    def parameters(self) -> type[BaseModel]:
        """The model's parameters as a pydantic model that forbids unknown names."""
        parameters, hints = self._signature
        fields: dict[str, Any] = {}
        for parameter in parameters:
            if parameter.kind is not parameter.POSITIONAL_ONLY:
                default = ... if parameter.default is parameter.empty else parameter.default
                fields[parameter.name] = (hints[parameter.name], default)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", allow_inf_nan=False), **fields)

    @cached_property
    def _schemas(self) -> dict[str, Any]:
        function = f"{getattr(self.fn, '__module__', '')}:{getattr(self.fn, '__qualname__', '')}"
        return schema.find_schemas(function) or self.build_schemas()

    @property
    def input_schema(self) -> dict[str, Any]:
        return self._schemas["input"]

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The schema of the structured result; None for tools that return text."""
        return self._schemas["output"]

    def build_schemas(self) -> dict[str, Any]:
        """Build both schemas from the function's signature, as `docs/generate.py` ships them."""
        returned = self._signature[1].get("return")
        is_data = inspect.isclass(returned) and issubclass(returned, BaseModel)
        return {
            "input": schema.build_input_schema(TypeAdapter(self.parameters)),
            "output": schema.build_output_schema(TypeAdapter(returned)) if is_data else None,
        }

    async def __call__(self, services: Services, call: Call, arguments: object) -> Result:
        """Validate the arguments, run the tool, and return its result. Raises errors of `core/errors.py`."""
        return await self.run(services, call, self.validate_arguments(arguments))

    def validate_arguments(self, arguments: object) -> BaseModel:
        """Return the arguments as an instance of `parameters`. Raises InvalidInput."""
        return self.read_arguments(arguments).model

    def read_arguments(self, arguments: object, defaults: Mapping[str, str] | None = None) -> ReadArguments:
        """Return the arguments as intended, with notes on unusual spellings.

        `defaults` replace omitted parameters. Raises InvalidInput.
        """
        return read_arguments(self.parameters, self.name, arguments, defaults)

    def is_private(self, name: str) -> bool:
        """Return whether an argument may be a password: in any spelling of a private parameter, or inside a wrapper."""
        return bool(self.private) and (name in self.private or name not in self.parameters.model_fields)

    async def run(self, services: Services, call: Call, arguments: BaseModel) -> Result:
        """Run the tool with validated arguments."""
        injected: list[Any] = [call if required is Call else services[required] for required in self.required_services]
        from_model = {name: getattr(arguments, name) for name in type(arguments).model_fields}
        return to_result(await self.fn(*injected, **from_model))


def to_result(value: Any) -> Result:
    """Convert a tool's return value: text becomes content, a pydantic model data (the fields that it set)."""
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
        name: How it is selected and addressed (`--toolsets web`, `/mcp/web`).
        instructions: What a model should know before it uses any of the tools.
        default: Whether it is served when none is selected.
        aliases: Other names that hosts use for it.
        display_name: The name for people, if it differs.
        tool_source: Returns the tools that are added and removed at run time (see `register_tool_source`).
        default_check: Returns whether it is served when none is selected, if that depends on the configuration.
        describe: Returns its current state for a system prompt (see `register_context`).
        prompts: The prompts that users can pick.
        usual_names: By tool, the names under which models look for it, separated by spaces.
        default_arguments: By parameter, the function that finds its value when it is left out. It takes services,
            `Call` and `Tool` by type, and returns an empty text if there is none.
        missing_hints: By parameter, the function that returns the hint when it is missing (see
            `register_missing_hint`).
        on_request: Whether it must be named to be served, so that `all` leaves it out.
        record: Its entry in a host's registry of servers.
    """

    name: str
    instructions: str
    default: bool = False
    aliases: tuple[str, ...] = ()
    display_name: str = ""
    tools: dict[str, Tool] = field(default_factory=dict)
    tool_source: ToolSourceFunction | None = None
    default_check: Callable[[Services], bool] | None = None
    describe: ContextFunction | None = None
    prompts: PromptSource | None = None
    usual_names: Mapping[str, str] = field(default_factory=dict)
    default_arguments: Mapping[str, Callable[..., Awaitable[str]]] = field(default_factory=dict)
    missing_hints: dict[str, Callable[..., Awaitable[str]]] = field(default_factory=dict)
    on_request: bool = False
    record: ServerRecord = field(default_factory=ServerRecord)

    def register_tool_source(self, fn: ToolSourceFunction) -> ToolSourceFunction:
        """Register the function that returns tools that are added and removed at run time.

        It is awaited before tools are listed and every few seconds, so it must be cheap while nothing has changed. It
        gets the services and the names that are taken, and returns tools of this set with other names.
        """
        self.tool_source = fn
        return fn

    def register_default_check(self, fn: Callable[[Services], bool]) -> Callable[[Services], bool]:
        """Register the function that decides whether the set is served when none is selected."""
        self.default_check = fn
        return fn

    def register_context(self, fn: ContextFunction) -> ContextFunction:
        """Register the function that describes the current state.

        It returns a text of at most 4,000 characters, and the same as JSON-able data. Its parameters are services by
        type, `Call` and `OfferedToolCount`. An empty text means the standard status.
        """
        self.describe = fn
        return fn

    def register_missing_hint(
        self, parameter: str
    ) -> Callable[[Callable[..., Awaitable[str]]], Callable[..., Awaitable[str]]]:
        """Register the function that returns the hint for calls without this parameter; it takes services by type."""

        def register_hint(fn: Callable[..., Awaitable[str]]) -> Callable[..., Awaitable[str]]:
            self.missing_hints[parameter] = fn
            return fn

        return register_hint

    def share_tool(self, other: "Toolset", name: str) -> None:
        """List another set's tool here too; it stays one tool, with that set's name in its prefix."""
        self.tools[name] = other.tools[name]

    def tool(
        self,
        *,
        effect: Effect = "read",
        title: str = "",
        **traits: Any,
    ) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
        """Register an async function as a tool of this set; `traits` are further fields of `Tool`.

        The function's name and docstring are the tool's. Raises ValueError for a name that hosts
        do not accept, or that the set already has.
        """

        def register_tool(fn: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
            name = getattr(fn, "__name__", "")
            check_tool_name(name, MAX_TOOL_NAME_CHARS - len(f"builtin_{self.name}__"))
            if name in self.tools:
                raise ValueError(f"tool {name!r} is in toolset {self.name!r} twice")
            text = inspect.getdoc(fn) or ""
            tool = Tool(name, title or name, text, effect, fn, stake=DEFAULT_STAKES[effect], toolset=self.name)
            self.tools[name] = replace(tool, **traits)
            return fn

        return register_tool


def check_tool_name(name: str, limit: int = MAX_TOOL_NAME_CHARS) -> None:
    """Raise ValueError unless every host accepts the name, and can split it from its prefix."""
    plain = name.replace("_", "")
    if not (plain.isascii() and plain.isalnum()) or "__" in name or len(name) > limit:
        raise ValueError(f"bad tool name {name!r}: letters, digits and single underscores, at most {limit} in all")
