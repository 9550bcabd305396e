"""The places that settings come from, each read into a plain dictionary."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_origin

from pydantic import BaseModel

from outrider.core.errors import InvalidInput

log = logging.getLogger(__name__)
PREFIX = "OUTRIDER_"
Place = tuple[str, ...]
# What a workspace file may say: it is somebody else's text, so it chooses and narrows, and never widens.
WORKSPACE_MAY_SET = frozenset(
    {
        "images_path",
        "boundary",
        "tools.disable",
        "egress.deny",
        "search.profile",
        "search.order",
        "search.disabled",
        "search.per_domain",
        "pages.robots",
    }
)
NEVER_FROM_WORKSPACE = {"boundary": False}


@dataclass(frozen=True)
class Layer:
    """Settings from one place, with what had to be left out."""

    origin: str
    values: dict[str, Any]
    warnings: tuple[str, ...] = field(default=())


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
        name = ".".join(place)
        if name in WORKSPACE_MAY_SET and NEVER_FROM_WORKSPACE.get(name, ...) != value:
            put(kept, place, value)
        else:
            refused.append(f"{path}: {name!r} is ignored: a workspace may not set it; use ~/.outrider/settings.json")
    return Layer(str(path), kept, (*warnings, *refused))


def from_environment(environ: Mapping[str, str], model: type[BaseModel]) -> Layer:
    """`OUTRIDER_SEARCH__PROFILE=x` as `search.profile`; lists may be separated by commas."""
    values: dict[str, Any] = {}
    for name in sorted(environ):
        if name.startswith(PREFIX):
            place = tuple(name.removeprefix(PREFIX).lower().split("__"))
            put(values, place, typed(environ[name], model, place))
    return Layer("environment", values)


def from_dogent(home: Path, workspace: Path) -> list[Layer]:
    """The search profiles and workspace choices of an existing dogent installation."""
    web, broken = read_json(home / ".dogent" / "web.json")
    profiles = web.get("profiles")
    chosen, also_broken = read_json(workspace / ".dogent" / "dogent.json")
    known = {"images_path": ("images_path",), "web_profile": ("search", "profile")}
    kept: dict[str, Any] = {}
    for theirs, ours in known.items():
        if isinstance(chosen.get(theirs), str):
            put(kept, ours, chosen[theirs])
    search = {"search": {"profiles": profiles}} if isinstance(profiles, dict) else {}
    return [
        Layer(str(home / ".dogent" / "web.json"), search, broken),
        Layer(str(workspace / ".dogent" / "dogent.json"), kept, also_broken),
    ]


def from_profiles(path: Path) -> Layer:
    """The named search profiles of `web.json`."""
    values, warnings = read_json(path)
    profiles = values.get("profiles", {})
    if not isinstance(profiles, dict):
        return Layer(str(path), {}, (*warnings, f"{path}: 'profiles' is not an object; it is ignored"))
    return Layer(str(path), {"search": {"profiles": profiles}} if profiles else {}, warnings)


def from_keys(path: Path) -> Layer:
    """The keys file: provider name to its key, or to an object of credentials."""
    values, warnings = read_json(path)
    if values and path.stat().st_mode & 0o077:
        warnings = (*warnings, f"{path} can be read by others; run: chmod 600 {path}")
    providers = {name: key if isinstance(key, dict) else {"api_key": key} for name, key in values.items()}
    return Layer(str(path), {"search": {"providers": providers}} if providers else {}, warnings)


def read_json(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The JSON object in a file and what is wrong with it; both empty when there is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, ()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return {}, (f"{path} is ignored: {reason}",)
    if not isinstance(values, dict):
        return {}, (f"{path} is ignored: it must hold a JSON object",)
    return values, ()


def leaves(values: Mapping[str, Any], above: Place = ()) -> list[tuple[Place, Any]]:
    """Every value with its place, a tuple of names from the top."""
    found: list[tuple[Place, Any]] = []
    for name, value in values.items():
        place = (*above, name)
        found += leaves(value, place) if isinstance(value, Mapping) and value else [(place, value)]
    return found


def put(values: dict[str, Any], place: Place, value: Any) -> None:
    """Sets the value at a place in a nested dictionary."""
    *above, last = place
    for part in above:
        values = values.setdefault(part, {})
        if not isinstance(values, dict):
            raise InvalidInput(f"setting {'.'.join(place)!r}: {part!r} already has a plain value")
    values[last] = value


def typed(text: str, model: type[BaseModel], place: Place) -> Any:
    """The text of an environment variable or flag in the shape that its field has."""
    wanted = _annotation(model, place)
    if text.lstrip().startswith(("[", "{")) and wanted is not str:
        try:
            return json.loads(text)
        except ValueError as error:
            raise InvalidInput(f"setting {'.'.join(place)!r} is not valid JSON: {error}") from None
    if get_origin(wanted) is list:
        return [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return text


def _annotation(model: Any, place: Place) -> Any:
    for part in place:
        fields = getattr(model, "model_fields", {})
        if part not in fields:
            return None
        model = fields[part].annotation
    return model
