"""Lays the settings' places over one another and remembers where each value came from.

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

from outrider.core.errors import InvalidInput
from outrider.search.placeholder import is_placeholder
from outrider.settings import layers
from outrider.settings.layers import SettingPath, SettingsLayer, flatten_values
from outrider.settings.model import Settings

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
        origins: Where each value was set; what is missing here is a default.
        warnings: What was ignored, and why.
        environ: The environment that was read; providers find their keys there.
        workspace: The working directory: what is relative starts from here.
    """

    settings: Settings
    origins: dict[SettingPath, str]
    warnings: tuple[str, ...]
    environ: Mapping[str, str]
    workspace: Path = field(default_factory=Path.cwd)

    def list_rows(self) -> list[tuple[str, str, str]]:
        """(name, value, origin) of every effective value, secrets masked."""
        values = flatten_values(self.settings.model_dump(mode="json"))
        return [(".".join(place), _mask_value(place, value), self._find_origin(place)) for place, value in values]

    def _find_origin(self, place: SettingPath) -> str:
        above = (place[:end] for end in range(len(place), 0, -1))
        return next((self.origins[each] for each in above if each in self.origins), "default")


def load(
    flags: Mapping[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
    workspace: Path | None = None,
) -> LoadedSettings:
    """Reads every place and validates the sum.

    Args:
        flags: Nested values that win over everything, for instance from the command line.
        environ: The environment; the process's own by default.
        home: The user's home directory.
        workspace: The directory whose `.outrider/settings.json` is read.

    Raises:
        InvalidInput: a value is wrong or a field unknown; the message names the field and its origin.
    """
    environ = os.environ if environ is None else environ
    home, workspace = home or Path.home(), workspace or Path.cwd()
    merged: dict[str, Any] = {"data_dir": home / ".outrider"}
    origins: dict[SettingPath, str] = {}
    read = _load_layers(dict(flags or {}), environ, home, workspace)
    for layer in read:
        _apply_layer(layer, merged, origins)
    warnings = tuple(warning for layer in read for warning in layer.warnings)
    return LoadedSettings(_validate_settings(merged, origins), origins, warnings, environ, workspace)


def create_profile_template(home: Path | None = None) -> None:
    """Creates `~/.outrider/web.json` with profiles to fill in; never overwrites, never fails."""
    path = (home or Path.home()) / ".outrider" / "web.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _create_private_file(path, json.dumps(PROFILE_TEMPLATE, indent=2))
    except FileExistsError:
        return
    except OSError as error:
        log.info("%s was not created: %s", path, error.strerror)


def _create_private_file(path: Path, text: str) -> None:
    """A new file that nobody else may read. Half of one would be broken for ever, so a failure leaves none."""
    with path.open("x", encoding="utf-8") as file:
        try:
            path.chmod(0o600)
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise


def _load_layers(flags: dict[str, Any], environ: Mapping[str, str], home: Path, workspace: Path) -> list[SettingsLayer]:
    """Weakest first."""
    ours = home / ".outrider"
    at_home = workspace.resolve() == home.resolve()
    return [
        *layers.load_dogent(home, workspace),
        layers.load_profiles(ours / "web.json"),
        layers.load_keys(ours / "keys.json"),
        layers.load_servers(ours / "mcp.json"),
        layers.load_file(ours / "settings.json"),
        *([] if at_home else [layers.load_workspace_file(workspace / ".outrider" / "settings.json")]),
        layers.load_environment(environ, Settings),
        SettingsLayer("command line", flags),
    ]


def _apply_layer(layer: SettingsLayer, merged: dict[str, Any], origins: dict[SettingPath, str]) -> None:
    """Lays one layer over the weaker ones."""
    for place, value in flatten_values(layer.values):
        if place[:2] in CREDENTIAL_SECTIONS and is_placeholder(value) and place in origins:
            continue  # a template that nobody filled in does not hide a real value
        below = _get_value(merged, place) if place in layer.extended_lists else None
        try:
            layers.set_value(merged, place, value if below is None else _merge_lists(below, value))
        except InvalidInput as error:
            raise InvalidInput(f"{layer.origin}: {error.message}", code="bad_settings") from None
        origins[place] = layer.origin if below is None else f"{origins[place]} and {layer.origin}"


def _get_value(values: Any, place: SettingPath) -> Any:
    for part in place:
        values = values.get(part) if isinstance(values, dict) else None
    return values


def _merge_lists(below: Any, value: Any) -> Any:
    """Both lists as one; what is none of them stays, for validation to refuse."""
    if not isinstance(below, list):
        return below
    return [*below, *(each for each in value if each not in below)] if isinstance(value, list) else value


def _validate_settings(merged: dict[str, Any], origins: Mapping[SettingPath, str]) -> Settings:
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        problems = [
            _describe_problem(dict(each), origins) for each in error.errors(include_url=False, include_input=False)
        ]
    raise InvalidInput(
        "settings: " + "; ".join(problems), code="bad_settings", hint="`outrider config schema` lists every setting"
    )


def _describe_problem(error: dict[str, Any], origins: Mapping[SettingPath, str]) -> str:
    """One wrong setting with its place; the value itself may be a secret and is not repeated."""
    location = tuple(str(part) for part in error["loc"])
    name = ".".join(location)
    above = [location[:end] for end in range(len(location), 0, -1)]
    below = [place for place in origins if place[: len(location)] == location]
    origin = next((origins[place] for place in (*above, *below) if place in origins), "")
    where = f" (from {origin})" if origin else ""
    if error["type"] == "extra_forbidden":
        return f"no setting {name!r}{where}{_suggest_setting(error['loc'])}"
    return f"{name}: {error['msg'].removeprefix('Value error, ')}{where}"


def _suggest_setting(location: tuple[Any, ...]) -> str:
    section: Any = Settings
    for part in location[:-1]:
        # What stands in an object by name (profiles, servers) has one shape, whatever the name.
        fields = getattr(section, "model_fields", None)
        section = fields[part].annotation if fields and part in fields else next(iter(get_args(section)[1:]), None)
    if not (isinstance(section, type) and issubclass(section, BaseModel)):
        return ""
    close = get_close_matches(str(location[-1]), section.model_fields, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _mask_value(place: SettingPath, value: Any) -> str:
    if value and _is_secret(place):
        return SECRET_MASK
    return URL_SECRET.sub(SECRET_MASK, json.dumps(value, ensure_ascii=False, default=str))


def _is_secret(place: SettingPath) -> bool:
    # What stands beside credentials and is none; all else there may be one (a plugin's provider knows names we do not).
    public_fields = frozenset({"provider", "endpoint", "timeout_s", "user_agent", "rate", "cse_id"})
    # Of another MCP server what it is given: any of it may be a key.
    server_secrets = frozenset({"env", "headers", "args"})
    secret_words = frozenset({"key", "token", "secret", "password", "credential"})
    if place[:2] in CREDENTIAL_SECTIONS:
        return len(place) != 4 or place[-1] not in public_fields
    if place[0] == "mcpServers":
        return len(place) > 2 and place[2] in server_secrets
    return not secret_words.isdisjoint(word for part in place for word in re.split("[^a-z]+", part.lower()))
