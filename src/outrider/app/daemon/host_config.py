"""The configuration of one host.

It is independent of the daemon's own directory and environment.
"""

import os
import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from outrider.agents.models.provider_registry import load_providers as load_model_providers
from outrider.search.selection import load_providers as load_search_providers
from outrider.settings import LoadedSettings, Settings
from outrider.settings.layers import FLOW_VARIABLE_PREFIX, flatten_values

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class HostConfig:
    """The configuration of a host.

    Attributes:
        loaded: Its settings.
        name: The server's name in the client.
        session: The default session of its calls; empty if the host chose none.
        joins: Whether it shares the session of its directory's host, and leaves it open.
    """

    loaded: LoadedSettings
    name: str
    session: str
    joins: bool = False


@contextmanager
def change_directory(folder: str) -> Generator[None]:
    """Change into the host's directory while its settings are read; nothing else may run in the meantime."""
    try:
        before = Path.cwd()
    except FileNotFoundError:
        before = Path("/")
    try:
        os.chdir(folder)
    except OSError:  # it was removed or is not readable, so that no setting can be relative to it
        yield
        return
    try:
        yield
    finally:
        os.chdir(before)


def resolve_paths(loaded: LoadedSettings) -> LoadedSettings:
    """Return the settings with absolute paths, and the environment they read."""
    folder, settings = loaded.workspace, loaded.settings
    executable, storage = settings.browser.executable, settings.artifacts.storage
    if os.sep in executable:
        executable = str(folder / Path(executable).expanduser())
    if storage and "://" not in storage:
        storage = str(folder / Path(storage).expanduser())
    database = settings.database
    scheme, separator, path = database.partition(":///")
    if separator and path and scheme.startswith("sqlite") and not path.startswith((":", "file:")):
        database = f"{scheme}:///{folder / path}"
    resolved = settings.model_copy(
        update={
            "data_dir": folder / settings.data_dir,
            "database": database,
            "browser": settings.browser.model_copy(update={"executable": executable}),
            "artifacts": settings.artifacts.model_copy(update={"storage": storage}),
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
    return replace(loaded, settings=resolved, environ=select_environment(loaded.environ, settings))


def select_environment(environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the variables for the settings, keys of known providers, and flows' secrets."""
    # A program that we start, or a cloud's storage, may read any variable.
    if settings.search.agent_browser.command or "://" in settings.artifacts.storage:
        return dict(environ)
    names = {word for _, value in flatten_values(settings.model_dump(mode="json")) for word in _iter_words(value)}
    names |= {name for provider in load_model_providers().values() for name in provider.env}
    credentials = (each for provider in load_search_providers().values() for each in provider.credentials)
    names |= {name for credential in credentials for name in credential.env}
    return {name: environ[name] for name in environ if name in names or name.startswith(FLOW_VARIABLE_PREFIX)}


def _iter_words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from VARIABLE_NAME.findall(value)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _iter_words(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _iter_words(each)
