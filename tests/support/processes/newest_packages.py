"""Separate environments with the newest versions of packages."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
UV = ROOT / ".tools" / "bin" / "uv"
# Read before the fixture that empties the environment, which may name an index and certificates.
INSTALLING = dict(os.environ)


def install(name: str, packages: list[str]) -> Path:
    """Return the interpreter of an environment with the newest versions of only these packages."""
    folder = ROOT / ".cache" / "frameworks" / f"{name.lower().replace(' ', '-')}-{sys.version_info.minor}"
    python = folder / "bin" / "python"
    commands = [
        [str(UV), "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)],
        [str(UV), "pip", "install", "--quiet", "--upgrade", "--python", str(python), *packages],
    ]
    for command in commands:
        subprocess.run(command, env=INSTALLING, check=True)
    return python
