"""The list of all sessions' workspaces."""

import os
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from outrider.workspace import SessionWorkspaces
from outrider.workspace.settings import WorkspaceSettings


@pytest.fixture
def workspaces(tmp_path: Path) -> SessionWorkspaces:
    return SessionWorkspaces(tmp_path / "workspaces", WorkspaceSettings())


def use_workspace(workspaces: SessionWorkspaces, session: str, at: float) -> str:
    """Create a workspace with this time of last use; return its key."""
    found = workspaces.ensure_workspace(Call(session=session))
    os.utime(found.root / "used", (at, at))
    return found.key


def test_workspaces_are_listed_in_parts_the_last_used_first(workspaces: SessionWorkspaces):
    keys = [use_workspace(workspaces, name, at) for name, at in (("a", 10.0), ("b", 30.0), ("c", 20.0))]
    first = workspaces.list_recent(limit=2)
    assert [each.key for each in first.items] == [keys[1], keys[2]]
    assert [each.key for each in workspaces.list_recent(limit=2, after=first.after).items] == [keys[0]]
    assert [each.key for each in workspaces.list_recent(keys={keys[0]}).items] == [keys[0]]
    with pytest.raises(InvalidInput):
        workspaces.list_recent(after="here")


def test_a_workspace_is_found_by_its_key_and_by_nothing_else(workspaces: SessionWorkspaces):
    key = use_workspace(workspaces, "a", 10.0)
    (workspaces.folder / "other").mkdir()
    assert workspaces.get_by_key(key).key == key
    for wrong in ("other", "..", f"{key}/files", "0" * 32, ""):
        with pytest.raises(NotFound):
            workspaces.get_by_key(wrong)
    assert [each.key for each in workspaces.list_recent().items] == [key]


def test_without_used_workspaces_the_list_is_empty(workspaces: SessionWorkspaces):
    assert workspaces.list_recent().items == []
