"""The best sandbox is chosen, and a missing one is explained."""

import json
import os
import stat
import sys
from pathlib import Path

import pytest

from outrider.core.errors import NotConfigured
from outrider.workspace.changes import FileChange, diff_snapshots, take_snapshot
from outrider.workspace.sandbox.bubblewrap import BubblewrapBackend
from outrider.workspace.sandbox.cgroup import Cgroup, find_parent_group
from outrider.workspace.sandbox.interpreters import find_deno, find_python
from outrider.workspace.sandbox.job import Job, ResourceLimits
from outrider.workspace.sandbox.launcher_backends import SANDBOX_UIDS, LandlockBackend, chown_tree, find_unused_uid
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.seccomp import is_supported
from outrider.workspace.sandbox.settings import CodeSettings
from support.processes.sandboxes import open_sandbox, open_workspace, skip_level

linux = pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who alone can become another user")


@linux
async def test_an_isolation_that_does_not_work_is_skipped_with_its_reason(tmp_path: Path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    landlock = LandlockBackend()
    if landlock.describe_missing():
        skip_level("landlock", landlock.describe_missing())
    found = await Sandbox(CodeSettings(), backends=[BubblewrapBackend(str(broken)), landlock]).detect_isolation()
    assert found.level == "landlock"
    assert found.reasons == {"namespaces": "No permissions to create new namespace"}


@linux
async def test_if_no_isolation_works_the_error_gives_the_reason_and_the_remedy(tmp_path: Path):
    sandbox = Sandbox(CodeSettings(), backends=[BubblewrapBackend(str(tmp_path / "bwrap"))])
    with pytest.raises(NotConfigured) as caught:
        await sandbox.start(Job(tmp_path, lambda _: ["true"]))
    assert caught.value.code == "no_isolation"
    assert caught.value.hint.startswith("the operator must install bubblewrap")
    assert "`code.isolation` to none" in caught.value.hint


@linux
@as_root
async def test_root_is_told_to_move_workspaces_that_landlock_cannot_enter(tmp_path: Path):
    (tmp_path / "closed").mkdir(mode=0o700)
    directory = tmp_path / "closed" / "workspace"
    directory.mkdir()
    async with open_sandbox("landlock") as sandbox:
        with pytest.raises(NotConfigured, match="cannot enter") as caught:
            await sandbox.start(Job(directory, lambda _: ["true"]))
    assert "data_dir" in caught.value.hint


@linux
@as_root
async def test_namespaces_can_use_folders_that_only_root_can_enter(tmp_path: Path):
    directory = tmp_path / "closed" / "workspace"
    directory.mkdir(parents=True)
    directory.parent.chmod(0o700)
    async with open_sandbox("namespaces") as sandbox:
        running = await sandbox.start(Job(directory, lambda _: ["/bin/sh", "-c", "echo x > made; cat made"]))
        await running.communicate(60)
    assert running.stdout.text == "x\n"
    assert (directory / "made").stat().st_uid in SANDBOX_UIDS


@as_root
def test_each_workspace_has_its_own_unused_user_id(tmp_path: Path):
    import pwd

    found = {find_unused_uid(tmp_path / str(number)) for number in range(20)}
    assert len(found) > 15
    assert not found & {entry.pw_uid for entry in pwd.getpwall()}
    assert find_unused_uid(tmp_path) == find_unused_uid(tmp_path)


@as_root
def test_handing_over_a_workspace_leaves_linked_files_outside_alone(tmp_path: Path):
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    inside.mkdir()
    outside.write_text("x")
    (inside / "link").symlink_to(outside)
    os.link(outside, inside / "hard")
    (inside / "deep").mkdir()
    (inside / "deep" / "file").write_text("x")
    chown_tree(inside, 61_200)
    assert outside.stat().st_uid == 0
    assert (inside / "hard").stat().st_uid == 0
    assert {path.lstat().st_uid for path in (inside, inside / "link", inside / "deep" / "file")} == {61_200}


@linux
async def test_the_code_sees_only_its_own_folders(tmp_path: Path):
    async with open_sandbox("namespaces") as sandbox:
        with open_workspace(sandbox) as box:
            found = await box.run_shell("ls /; ls /run/outrider /home 2>&1; id -un; hostname; pwd")
    lines = found.stdout.text.split("\n")
    assert set(lines[: lines.index("workspace") + 1]) <= {
        *("bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "nix", "gnu"),
        *("dev", "etc", "proc", "run", "tmp", "workspace", "root", "opt", "home"),
    }
    assert "sandbox" in lines
    assert lines[-2] == "/workspace"


async def test_an_interpreter_inside_our_data_folder_is_not_used(tmp_path: Path):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho '{json.dumps([sys.executable, *[str(tmp_path)] * 3])}'")
    python.chmod(0o755)
    with pytest.raises(NotConfigured, match="contains Outrider's data"):
        await find_python(str(python), None, tmp_path / "data")


async def test_a_python_that_does_not_start_is_reported(tmp_path: Path):
    with pytest.raises(NotConfigured, match="nowhere"):
        await find_python(str(tmp_path / "nowhere"), None, tmp_path)


def test_a_missing_deno_is_reported(tmp_path: Path):
    with pytest.raises(NotConfigured) as caught:
        find_deno(str(tmp_path / "deno"), None)
    assert caught.value.code == "no_deno"


def test_a_folder_without_cgroup_controllers_is_not_used(tmp_path: Path):
    assert find_parent_group(str(tmp_path)) is None
    (tmp_path / "cgroup.subtree_control").write_text("cpu\n")
    (tmp_path / "cgroup.procs").write_text("")
    assert find_parent_group(str(tmp_path)) is None
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    assert find_parent_group(str(tmp_path)) == tmp_path
    assert Cgroup.create(tmp_path / "missing", ResourceLimits()) is None


def test_changes_are_the_differences_of_two_snapshots(tmp_path: Path):
    for name in ("same", "grows", "goes"):
        (tmp_path / name).write_text("x")
    before = take_snapshot(tmp_path)
    (tmp_path / "grows").write_text("xx")
    (tmp_path / "goes").unlink()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "new").write_text("xyz")
    (tmp_path / ".outrider-partial").write_text("x")
    assert diff_snapshots(before, take_snapshot(tmp_path)) == [
        FileChange("deep/new", "created", 3),
        FileChange("goes", "deleted", 0),
        FileChange("grows", "changed", 2),
    ]


@linux
async def test_files_created_by_the_code_belong_to_the_workspaces_owner(tmp_path: Path):
    async with open_sandbox("namespaces") as sandbox:
        with open_workspace(sandbox) as box:
            await box.run_shell("echo x > made; umask 0; echo y > open; chmod 4755 made || true")
            facts = (box.directory / "made").stat()
            assert facts.st_uid == box.directory.stat().st_uid
            assert not facts.st_mode & (stat.S_ISUID | stat.S_ISGID)
