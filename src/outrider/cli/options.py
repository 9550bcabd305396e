"""Options that several commands share, and their conversion to settings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from outrider.core.errors import InvalidInput
from outrider.settings import LoadedSettings, load
from outrider.settings.layers import parse_named_values
from outrider.settings.load import create_profile_template
from outrider.settings.model import Settings

F = TypeVar("F", bound=Callable[..., Any])


def add_serving_options(function: F) -> F:
    """Add the options of commands that serve tools."""
    for option in reversed(
        (
            click.option(
                "--toolsets",
                metavar="A,B|all",
                help="Toolsets to serve [default: the default ones]; compat adds tools under other products' names.",
            ),
            click.option("--enable", metavar="TOOLS", help="Offer only these tools (comma-separated; or all, none)."),
            click.option("--disable", metavar="TOOLS", help="Withhold these tools; overrides --enable."),
            click.option("--names", type=click.Choice(["bare", "builtin"]), help="Naming of tools."),
            click.option(
                "--workspace",
                metavar="FOLDER",
                help="Folder for the tools' files; roots: the host's choice [default: one per session].",
            ),
            click.option(
                "--assistant",
                metavar="NAME",
                help="Owner of playbooks for calls that name no assistant [default: the client's name].",
            ),
            click.option(
                "--browser-endpoint",
                metavar="URL",
                help="Use your running browser and its sign-ins: http://127.0.0.1:9222, ws://… or chrome.",
            ),
            add_settings_option,
        )
    ):
        function = option(function)
    return function


def add_settings_option(function: F) -> F:
    """Add `--set NAME=VALUE` for every setting."""
    help_text = "Any setting, for instance search.profile=brave (repeatable; `outrider config schema` lists them)."
    return click.option("--set", "sets", metavar="NAME=VALUE", multiple=True, help=help_text)(function)


def load_settings(
    sets: tuple[str, ...] = (), host: tuple[Mapping[str, str], Path] | None = None, /, **flags: str | None
) -> LoadedSettings:
    """Load settings from flags, and from a host's environment and directory or our own. Raises InvalidInput."""
    environ, workspace = host or (None, None)
    create_profile_template()
    chosen = {name: flags.get(name) for name in ("toolsets", "names", "assistant")}
    tools = {"enable": flags.get("enable"), "disable": flags.get("disable")}
    for each in sets:
        if "=" not in each:
            raise InvalidInput(f"--set {each!r}: there is no '='", hint="write --set name=value")
    values = parse_named_values(dict(each.split("=", 1) for each in sets), Settings)
    values |= {
        name: (_split_names(text) if name == "toolsets" else text) for name, text in chosen.items() if text is not None
    }
    if (folder := flags.get("workspace")) is not None:
        values["workspace"] = values.get("workspace", {}) | {"directory": folder}
    if (endpoint := flags.get("browser_endpoint")) is not None:
        values["browser"] = values.get("browser", {}) | {"cdp_urls": [endpoint], "cdp_profile": "own"}
    if policy := {name: _split_names(text) for name, text in tools.items() if text is not None}:
        values["tools"] = values.get("tools", {}) | policy
    return load(values, environ=environ, workspace=workspace)


def _split_names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
