"""The places that settings come from, each read into a plain dictionary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from outrider.agents.settings import McpServerSettings
from outrider.core.errors import InvalidInput

SettingPath = tuple[str, ...]
WORKSPACE_LISTS = frozenset({("tools", "disable"), ("egress", "deny"), ("search", "disabled")})


@dataclass(frozen=True)
class SettingsLayer:
    """Settings from one place, with what had to be left out.

    `extended_lists` are the places of lists that grow by this layer's values instead of being replaced by them.
    """

    origin: str
    values: dict[str, Any]
    warnings: tuple[str, ...] = ()
    extended_lists: frozenset[SettingPath] = frozenset()


def load_file(path: Path) -> SettingsLayer:
    """A settings file; a missing one is empty, a malformed one is left out with a warning."""
    values, warnings = read_json_object(path)
    return SettingsLayer(str(path), values, warnings)


def load_workspace_file(path: Path) -> SettingsLayer:
    """The workspace's file, without anything that it may not set."""
    restrictions = {("boundary",): True, ("pages", "robots"): "respect"}
    # What a workspace file may say: it is somebody else's text, so it chooses and narrows, and never widens.
    replaceable = frozenset(
        {("images_path",), ("search", "profile"), ("search", "order"), ("search", "per_domain"), ("models", "default")}
    )
    values, warnings = read_json_object(path)
    kept: dict[str, Any] = {}
    refused: list[str] = []
    for place, value in flatten_values(values):
        if place in replaceable | WORKSPACE_LISTS or restrictions.get(place, ...) == value:
            set_value(kept, place, value)
        else:
            name = ".".join(place)
            refused.append(f"{path}: {name!r} is ignored: a workspace may not set it; use ~/.outrider/settings.json")
    return SettingsLayer(str(path), kept, (*warnings, *refused), WORKSPACE_LISTS)


def load_environment(environ: Mapping[str, str], model: type[BaseModel]) -> SettingsLayer:
    """`OUTRIDER_SEARCH__PROFILE=x` as `search.profile`; lists may be separated by commas.

    An empty variable says nothing: hosts pass the fields that nobody filled in as empty ones.
    """
    prefix = "OUTRIDER_"
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.startswith(prefix) or not environ[name].strip():
            continue
        place = tuple(name.removeprefix(prefix).lower().split("__"))
        try:
            set_value(values, place, parse_text_value(environ[name], model, place))
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error.message}", code="bad_settings") from None
    return SettingsLayer("environment", values)


def load_dogent(home: Path, workspace: Path) -> list[SettingsLayer]:
    """The search profiles and workspace choices of an existing dogent installation."""
    chosen, broken = read_json_object(workspace / ".dogent" / "dogent.json")
    known = {"images_path": ("images_path",), "web_profile": ("search", "profile")}
    kept: dict[str, Any] = {}
    for theirs, ours in known.items():
        if isinstance(chosen.get(theirs), str):
            set_value(kept, ours, chosen[theirs])
    return [
        load_profiles(home / ".dogent" / "web.json"),
        SettingsLayer(str(workspace / ".dogent" / "dogent.json"), kept, broken),
    ]


def load_profiles(path: Path) -> SettingsLayer:
    """The named search profiles of `web.json`; what is no profile is left out with a warning."""
    values, warnings = read_json_object(path)
    profiles = values.get("profiles", {})
    if not isinstance(profiles, dict):
        return SettingsLayer(str(path), {}, (*warnings, f"{path}: 'profiles' is not an object; it is ignored"))
    kept = {name: profile for name, profile in profiles.items() if isinstance(profile, dict)}
    strange = (f"{path}: profile {name!r} is not an object; it is ignored" for name in profiles if name not in kept)
    return SettingsLayer(str(path), {"search": {"profiles": kept}} if kept else {}, (*warnings, *strange))


