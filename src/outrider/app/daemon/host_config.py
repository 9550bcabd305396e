"""What one host wants: its settings, its server's name, its session."""

import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from outrider.agents.models.provider_registry import load_providers as models
from outrider.search.selection import load_providers as providers
from outrider.settings import LoadedSettings, Settings
from outrider.settings.layers import flatten_values

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class HostConfig:
    """What a host wants.

    Attributes:
        loaded: Its settings.
        name: The server's name in the client.
        session: The session of calls that name none; empty if the host chose none.
    """

    loaded: LoadedSettings
    name: str
    session: str


@contextmanager
def change_directory(folder: str) -> Generator[None]:
    """For the time of reading settings, what is relative starts where the host is. Nothing else runs meanwhile."""
    try:
        before = Path.cwd()
    except FileNotFoundError:
        before = Path("/")
    try:
        os.chdir(folder)
    except OSError:  # it is gone, or we may not look: nothing relative can be meant
        yield
        return
    try:
        yield
    finally:
        os.chdir(before)


def resolve_paths(loaded: LoadedSettings) -> LoadedSettings:
    """The settings as they are wherever the process stands, with that part of the environment which they read."""
    folder, settings = loaded.workspace, loaded.settings
    found = settings.model_copy(
        update={
            "data_dir": folder / settings.data_dir,
            "database": _resolve_database(settings.database, folder),
            "browser": settings.browser.model_copy(
                update={"executable": _program(settings.browser.executable, folder)}
            ),
            "artifacts": settings.artifacts.model_copy(
                update={"storage": _storage(settings.artifacts.storage, folder)}
            ),
            "content": settings.content.model_copy(
                update={"roots": [str(folder / Path(each).expanduser()) for each in settings.content.roots]}
            ),
            "mcpServers": {
                name: each.model_copy(
                    update={
                        "cwd": each.cwd if each.cwd.startswith("$") else str(folder / each.cwd),
                        "env": ({"PATH": loaded.environ["PATH"]} if "PATH" in loaded.environ else {}) | each.env,
                    }
                )
                for name, each in settings.mcpServers.items()
            },
        }
    )
    return replace(loaded, settings=found, environ=select_environment(loaded.environ, settings))


def select_environment(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """The variables that the settings name, or that keys of known providers may be in."""
    if _reads_all(settings):
        return dict(environ)
    wanted = {word for _, value in flatten_values(settings.model_dump(mode="json")) for word in _iter_words(value)}
    wanted |= {name for each in models().values() for name in each.env}
    wanted |= {name for each in providers().values() for credential in each.credentials for name in credential.env}
    return {name: environ[name] for name in environ if name in wanted}


def _reads_all(settings: Settings) -> bool:
    """Whether something is at work that reads what it likes: a program that we start, or a cloud's storage."""
    program = settings.search.agent_browser
    return bool(program.command or program.auto_install) or "://" in settings.artifacts.storage


def _iter_words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from VARIABLE_NAME.findall(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _iter_words(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _iter_words(each)


def _resolve_database(address: str, folder: Path) -> str:
    sqlite_prefix = "sqlite"
    scheme, separator, path = address.partition(":///")
    if not (separator and scheme.startswith(sqlite_prefix) and path) or path.startswith((":", "file:")):
        return address
    return f"{scheme}:///{folder / path}"


def _storage(place: str, folder: Path) -> str:
    return str(folder / Path(place).expanduser()) if place and "://" not in place else place


def _program(name: str, folder: Path) -> str:
    return str(folder / Path(name).expanduser()) if os.sep in name else name
