"""Derive toolsets and tool options from the settings."""

from typing import Any

from outrider.agents.catalogue import Catalogue
from outrider.core.errors import NotFound
from outrider.core.tool import Toolset
from outrider.settings import LoadedSettings
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.run_agent.delegation import DelegationOptions


def build_tool_options(loaded: LoadedSettings) -> ToolOptions:
    """Return the options of the tools."""
    settings = loaded.settings
    return ToolOptions(
        images_path=settings.images_path,
        boundary=settings.boundary,
        mime_prefix=settings.mime_prefix,
        crawl_robots=settings.pages.crawl_robots,
        unasked=frozenset(name for name, stake in settings.tools.stakes.items() if stake == "never_ask"),
    )


def build_delegation_options(loaded: LoadedSettings, catalogue: Catalogue) -> DelegationOptions:
    """Return the options of agents as tools.

    They are configured if an agent or a model is defined.
    """
    settings = loaded.settings
    folders = (catalogue.home, loaded.workspace / ".outrider" / "agents")
    has_agents = any(next(folder.glob("*.md"), None) for folder in folders)
    has_models = bool(settings.models.default or settings.models.profiles)
    return DelegationOptions(
        mime_prefix=settings.mime_prefix,
        progress=settings.run_agent.progress,
        detach_s=settings.run_agent.detach_s,
        configured=has_agents or has_models,
    )


def select_toolsets(names: list[str], toolsets: dict[str, Toolset], services: dict[type, Any]) -> list[Toolset]:
    """Return the toolsets of those names or aliases, each once; the default ones if none is named. Raises NotFound."""
    if not names:
        return [
            each for each in toolsets.values() if each.default or (each.default_check and each.default_check(services))
        ]
    named = _find_named(names, toolsets)
    if "all" not in names:
        return named
    return [each for each in toolsets.values() if not each.on_request or each in named]


def find_unlisted_tools(names: list[str], toolsets: dict[str, Toolset]) -> frozenset[str]:
    """Return the tools that duplicate others, unless `compat` or their own toolset is named. Raises NotFound."""
    named = {toolset.name for toolset in _find_named(names, toolsets)}
    duplicates = toolsets["compat"].tools.values() if "compat" not in named else ()
    return frozenset(tool.name for tool in duplicates if tool.toolset not in named)


def _find_named(names: list[str], toolsets: dict[str, Toolset]) -> list[Toolset]:
    """Return the named toolsets, each once; `all` does not name any."""
    known = {name: each for each in toolsets.values() for name in (each.name, each.display_name, *each.aliases) if name}
    listed_names = [name for name in names if name != "all"]
    for name in listed_names:
        if name not in known:
            raise NotFound(f"no toolset {name!r}", hint=f"the toolsets are {', '.join(toolsets)}, or all")
    return list({known[name].name: known[name] for name in listed_names}.values())
