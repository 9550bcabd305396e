"""Read each source of settings into a plain dictionary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from outrider.agents.settings import McpServerSettings
from outrider.core.errors import InvalidInput

SettingPath = tuple[str, ...]
FLOW_VARIABLE_PREFIX = "OUTRIDER_FLOW_"  # of variables with secrets of flows, which are not settings
WORKSPACE_LISTS = frozenset({("tools", "disable"), ("egress", "deny"), ("search", "disabled")})


@dataclass(frozen=True)
class SettingsLayer:
    """Settings from one source.

    Attributes:
        origin: Name of the source for people.
        values: The settings, nested.
        warnings: The ignored values, with reasons.
        extended_lists: Paths of lists that this layer's values extend instead of replacing them.
    """

    origin: str
    values: dict[str, Any]
    warnings: tuple[str, ...] = ()
    extended_lists: frozenset[SettingPath] = frozenset()

    def drop_settings(self, fixed: Mapping[str, str]) -> "SettingsLayer":
        """Return the layer without settings whose value is fixed now.

        It has a warning for each.

        Args:
            fixed: The value in force by name; empty where it does not concern people.
        """
        removed: list[str] = []
        values: dict[str, Any] = {}
        for setting, value in flatten_values(self.values):
            if (name := ".".join(setting)) in fixed:
                state = f"always {fixed[name]}" if fixed[name] else "fixed"
                removed.append(f"{self.origin}: {name!r} is ignored: its value is {state} now; remove the setting")
            else:
                set_value(values, setting, value)
        return replace(self, values=values, warnings=(*self.warnings, *removed)) if removed else self


def load_file(path: Path) -> SettingsLayer:
    """Load a settings file; a missing one is empty. Raises InvalidInput for a malformed one."""
    return SettingsLayer(str(path), read_settings_object(path))


def load_workspace_file(path: Path) -> SettingsLayer:
    """Load the workspace's file, without settings that a workspace may not set."""
    # The file comes with the workspace, from an untrusted author: it may choose and restrict, but never permit more.
    choices = {
        ("images_path",),
        ("search", "profile"),
        ("search", "order"),
        ("search", "per_domain"),
        ("models", "default"),
    }
    restrictions = {("boundary",): True, ("pages", "robots"): "respect"}
    values = read_settings_object(path)
    permitted: dict[str, Any] = {}
    refused: list[str] = []
    for setting, value in flatten_values(values):
        if setting in choices or setting in WORKSPACE_LISTS or restrictions.get(setting, ...) == value:
            set_value(permitted, setting, value)
        else:
            name = ".".join(setting)
            refused.append(f"{path}: {name!r} is ignored: a workspace may not set it; use ~/.outrider/settings.json")
    return SettingsLayer(str(path), permitted, tuple(refused), WORKSPACE_LISTS)


def load_environment(environ: Mapping[str, str], model: type[BaseModel]) -> SettingsLayer:
    """Load `OUTRIDER_SEARCH__PROFILE=x` as `search.profile`; lists may be separated by commas.

    Empty variables are ignored, because hosts pass fields that the user left blank as empty variables; and
    `OUTRIDER_FLOW_…`, which hold secrets of flows.
    """
    prefix = "OUTRIDER_"
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.startswith(prefix) or name.startswith(FLOW_VARIABLE_PREFIX) or not environ[name].strip():
            continue
        setting = tuple(name.removeprefix(prefix).lower().split("__"))
        try:
            set_value(values, setting, parse_text_value(environ[name], model, setting))
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error.message}", code="bad_settings") from None
    return SettingsLayer("environment", values)


def load_dogent(home: Path, workspace: Path) -> list[SettingsLayer]:
    """Load the search profiles and workspace choices of an existing dogent installation."""
    path = workspace / ".dogent" / "dogent.json"
    dogent, warnings = read_foreign_object(path)
    values: dict[str, Any] = {}
    for name, setting in (("images_path", ("images_path",)), ("web_profile", ("search", "profile"))):
        if isinstance(dogent.get(name), str):
            set_value(values, setting, dogent[name])
    profiles_path = home / ".dogent" / "web.json"
    profiles, ignored = read_foreign_object(profiles_path)
    return [_build_profiles_layer(profiles_path, profiles, ignored), SettingsLayer(str(path), values, warnings)]


def load_profiles(path: Path) -> SettingsLayer:
    """Load the named search profiles of `web.json`; malformed profiles are ignored with a warning."""
    return _build_profiles_layer(path, read_settings_object(path), ())


def _build_profiles_layer(path: Path, values: dict[str, Any], warnings: tuple[str, ...]) -> SettingsLayer:
    profiles = values.get("profiles", {})
    if not isinstance(profiles, dict):
        return SettingsLayer(str(path), {}, (*warnings, f"{path}: 'profiles' is not an object; it is ignored"))
    valid = {name: profile for name, profile in profiles.items() if isinstance(profile, dict)}
    malformed = (f"{path}: profile {name!r} is not an object; it is ignored" for name in profiles if name not in valid)
    return SettingsLayer(str(path), {"search": {"profiles": valid}} if valid else {}, (*warnings, *malformed))


