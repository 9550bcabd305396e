"""What a toolset tells beside its tools: how things stand, for a system prompt, and prompts that a user can pick."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from outrider.core.text import cut_text

MAX_CONTEXT_CHARS = 4_000


class OfferedToolCount(int):
    """How many tools of the set are offered; given to functions that ask for it by this type."""


@dataclass(frozen=True)
class ToolsetContext:
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
        list_prompts: Those of a caller; gets services by type, and the call.
        get_version: Something that is another whenever some have come, changed or gone; gets services by type.
    """

    list_prompts: Callable[..., Awaitable[Sequence[Prompt]]]
    get_version: Callable[..., Awaitable[object]] = field(repr=False)


def build_toolset_context(title: str, server: str, offered: int, text: str, state: Mapping[str, Any]) -> ToolsetContext:
    """The context of a server, within its limit; without a text of its own in the form that all share."""
    ellipsis = "\n[…]"
    text = text or format_status(title, server, offered)
    shown = cut_text(text, MAX_CONTEXT_CHARS - len(ellipsis))
    prompt = text if len(text) <= MAX_CONTEXT_CHARS else shown.text.rstrip() + ellipsis
    return ToolsetContext(prompt, {"server": server, "status": "active", "tools": offered} | dict(state))


def format_status(title: str, server: str, offered: int, *lines: str) -> str:
    """The usual first lines; `lines` come before the number of tools."""
    first = (f"# {title} Server Status", f"**Server**: {server}", "**Status**: Active")
    return "\n".join([*first, *lines, f"**Available Tools**: {offered} tools"])


async def call_with_services(fn: Callable[..., Awaitable[Any]], services: Mapping[type, Any], *extras: Any) -> Any:
    """Calls a function with what its parameters ask for by their types: services, or one of `extras`."""
    hints = get_type_hints(fn)
    known = dict(services) | {type(each): each for each in extras}
    return await fn(*(known[hints[name]] for name in inspect.signature(fn).parameters))


ContextFunction = Callable[..., Awaitable[tuple[str, dict[str, Any]]]]
