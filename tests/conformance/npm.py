"""The clients of other people, in the exact versions of package-lock.json, installed once into .cache/npm."""

import shutil
import subprocess
import sys
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
    done = FOLDER / "node_modules" / ".installed"
    if not done.exists() or done.read_text() != "".join(wanted):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, text in zip(LISTS, wanted, strict=True):
            (FOLDER / name).write_text(text)
        flags = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        subprocess.run([npm, "ci", *flags], cwd=FOLDER, check=True, stdout=sys.stderr)
        done.write_text("".join(wanted))
    return FOLDER


def node(folder: Path) -> str:
    """The Node that the clients need: the newest kind, whichever the machine has."""
    binaries = sorted(folder.glob("node_modules/node-*-*/bin/node"))
    return str(binaries[0]) if binaries else "node"
