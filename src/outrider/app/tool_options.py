"""What the settings choose of tools and of how they behave."""

from typing import Any

from outrider.agents.catalogue import Catalogue
from outrider.core.errors import NotFound
from outrider.core.tool import Toolset
from outrider.settings import LoadedSettings
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.run_agent.delegation import DelegationOptions


def build_tool_options(loaded: LoadedSettings) -> ToolOptions:
    """What tools themselves obey."""
    settings = loaded.settings
    return ToolOptions(
        workspace=loaded.workspace,
        images_path=settings.images_path,
        boundary=settings.boundary,
        mime_prefix=settings.mime_prefix,
        crawl_robots=settings.pages.crawl_robots,
        user_folders=settings.data_dir / "people",
    )


def build_delegation_options(loaded: LoadedSettings, catalogue: Catalogue) -> DelegationOptions:
    """Agents as tools: served by themselves where somebody has written an agent, or has named a model for them."""
    settings = loaded.settings
    folders = (catalogue.home, loaded.workspace / ".outrider" / "agents")
    written = any(next(folder.glob("*.md"), None) for folder in folders)
    named = bool(settings.models.default or settings.models.profiles)
    chosen = settings.run_agent
    return DelegationOptions(
        mime_prefix=settings.mime_prefix,
        progress=chosen.progress,
        per_second=chosen.progress_per_second,
        detach_seconds=chosen.detach_seconds,
        configured=written or named,
    )


def select_toolsets(wanted: list[str], every: dict[str, Toolset], services: dict[type, Any]) -> list[Toolset]:
    """The toolsets of those names (or aliases), in the house's order; the default ones if none is named."""
    if not wanted:
        return [
            each for each in every.values() if each.default or (each.default_check and each.default_check(services))
        ]
    if "all" in wanted:
        return list(every.values())
    known = {name: each for each in every.values() for name in (each.name, each.display_name, *each.aliases) if name}
    for name in wanted:
        if name not in known:
            raise NotFound(f"no toolset {name!r}", hint=f"the toolsets are {', '.join(every)}, or all")
    return list({known[name].name: known[name] for name in wanted}.values())
