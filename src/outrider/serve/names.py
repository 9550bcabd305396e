"""Tool names as hosts see them: bare, or `builtin_<server>__<tool>` for hosts that expect that."""

import keyword
import re
from typing import Literal

from outrider.core.tool import Tool

Style = Literal["bare", "builtin"]
PREFIX = "builtin_"


def exposed(tool: Tool, style: Style) -> str:
    """The name under which a tool is listed."""
    return tool.name if style == "bare" else f"{PREFIX}{alias(tool.toolset)}__{tool.name}"


def bare(name: str) -> str:
    """The tool's own name, whichever style the host used."""
    if name.startswith(PREFIX) and "__" in name:
        return name.split("__", 1)[1]
    return name


def alias(server: str) -> str:
    """A server's id as part of a tool name: other characters become `_`, a digit gets one in front."""
    slug = re.sub(r"[^A-Za-z0-9_$]", "_", server)
    slug = f"_{slug}" if slug[:1].isdigit() else slug
    return f"{slug}_" if keyword.iskeyword(slug) else slug
