"""Context texts of toolsets for system prompts, and prompts for users."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

from outrider.core.text import cut_text

MAX_CONTEXT_CHARS = 4_000
ContextFunction = Callable[..., Awaitable[tuple[str, dict[str, Any]]]]


class OfferedToolCount(int):
    """The number of offered tools of the set; injected into functions that ask for it by this type."""


@dataclass(frozen=True)
class ToolsetContext:
    """The current state of a toolset: at most 4,000 characters for a prompt, and the same as data."""

    prompt: str
    state: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the context under the names that hosts expect."""
        return {"contextPrompt": self.prompt, "structuredState": self.state}


@dataclass(frozen=True)
class PromptArgument:
    """A value that the user fills in."""

    name: str
    description: str = ""
    required: bool = True


@dataclass(frozen=True)
class Prompt:
    """A text that users can pick. `render` gets the arguments by name."""

    name: str
    title: str
    description: str
    render: Callable[[Mapping[str, str]], str]
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True)
class PromptSource:
    """A source of prompts that are added and removed at run time.

    Attributes:
        list_prompts: Returns a caller's prompts; gets services by type, and the call.
        get_version: Returns a value that differs after every change of the prompts; gets services by type.
    """

    list_prompts: Callable[..., Awaitable[Sequence[Prompt]]]
    get_version: Callable[..., Awaitable[object]] = field(repr=False)


def build_toolset_context(title: str, server: str, offered: int, text: str, state: Mapping[str, Any]) -> ToolsetContext:
    """Return the context of a server, cut to its limit; an empty text means the standard status."""
    ellipsis = "\n[…]"
    text = text or format_status(title, server, offered)
    if len(text) > MAX_CONTEXT_CHARS:
        text = cut_text(text, MAX_CONTEXT_CHARS - len(ellipsis)).text.rstrip() + ellipsis
    return ToolsetContext(text, {"server": server, "status": "active", "tools": offered} | dict(state))


def format_status(title: str, server: str, offered: int, *lines: str) -> str:
    """Return the standard status; `lines` come before the number of tools."""
    heading = (f"# {title} Server Status", f"**Server**: {server}", "**Status**: Active")
    return "\n".join([*heading, *lines, f"**Available Tools**: {offered} tools"])


async def call_with_services(fn: Callable[..., Awaitable[Any]], services: Mapping[type, Any], *extras: Any) -> Any:
    """Call a function whose parameters are filled by type, from the services and `extras`."""
    hints = get_type_hints(fn)
    values_by_type = dict(services) | {type(extra): extra for extra in extras}
    return await fn(*(values_by_type[hints[name]] for name in inspect.signature(fn).parameters))
