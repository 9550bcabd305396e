"""Map tool names of hosts: bare, or `builtin_<server>__<tool>` for some hosts."""

import re
from typing import Literal

from outrider.core.errors import NotFound
from outrider.core.tool import Tool
from outrider.core.toolbox import Toolbox

NameStyle = Literal["bare", "builtin"]
BUILTIN_PREFIX = "builtin_"
# ECMAScript 2025, 12.7.2, with the words that strict mode and modules reserve.
JS_RESERVED_WORDS = frozenset({
    "arguments", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "if",
    "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "package", "private",
    "protected", "public", "return", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
    "var", "void", "while", "with", "yield",
})  # fmt: skip


def format_tool_name(tool: Tool, style: NameStyle) -> str:
    """Return the name under which a tool is listed."""
    return tool.name if style == "bare" else f"{BUILTIN_PREFIX}{slugify_server(tool.toolset)}__{tool.name}"


async def resolve_tool(name: str, toolbox: Toolbox) -> Tool:
    """Find a tool by its name in either style. Raises NotFound, which names the unknown part.

    `builtin_<server>__<tool>` is split at its first `__`; `<server>` may be any name of the toolset.
    """
    if not name.startswith(BUILTIN_PREFIX):
        return await toolbox.find_tool(name)
    server, separator, bare = name.removeprefix(BUILTIN_PREFIX).partition("__")
    if not separator:
        raise NotFound(f"invalid built-in tool name {name!r}", hint=f"write {BUILTIN_PREFIX}<server>__<tool>")
    listed = toolbox.tools.get(bare)
    if listed and slugify_server(listed.toolset) == server:
        return listed
    for toolset in toolbox.toolsets.values():
        names = (toolset.name, toolset.display_name, *toolset.aliases)
        if server and server in map(slugify_server, names):
            tool = await toolbox.find_tool(bare)
            if tool.toolset == toolset.name or bare in toolset.tools:
                return tool
            raise NotFound(
                f"no tool {bare!r} in {toolset.name!r}", hint=f"did you mean {format_tool_name(tool, 'builtin')}?"
            )
    servers = ", ".join(map(slugify_server, toolbox.toolsets))
    raise NotFound(f"no server {server!r} in {name!r}", hint=f"the servers are {servers}")


def slugify_server(server: str) -> str:
    """Return a server's id as part of a tool name.

    Such a name must be a JavaScript identifier.

    Other characters become `_`, a leading digit is preceded by one, and a reserved word is followed by one.
    """
    slug = re.sub(r"[^A-Za-z0-9_$]", "_", server)
    slug = f"_{slug}" if slug[:1].isdigit() else slug
    return f"{slug}_" if slug in JS_RESERVED_WORDS else slug
