"""The places that settings come from, each read into a plain dictionary."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from outrider.agents.settings import McpServer
from outrider.core.errors import InvalidInput

PREFIX = "OUTRIDER_"
Place = tuple[str, ...]
DEPTH = 8  # levels of a file that are told apart; no setting lies deeper
# What a workspace file may say: it is somebody else's text, so it chooses and narrows, and never widens.
WORKSPACE_CHOOSES = frozenset(
    {("images_path",), ("search", "profile"), ("search", "order"), ("search", "per_domain"), ("models", "default")}
)
WORKSPACE_ADDS = frozenset({("tools", "disable"), ("egress", "deny"), ("search", "disabled")})
WORKSPACE_TURNS_ON = {("boundary",): True, ("pages", "robots"): "respect"}


@dataclass(frozen=True)
class Layer:
    """Settings from one place, with what had to be left out.

    `adds` are the places of lists that grow by this layer's values instead of being replaced by them.
    """

    origin: str
    values: dict[str, Any]
    warnings: tuple[str, ...] = ()
    adds: frozenset[Place] = frozenset()


def from_file(path: Path) -> Layer:
    """A settings file; a missing one is empty, a malformed one is left out with a warning."""
    values, warnings = read_json(path)
    return Layer(str(path), values, warnings)


def from_workspace(path: Path) -> Layer:
    """The workspace's file, without anything that it may not set."""
    values, warnings = read_json(path)
    kept: dict[str, Any] = {}
    refused: list[str] = []
    for place, value in leaves(values):
        if place in WORKSPACE_CHOOSES | WORKSPACE_ADDS or WORKSPACE_TURNS_ON.get(place, ...) == value:
            put(kept, place, value)
        else:
            name = ".".join(place)
            refused.append(f"{path}: {name!r} is ignored: a workspace may not set it; use ~/.outrider/settings.json")
    return Layer(str(path), kept, (*warnings, *refused), WORKSPACE_ADDS)


def from_environment(environ: Mapping[str, str], model: type[BaseModel]) -> Layer:
    """`OUTRIDER_SEARCH__PROFILE=x` as `search.profile`; lists may be separated by commas.

    An empty variable says nothing: hosts pass the fields that nobody filled in as empty ones.
    """
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or not environ[name].strip():
            continue
        place = tuple(name.removeprefix(PREFIX).lower().split("__"))
        try:
            put(values, place, typed(environ[name], model, place))
        except InvalidInput as error:
            raise InvalidInput(f"{name}: {error.message}", code="bad_settings") from None
    return Layer("environment", values)


def from_dogent(home: Path, workspace: Path) -> list[Layer]:
    """The search profiles and workspace choices of an existing dogent installation."""
    chosen, broken = read_json(workspace / ".dogent" / "dogent.json")
    known = {"images_path": ("images_path",), "web_profile": ("search", "profile")}
    kept: dict[str, Any] = {}
    for theirs, ours in known.items():
        if isinstance(chosen.get(theirs), str):
            put(kept, ours, chosen[theirs])
    return [
        from_profiles(home / ".dogent" / "web.json"),
        Layer(str(workspace / ".dogent" / "dogent.json"), kept, broken),
    ]


def from_profiles(path: Path) -> Layer:
    """The named search profiles of `web.json`; what is no profile is left out with a warning."""
    values, warnings = read_json(path)
    profiles = values.get("profiles", {})
    if not isinstance(profiles, dict):
        return Layer(str(path), {}, (*warnings, f"{path}: 'profiles' is not an object; it is ignored"))
    kept = {name: profile for name, profile in profiles.items() if isinstance(profile, dict)}
    strange = (f"{path}: profile {name!r} is not an object; it is ignored" for name in profiles if name not in kept)
    return Layer(str(path), {"search": {"profiles": kept}} if kept else {}, (*warnings, *strange))


def from_keys(path: Path) -> Layer:
    """The keys file: name of a search or model provider to its key, or to an object of credentials."""
    values, warnings = read_json(path)
    if not values:
        return Layer(str(path), {}, warnings)
    from outrider.agents.models.known import known

    if path.stat().st_mode & 0o077:
        warnings = (*warnings, f"{path} can be read by others; run: chmod 600 {path}")
    ours = {name: key for name, key in values.items() if isinstance(key, str) and name in known()}
    rest = {name: values[name] for name in values if name not in ours}
    providers = {name: key if isinstance(key, dict) else {"api_key": key} for name, key in rest.items()}
    kept = {"search": {"providers": providers}} if providers else {}
    return Layer(str(path), kept | ({"models": {"keys": ours}} if ours else {}), warnings)


def from_servers(path: Path) -> Layer:
    """Other MCP servers, in the file that hosts share: `{"mcpServers": {"name": {"command": …} | {"url": …}}}`.

    What other hosts keep there besides is left out with a warning.
    """
    values, warnings = read_json(path)
    servers = values.get("mcpServers", {})
    if not isinstance(servers, dict) or (values and not servers):
        return Layer(str(path), {}, (*warnings, f"{path}: there is no object 'mcpServers'; it is ignored"))
    kept = {name: server for name, server in servers.items() if isinstance(server, dict)}
    known = McpServer.model_fields
    strange = [
        f"{path}: {name}.{field} is ignored: nothing here knows it"
        for name in kept
        for field in kept[name].keys() - known
    ]
    chosen = {name: {field: each for field, each in server.items() if field in known} for name, server in kept.items()}
    return Layer(str(path), {"mcpServers": chosen} if chosen else {}, (*warnings, *strange))


def read_json(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
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


def leaves(values: Mapping[str, Any], above: Place = ()) -> list[tuple[Place, Any]]:
    """Every value with its place, a tuple of names from the top; an empty object is a value."""
    found: list[tuple[Place, Any]] = []
    for name, value in values.items():
        place = (*above, name)
        deeper = isinstance(value, Mapping) and value and len(place) < DEPTH
        found += leaves(value, place) if deeper else [(place, value)]
    return found


def put(values: dict[str, Any], place: Place, value: Any) -> None:
    """Sets the value at a place in a nested dictionary; an empty object adds nothing to one that is there."""
    *above, last = place
    for part in above:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise InvalidInput(f"setting {'.'.join(place)!r}: {part!r} already has a plain value")
    if value != {} or not isinstance(values.get(last), dict):
        values[last] = value


def typed(text: str, model: type[BaseModel], place: Place) -> Any:
    """The text of an environment variable or flag in the shape that its field has."""
    wanted = _shapes(_annotation(model, place))
    if text.lstrip().startswith(("[", "{")) and str not in wanted:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"setting {'.'.join(place)!r} is not valid JSON: {error}") from None
    if list in wanted:
        return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return text


def _shapes(annotation: Any) -> set[Any]:
    """The types that a field may have, without their parameters: `list[str] | None` is list and NoneType."""
    if isinstance(annotation, UnionType) or get_origin(annotation) is Union:
        return {shape for each in get_args(annotation) for shape in _shapes(each)}
    if get_origin(annotation) is Annotated:
        return _shapes(get_args(annotation)[0])
    return {get_origin(annotation) or annotation}


def _annotation(model: Any, place: Place) -> Any:
    for part in place:
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            return None
        model = fields[part].annotation
    return model
