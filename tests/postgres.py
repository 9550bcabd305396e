"""A Postgres server of a test's own, on a socket in a folder. It will not run as root; then `nobody` runs it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0  # seconds


def found() -> Path | None:
    """The folder of the server's programs, if it is installed."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    here = shutil.which("initdb")
    return installed[-1].parent if installed else Path(here).resolve().parent if here else None


@contextmanager
def running(programs: Path) -> Generator[str]:
    """A new server; yields the address of its empty database."""
    folder = Path(tempfile.mkdtemp(prefix="outrider-pg-"))
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        owner = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    data = folder / "data"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **owner}
    subprocess.run(
        [programs / "initdb", "-D", data, "-A", "trust", "-U", "outrider", "-E", "UTF8", "--locale=C", "--no-sync"],
        check=True,
        **quiet,
    )
    server = subprocess.Popen([programs / "postgres", "-D", data, "-k", folder, "-h", "", "-F"], **quiet)
    try:
        end = time.monotonic() + PATIENCE
        ready = [programs / "pg_isready", "-h", folder, "-q"]
        while subprocess.run(ready, check=False).returncode != 0:
            assert time.monotonic() < end
        yield f"postgresql+psycopg://outrider@/postgres?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)  # SIGTERM would wait for every client to leave
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)
