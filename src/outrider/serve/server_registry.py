"""Describe toolsets as entries of a registry of MCP servers."""

from collections.abc import Mapping
from typing import Any

from outrider.core.tool import Stake, Toolset
from outrider.core.tool_policy import resolve_stake


def build_registry_entry(toolset: Toolset, stakes: Mapping[str, Stake]) -> dict[str, Any]:
    """Return the registry entry of a toolset, under the field names of hosts; `stakes` are the operator's."""
    record = toolset.record
    retried = {name: "retry_on_interrupt" for name, tool in toolset.tools.items() if tool.effect == "read"}
    policies = {"default": "no_retry"} | retried
    return {
        "id": record.id,
        "toolset": toolset.name,
        "availability": record.availability,
        "category": record.category,
        "allowMultipleInstances": False,
        "tools_retry_policies": {"default": "retry_on_interrupt"} if record.retry_on_interrupt else policies,
        "timeoutMs": record.timeout_ms,
        "tools_stakes": {name: resolve_stake(tool, stakes) for name, tool in toolset.tools.items()},
        "isRestricted": None,
        "isPreview": False,
        "serverInfo": {
            "name": toolset.display_name or toolset.name,
            "version": record.version,
            "description": record.description or toolset.instructions,
            "icon": record.icon,
            "authorization": None,
            "documentationUrl": None,
            "instructions": toolset.instructions,
        },
    }
