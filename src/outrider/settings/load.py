"""Merge the sources of settings, and remember the origin of each value.

flags > environment > workspace file > ~/.outrider/settings.json > key and profile files > defaults
"""

import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from outrider.agents.settings import McpServerSettings
from outrider.core.errors import InvalidInput
from outrider.core.private_file import create_private_file
from outrider.search.settings import is_placeholder
from outrider.settings import layers
from outrider.settings.layers import SettingPath, SettingsLayer, flatten_values
from outrider.settings.model import Settings
from outrider.settings.removed import FIXED_SETTINGS, REPLACED_SETTINGS

log = logging.getLogger(__name__)
PROFILE_TEMPLATE = {
    "profiles": {
        "google": {"provider": "google_cse", "api_key": "replace-me", "cse_id": "replace-me", "timeout_s": 20},
        "brave": {"provider": "brave", "api_key": "replace-me", "timeout_s": 20},
        "searxng": {"provider": "searxng", "endpoint": "replace-me", "timeout_s": 20},
    }
}
SECRET_MASK = "********"  # noqa: S105
CREDENTIAL_SECTIONS = (("search", "profiles"), ("search", "providers"), ("models", "keys"))
URL_SECRET = re.compile(r"(?<=://)[^/\s\"]+(?=@)|(?<==)[^&=\s\"]+")  # https://user:password@host/?token=x


@dataclass(frozen=True)
class LoadedSettings:
    """The effective settings.

    Attributes:
        settings: The validated values.
        origins: The origin of each value; values without one are defaults.
        warnings: The ignored values, with reasons.
        environ: The environment that was read; providers find their keys there.
        workspace: The working directory, from which relative paths start.
        servers_file: The file of other MCP servers, which may change while the process runs.
    """

    settings: Settings
    origins: dict[SettingPath, str]
    warnings: tuple[str, ...]
    environ: Mapping[str, str]
    workspace: Path = field(default_factory=Path.cwd)
    servers_file: Path | None = None

    def reload_servers(self) -> dict[str, McpServerSettings]:
        """Return the other MCP servers from the current file. Raises InvalidInput if it is malformed."""
        if self.servers_file is None:
            return self.settings.mcpServers
        layer = layers.load_servers(self.servers_file)
        configured_elsewhere = {
            setting[1]
            for setting, origin in self.origins.items()
            if setting[0] == "mcpServers" and len(setting) > 1 and origin != layer.origin
        }
        try:
            servers = {
                name: McpServerSettings.model_validate(server)
                for name, server in layer.values.get("mcpServers", {}).items()
            }
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            raise InvalidInput(
                f"{self.servers_file}: {problem['msg']}", hint="correct the file", code="bad_settings"
            ) from None
        return servers | {
            name: server for name, server in self.settings.mcpServers.items() if name in configured_elsewhere
        }

    def describe_origin(self, setting: SettingPath) -> str:
        """Return ` (from the variable OUTRIDER_…)` or another source of a setting; empty for a default."""
        return _describe_origin(setting, self.origins)

    def list_rows(self) -> list[tuple[str, str, str]]:
        """Return (name, value, origin) of every effective value, with secrets masked."""
        rows = []
        for setting, value in flatten_values(self.settings.model_dump(mode="json")):
            sections = (setting[:end] for end in range(len(setting), 0, -1))
            origin = next((self.origins[section] for section in sections if section in self.origins), "default")
            text = json.dumps(value, ensure_ascii=False, default=str)
            masked = SECRET_MASK if value and _is_secret(setting) else URL_SECRET.sub(SECRET_MASK, text)
            rows.append((".".join(setting), masked, origin))
        return rows


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    workspace: Path | None = None,
) -> LoadedSettings:
    """Read all sources, and validate the merged settings.

    Args:
        flags: Nested values that override all others, for instance from the command line.
        environ: The environment; the process's own by default.
        home: The user's home directory.
        workspace: The directory whose `.outrider/settings.json` is read.

    Raises:
        InvalidInput: A value is wrong or a field unknown; the message names the field and its origin.
    """
    environ = os.environ if environ is None else environ
    home, workspace = home or Path.home(), workspace or Path.cwd()
    merged: dict[str, Any] = {"data_dir": home / ".outrider"}
    origins: dict[SettingPath, str] = {}
    layers_read = [
        layer.drop_settings(FIXED_SETTINGS) for layer in _load_layers(dict(flags or {}), environ, home, workspace)
    ]
    for layer in layers_read:
        _apply_layer(layer, merged, origins)
    warnings = tuple(warning for layer in layers_read for warning in layer.warnings)
    servers_file = home / ".outrider" / "mcp.json"
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        problems = "; ".join(_describe_problem(dict(each), origins) for each in errors)
        hint = "`outrider config schema` lists every setting"
        raise InvalidInput(f"settings: {problems}", code="bad_settings", hint=hint) from None
    if ("data_dir",) in origins:
        _check_data_dir(settings.data_dir, _describe_origin(("data_dir",), origins))
    return LoadedSettings(settings, origins, warnings, environ, workspace, servers_file)


