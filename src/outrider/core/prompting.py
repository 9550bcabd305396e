"""What a toolset tells beside its tools: how things stand, for a system prompt, and prompts that a user can pick."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from outrider.core.text import cut

CONTEXT_CHARS = 4_000
CUT = "\n[…]"


class Offered(int):
    """How many tools of the set are offered; given to functions that ask for it by this type."""


@dataclass(frozen=True)
class ServiceContext:
    """How things stand in a toolset: at most 4,000 characters for a prompt, and the same as data."""

    prompt: str
    state: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The names under which hosts know it."""
        return {"contextPrompt": self.prompt, "structuredState": self.state}


@dataclass(frozen=True)
class PromptArgument:
    """What a user fills in."""

    name: str
    description: str = ""
    required: bool = True


@dataclass(frozen=True)
class Prompt:
    """A text that a user can pick. `render` gets the arguments by name."""

    name: str
    title: str
    description: str
    render: Callable[[Mapping[str, str]], str]
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True)
class PromptSource:
    """Prompts that come and go.

    Attributes:
        list: Those of a caller; gets services by type, and the call.
        stamp: Something that is another whenever some have come, changed or gone; gets services by type.
    """

    list: Callable[..., Awaitable[Sequence[Prompt]]]
    stamp: Callable[..., Awaitable[object]] = field(repr=False)


def service_context(title: str, server: str, offered: int, text: str, state: Mapping[str, Any]) -> ServiceContext:
    """The context of a server, within its limit; without a text of its own in the form that all share."""
    text = text or status(title, server, offered)
    shown = cut(text, CONTEXT_CHARS - len(CUT))
    prompt = text if len(text) <= CONTEXT_CHARS else shown.text.rstrip() + CUT
    return ServiceContext(prompt, {"server": server, "status": "active", "tools": offered} | dict(state))


def status(title: str, server: str, offered: int, *lines: str) -> str:
    """The usual first lines; `lines` come before the number of tools."""
    first = (f"# {title} Server Status", f"**Server**: {server}", "**Status**: Active")
    return "\n".join([*first, *lines, f"**Available Tools**: {offered} tools"])


async def given(fn: Callable[..., Awaitable[Any]], services: Mapping[type, Any], *more: Any) -> Any:
    """Calls a function with what its parameters ask for by their types: services, or one of `more`."""
    hints = get_type_hints(fn)
    known = dict(services) | {type(each): each for each in more}
    return await fn(*(known[hints[name]] for name in inspect.signature(fn).parameters))


Describe = Callable[..., Awaitable[tuple[str, dict[str, Any]]]]
