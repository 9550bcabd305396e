"""The clients of other people, in the exact versions of package-lock.json, installed once into .cache/npm."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".cache" / "npm"
LISTS = ("package.json", "package-lock.json")


class NoNpm(Exception):
    """There is no npm on this machine."""


def installed() -> Path:
    """The folder whose `node_modules` holds the clients, installed now if need be.

    Raises:
        NoNpm: there is no npm.
        subprocess.CalledProcessError: npm could not install; its words are on stderr.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NoNpm("npm is not installed")
    wanted = [(HERE / name).read_text() for name in LISTS]
    with alone():
        done = FOLDER / "node_modules" / ".installed"
        if not done.exists() or done.read_text() != "".join(wanted):
            for name, text in zip(LISTS, wanted, strict=True):
                (FOLDER / name).write_text(text)
            flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            subprocess.run([npm, "ci", *flags], cwd=FOLDER, check=True, stdout=sys.stderr)
            done.write_text("".join(wanted))
    return FOLDER


@contextmanager
def alone() -> Generator[None]:
    """One process at a time: who comes meanwhile waits, and finds everything installed."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def node(folder: Path) -> str:
    """The Node that the clients need: the newest kind, whichever the machine has."""
    binaries = sorted(folder.glob("node_modules/node-*-*/bin/node"))
    return str(binaries[0]) if binaries else "node"


if __name__ == "__main__":  # ahead of those who will wait for it
    try:
        installed()
    except NoNpm:
        sys.exit(0)