def _check_data_dir(folder: Path, origin: str) -> None:
    try:
        existing = next((each for each in (folder, *folder.parents) if each.exists()), None)
    except OSError as error:
        problem = (error.strerror or "unreadable").lower()
        raise InvalidInput(
            f"data_dir: {str(folder)[:80]}… cannot be a folder: {problem}{origin}",
            code="bad_settings",
            hint="choose another folder",
        ) from None
    # A home that is a file is an empty one.
    if existing is None or existing.is_dir():
        return
    message = f"data_dir: {folder} cannot be a folder, because {existing} is not one{origin}"
    raise InvalidInput(message, code="bad_settings", hint="choose another folder")


def create_profile_template(home: Path | None = None) -> None:
    """Create `~/.outrider/web.json` with profiles to fill in; never overwrite it, and never fail."""
    path = (home or Path.home()) / ".outrider" / "web.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        create_private_file(path, json.dumps(PROFILE_TEMPLATE, indent=2))
    except FileExistsError:
        return
    except OSError as error:
        log.info("%s was not created: %s", path, error.strerror)


def _load_layers(flags: dict[str, Any], environ: Mapping[str, str], home: Path, workspace: Path) -> list[SettingsLayer]:
    """Return the layers, weakest first."""
    user_folder = home / ".outrider"
    at_home = workspace.resolve() == home.resolve()
    return [
        *layers.load_dogent(home, workspace),
        layers.load_profiles(user_folder / "web.json"),
        layers.load_keys(user_folder / "keys.json"),
        layers.load_servers(user_folder / "mcp.json"),
        layers.load_file(user_folder / "settings.json"),
        *([] if at_home else [layers.load_workspace_file(workspace / ".outrider" / "settings.json")]),
        layers.load_environment(environ, Settings),
        SettingsLayer("command line", flags),
    ]


def _apply_layer(layer: SettingsLayer, merged: dict[str, Any], origins: dict[SettingPath, str]) -> None:
    """Merge one layer over the weaker ones."""
    for setting, value in flatten_values(layer.values):
        if setting[:2] in CREDENTIAL_SECTIONS and is_placeholder(value) and setting in origins:
            continue  # an unfilled template does not hide a real value
        weaker: Any = None
        effective = value
        if setting in layer.extended_lists:
            weaker = merged
            for name in setting:
                weaker = weaker.get(name) if isinstance(weaker, dict) else None
        if isinstance(weaker, list) and isinstance(value, list):
            effective = [*weaker, *(item for item in value if item not in weaker)]
        elif weaker is not None and not isinstance(weaker, list):
            effective = weaker  # it is not a list, so validation refuses it
        try:
            layers.set_value(merged, setting, effective)
        except InvalidInput as error:
            raise InvalidInput(f"{layer.origin}: {error.message}", code="bad_settings") from None
        origins[setting] = layer.origin if weaker is None else f"{origins[setting]} and {layer.origin}"


def _describe_problem(error: dict[str, Any], origins: Mapping[SettingPath, str]) -> str:
    """Describe a wrong setting with its origin, without its value, which may be a secret."""
    location = tuple(str(part) for part in error["loc"])
    name, where = ".".join(location), _describe_origin(location, origins)
    if name in REPLACED_SETTINGS:
        return f"no setting {name!r}{where}, use {REPLACED_SETTINGS[name]}"
    if error["type"] == "extra_forbidden":
        return f"no setting {name!r}{where}{_suggest_setting(error['loc'])}"
    return f"{name}: {error['msg'].removeprefix('Value error, ')}{where}"


def _describe_origin(setting: SettingPath, origins: Mapping[SettingPath, str]) -> str:
    sections = [setting[:end] for end in range(len(setting), 0, -1)]
    parts = [each for each in origins if each[: len(setting)] == setting]
    source = next((each for each in (*sections, *parts) if each in origins), None)
    if source is None:
        return ""
    variable = f"the variable OUTRIDER_{'__'.join(source).upper()}"
    return f" (from {variable if origins[source] == 'environment' else origins[source]})"


def _suggest_setting(location: tuple[Any, ...]) -> str:
    section: Any = Settings
    for part in location[:-1]:
        # All entries of a dictionary (profiles, servers) have the same model.
        fields = getattr(section, "model_fields", None)
        section = fields[part].annotation if fields and part in fields else next(iter(get_args(section)[1:]), None)
    if not (isinstance(section, type) and issubclass(section, BaseModel)):
        return ""
    close = get_close_matches(str(location[-1]), section.model_fields, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _is_secret(setting: SettingPath) -> bool:
    secret_words = {"key", "token", "secret", "password", "credential"}
    if setting[:2] in CREDENTIAL_SECTIONS:
        # All other fields there may be credentials, because providers of plugins have fields unknown to us.
        public_fields = {"provider", "endpoint", "timeout_s", "user_agent", "rate", "cse_id"}
        return len(setting) != 4 or setting[-1] not in public_fields
    if setting[0] == "mcpServers":
        return len(setting) > 2 and setting[2] in {"env", "headers", "args"}  # any value there may be a key
    return not secret_words.isdisjoint(word for name in setting for word in re.split("[^a-z]+", name.lower()))
