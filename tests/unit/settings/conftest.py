"""A home and a separate workspace, and functions that write settings into them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from outrider.settings import LoadedSettings, load

Write = Callable[[str, Any], Path]
Read = Callable[..., LoadedSettings]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def writer(folder: Path) -> Write:
    def write(name: str, content: Any) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        path.chmod(0o600)
        return path

    return write


@pytest.fixture
def write_in_home(home: Path) -> Write:
    """Write a file below the home directory: text unchanged, other values as JSON."""
    return writer(home)


@pytest.fixture
def write_in_workspace(workspace: Path) -> Write:
    """Write a file below the workspace."""
    return writer(workspace)


@pytest.fixture
def read(home: Path, workspace: Path) -> Read:
    """Load the settings of this home and workspace with the given environment and flags."""

    def loaded(environ: Mapping[str, str] | None = None, **flags: Any) -> LoadedSettings:
        return load(flags, environ=environ or {}, home=home, workspace=workspace)

    return loaded
