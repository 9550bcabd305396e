"""The workspaces of all sessions as a list."""

import os
from pathlib import Path

import pytest

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from outrider.workspace import Workspaces
from outrider.workspace.settings import WorkspaceSettings


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces(tmp_path / "workspaces", WorkspaceSettings())


def used(workspaces: Workspaces, session: str, at: float) -> str:
    """A workspace that was last used then; its key."""
    found = workspaces.of(Call(session=session))
    os.utime(found.place / "used", (at, at))
    return found.key


def test_workspaces_are_listed_in_parts_the_last_used_first(workspaces: Workspaces):
    keys = [used(workspaces, name, at) for name, at in (("a", 10.0), ("b", 30.0), ("c", 20.0))]
    first = workspaces.listed(limit=2)
    assert [each.key for each in first.items] == [keys[1], keys[2]]
    assert [each.key for each in workspaces.listed(limit=2, after=first.after).items] == [keys[0]]
    assert [each.key for each in workspaces.listed(keys={keys[0]}).items] == [keys[0]]
    with pytest.raises(InvalidInput):
        workspaces.listed(after="here")


def test_a_workspace_is_found_by_its_key_and_by_nothing_else(workspaces: Workspaces):
    key = used(workspaces, "a", 10.0)
    (workspaces.folder / "other").mkdir()
    assert workspaces.at(key).key == key
    for wrong in ("other", "..", f"{key}/files", "0" * 32, ""):
        with pytest.raises(NotFound):
            workspaces.at(wrong)
    assert [each.key for each in workspaces.listed().items] == [key]


def test_where_nothing_was_used_there_is_nothing_to_list(workspaces: Workspaces):
    assert workspaces.listed().items == []
