"""The process limit also works if the kernel counts threads that the server cannot see."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from outrider.workspace.sandbox.job import IsolationLevel
from outrider.workspace.sandbox.launcher_backends import find_unused_uid
from outrider.workspace.sandbox.seccomp import is_supported
from support.processes.sandboxes import open_sandbox, open_workspace

pytestmark = [
    pytest.mark.skipif(not is_supported(), reason="there are sandboxes for Linux on x86-64 and ARM alone"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can start another PID namespace and another user"),
    pytest.mark.skipif(not shutil.which("unshare"), reason="needs unshare: apt-get install util-linux"),
]
READ_ALL = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
THREADS = """
import threading
for _ in range(200):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
print("started", flush=True)
input()
"""
SERVER = """
import anyio, sys
from pathlib import Path
from outrider.workspace.sandbox.job import Job, ResourceLimits
from outrider.workspace.sandbox.sandbox import Sandbox
from outrider.workspace.sandbox.settings import CodeSettings

async def main(level, folder, command):
    sandbox = Sandbox(CodeSettings(isolation=level))
    job = Job(Path(folder), lambda _: ["/bin/sh", "-c", command], limits=ResourceLimits(processes=30))
    running = await sandbox.start(job)
    await running.communicate(60)
    print(running.stdout.text.split()[-1:], running.stderr.text)

anyio.run(main, *sys.argv[1:])
"""
START_CHILDREN = "for n in $(seq 300); do sleep 60 & echo $n; done"


def build_user_command(uid: int, *options: str) -> list[str]:
    """Return the start of a command that runs as a user who can read the interpreter of the tests."""
    return ["setpriv", f"--reuid={uid}", "--clear-groups", *options]


@contextmanager
def run_threads_of(uid: int) -> Generator[None]:
    """Run 200 threads of a user, like another container with the same users."""
    command = [*build_user_command(uid, *READ_ALL), sys.executable, "-I", "-S", "-c", THREADS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as neighbour:
        assert neighbour.stdout
        assert neighbour.stdout.readline() == "started\n"
        yield
        neighbour.kill()


def count_children(level: IsolationLevel, uid: int, directory: Path) -> int:
    """Return how many processes code can start, run by a server in a PID namespace of its own."""
    namespace = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    user = build_user_command(uid, *READ_ALL) if uid else []
    command = [*namespace, *user, sys.executable, "-c", SERVER, level, str(directory), START_CHILDREN]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if ended.stderr.startswith("unshare:"):
        pytest.skip(f"this machine forbids namespaces: {ended.stderr}")
    found = re.match(r"\['(\d+)'\] .*[Ff]ork", ended.stdout)
    assert found, ended.stdout + ended.stderr
    return int(found[1])


@pytest.mark.parametrize(("level", "server"), [("namespaces", "root"), ("landlock", "root"), ("landlock", "user")])
async def test_threads_of_another_container_do_not_reduce_the_limit(level: IsolationLevel, server: str):
    async with open_sandbox(level) as sandbox:
        with open_workspace(sandbox) as box:
            code_uid = find_unused_uid(box.directory) or 0
            os.chown(box.directory, code_uid, code_uid)
            with run_threads_of(code_uid):
                count = count_children(level, code_uid if server == "user" else 0, box.directory)
    assert 20 < count < 45
