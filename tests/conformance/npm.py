"""Third-party clients in the exact versions of package-lock.json, installed once into .cache/npm."""

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

CONFORMANCE_FOLDER = Path(__file__).parent
NPM_FOLDER = CONFORMANCE_FOLDER.parents[1] / ".cache" / "npm"
PACKAGE_FILES = ("package.json", "package-lock.json")


class NpmMissingError(Exception):
    """npm is not on this machine."""


def install_packages() -> Path:
    """Return the folder whose `node_modules` has the clients; install them if necessary.

    Raises:
        NpmMissingError: npm is not on this machine.
        subprocess.CalledProcessError: npm could not install; its words are on stderr.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NpmMissingError("npm is not installed (apt-get install npm)")
    wanted = [(CONFORMANCE_FOLDER / name).read_text() for name in PACKAGE_FILES]
    with hold_install_lock():
        done = NPM_FOLDER / "node_modules" / ".installed"
        if not done.exists() or done.read_text() != "".join(wanted):
            for name, text in zip(PACKAGE_FILES, wanted, strict=True):
                (NPM_FOLDER / name).write_text(text)
            flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
            subprocess.run([npm, "ci", *flags], cwd=NPM_FOLDER, check=True, stdout=sys.stderr)
            done.write_text("".join(wanted))
    return NPM_FOLDER


@contextmanager
def hold_install_lock() -> Generator[None]:
    """Let one process install at a time; others wait, and then find everything installed."""
    NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    with (NPM_FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def find_node(folder: Path) -> str:
    """The Node that the clients need: the newest release, regardless of the machine's."""
    binaries = sorted(folder.glob("node_modules/node-*-*/bin/node"))
    return str(binaries[0]) if binaries else "node"


if __name__ == "__main__":  # before other processes wait for it
    try:
        install_packages()
    except NpmMissingError:
        sys.exit(0)