def load_keys(path: Path) -> SettingsLayer:
    """Load the keys file: names of search or model providers with a key, or an object of credentials."""
    values = read_settings_object(path)
    if not values:
        return SettingsLayer(str(path), {})
    from outrider.agents.models.provider_registry import load_providers

    is_open = path.stat().st_mode & 0o077
    warnings = (f"{path} can be read by others; run: chmod 600 {path}",) if is_open else ()
    model_keys = {name: key for name, key in values.items() if isinstance(key, str) and name in load_providers()}
    search_providers = {
        name: key if isinstance(key, dict) else {"api_key": key}
        for name, key in values.items()
        if name not in model_keys
    }
    settings: dict[str, Any] = {"search": {"providers": search_providers}} if search_providers else {}
    return SettingsLayer(str(path), settings | ({"models": {"keys": model_keys}} if model_keys else {}), warnings)


def load_servers(path: Path) -> SettingsLayer:
    """Load other MCP servers from a file in the hosts' usual format.

    The format is `{"mcpServers": {"name": {"command": …} | {"url": …}}}`; other fields are ignored with a warning.
    """
    values = read_settings_object(path)
    servers = values.get("mcpServers", {})
    if not isinstance(servers, dict) or (values and not servers):
        return SettingsLayer(str(path), {}, (f"{path}: the object 'mcpServers' is missing; it is ignored",))
    known_fields = McpServerSettings.model_fields
    known_servers: dict[str, dict[str, Any]] = {}
    unknown_fields: list[str] = []
    for name, server in servers.items():
        if isinstance(server, dict):
            known_servers[name] = {field: value for field, value in server.items() if field in known_fields}
            unknown_fields += [
                f"{path}: {name}.{field} is ignored: no such field" for field in server.keys() - known_fields
            ]
    values = {"mcpServers": known_servers} if known_servers else {}
    return SettingsLayer(str(path), values, tuple(unknown_fields))


def read_settings_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in one of Outrider's own files; empty for a missing file.

    Raises:
        InvalidInput: The file cannot be read, or is not a JSON object. Ignoring it could permit what it denies.
    """
    try:
        return _read_json_object(path)
    except ValueError as error:
        raise InvalidInput(
            f"{path}{error}",
            code="bad_settings",
            hint=f"correct or remove {path.name}; nothing starts without it, because it may forbid something",
        ) from None


def read_foreign_object(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the JSON object in another program's file; a malformed one is ignored with a warning."""
    try:
        return _read_json_object(path), ()
    except ValueError as error:
        return {}, (f"{path} is ignored{error}",)


def _read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; empty for a missing file. Raises ValueError with place and reason.

    Devices are not read, because that may never end.
    """
    try:
        if not path.is_file():
            if path.exists() or path.is_symlink():
                raise ValueError(": it is not a file" if path.exists() else ": it links to a file that is missing")
            return {}
        source = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f": {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f": it is not UTF-8 ({error})") from None
    try:
        values = json.loads(source)
    except json.JSONDecodeError as error:
        raise ValueError(f", line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f": {error}") from None
    if not isinstance(values, dict):
        raise ValueError(": it must hold a JSON object")  # noqa: TRY004 - the content is wrong
    return values


def flatten_values(values: Mapping[str, Any], above: SettingPath = ()) -> list[tuple[SettingPath, Any]]:
    """Return every value with its path, a tuple of names; an empty object is a value."""
    max_depth = 8  # deeper than any setting
    flat: list[tuple[SettingPath, Any]] = []
    for name, value in values.items():
        setting = (*above, name)
        is_section = isinstance(value, Mapping) and value and len(setting) < max_depth
        flat += flatten_values(value, setting) if is_section else [(setting, value)]
    return flat


def set_value(values: dict[str, Any], setting: SettingPath, value: Any) -> None:
    """Set the value at a path in a nested dictionary; an empty object does not replace an existing one."""
    *sections, name = setting
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise InvalidInput(f"setting {'.'.join(setting)!r}: {section!r} already has a plain value")
    if value != {} or not isinstance(values.get(name), dict):
        values[name] = value


def parse_named_values(settings: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Nest settings by their dotted names; texts are parsed as on the command line. Raises InvalidInput."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        setting = tuple(name.strip().split("."))
        set_value(values, setting, parse_text_value(value, model, setting) if isinstance(value, str) else value)
    return values


def parse_text_value(text: str, model: type[BaseModel], setting: SettingPath) -> Any:
    """Parse the text of an environment variable or flag as its field's type demands."""
    annotation: Any = model
    for name in setting:
        fields = getattr(annotation, "model_fields", {})
        annotation = fields[name].annotation if name in fields else None
    types = _collect_types(annotation)
    if text.lstrip().startswith(("[", "{")) and str not in types:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"setting {'.'.join(setting)!r} is not valid JSON: {error}") from None
    if list in types:
        return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    if str not in types and types & {bool, int, float}:
        try:
            return json.loads(text.lower())
        except ValueError:
            return text  # validation accepts other spellings, such as yes, and names the setting if it cannot
    return text


def _collect_types(annotation: Any) -> set[Any]:
    """Return the types of a field without their parameters: list and NoneType for `list[str] | None`."""
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return {collected for option in get_args(annotation) for collected in _collect_types(option)}
    if get_origin(annotation) is Annotated:
        return _collect_types(get_args(annotation)[0])
    return {get_origin(annotation) or annotation}