def load_keys(path: Path) -> SettingsLayer:
    """The keys file: name of a search or model provider to its key, or to an object of credentials."""
    values, warnings = read_json_object(path)
    if not values:
        return SettingsLayer(str(path), {}, warnings)
    from outrider.agents.models.provider_registry import load_providers

    if path.stat().st_mode & 0o077:
        warnings = (*warnings, f"{path} can be read by others; run: chmod 600 {path}")
    ours = {name: key for name, key in values.items() if isinstance(key, str) and name in load_providers()}
    rest = {name: values[name] for name in values if name not in ours}
    providers = {name: key if isinstance(key, dict) else {"api_key": key} for name, key in rest.items()}
    kept = {"search": {"providers": providers}} if providers else {}
    return SettingsLayer(str(path), kept | ({"models": {"keys": ours}} if ours else {}), warnings)


def load_servers(path: Path) -> SettingsLayer:
    """Other MCP servers, in the file that hosts share: `{"mcpServers": {"name": {"command": …} | {"url": …}}}`.

    What other hosts keep there besides is left out with a warning.
    """
    values, warnings = read_json_object(path)
    servers = values.get("mcpServers", {})
    if not isinstance(servers, dict) or (values and not servers):
        return SettingsLayer(str(path), {}, (*warnings, f"{path}: there is no object 'mcpServers'; it is ignored"))
    kept = {name: server for name, server in servers.items() if isinstance(server, dict)}
    known = McpServerSettings.model_fields
    strange = [
        f"{path}: {name}.{field} is ignored: nothing here knows it"
        for name in kept
        for field in kept[name].keys() - known
    ]
    chosen = {name: {field: each for field, each in server.items() if field in known} for name, server in kept.items()}
    return SettingsLayer(str(path), {"mcpServers": chosen} if chosen else {}, (*warnings, *strange))


def read_json_object(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The JSON object in a file and what is wrong with it; both empty when there is none.

    A link to a device is no file: reading it might never end.
    """
    try:
        if not path.is_file():
            return {}, (f"{path} is ignored: it is no file",) if path.exists() else ()
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return {}, (f"{path} is ignored: {reason}",)
    if not isinstance(values, dict):
        return {}, (f"{path} is ignored: it must hold a JSON object",)
    return values, ()


def flatten_values(values: Mapping[str, Any], above: SettingPath = ()) -> list[tuple[SettingPath, Any]]:
    """Every value with its place, a tuple of names from the top; an empty object is a value."""
    max_depth = 8  # levels of a file that are told apart; no setting lies deeper
    found: list[tuple[SettingPath, Any]] = []
    for name, value in values.items():
        place = (*above, name)
        deeper = isinstance(value, Mapping) and value and len(place) < max_depth
        found += flatten_values(value, place) if deeper else [(place, value)]
    return found


def set_value(values: dict[str, Any], place: SettingPath, value: Any) -> None:
    """Sets the value at a place in a nested dictionary; an empty object adds nothing to one that is there."""
    *above, last = place
    for part in above:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise InvalidInput(f"setting {'.'.join(place)!r}: {part!r} already has a plain value")
    if value != {} or not isinstance(values.get(last), dict):
        values[last] = value


def parse_text_value(text: str, model: type[BaseModel], place: SettingPath) -> Any:
    """The text of an environment variable or flag in the shape that its field has."""
    wanted = _collect_types(_find_annotation(model, place))
    if text.lstrip().startswith(("[", "{")) and str not in wanted:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"setting {'.'.join(place)!r} is not valid JSON: {error}") from None
    if list in wanted:
        return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return text


def _collect_types(annotation: Any) -> set[Any]:
    """The types that a field may have, without their parameters: `list[str] | None` is list and NoneType."""
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return {shape for each in get_args(annotation) for shape in _collect_types(each)}
    if get_origin(annotation) is Annotated:
        return _collect_types(get_args(annotation)[0])
    return {get_origin(annotation) or annotation}


def _find_annotation(model: Any, place: SettingPath) -> Any:
    for part in place:
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            return None
        model = fields[part].annotation
    return model
