"""Environments of their own with the newest versions of packages."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
UV = ROOT / ".tools" / "bin" / "uv"
# Before the fixture that empties the environment, which may name an index and certificates.
INSTALLING = dict(os.environ)


def install(name: str, packages: list[str]) -> Path:
    """The interpreter of an environment which holds the newest versions of the packages, and nothing of ours."""
    folder = ROOT / ".cache" / "frameworks" / f"{name.lower().replace(' ', '-')}-{sys.version_info.minor}"
    python = folder / "bin" / "python"
    commands = [
        [str(UV), "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(folder)],
        [str(UV), "pip", "install", "--quiet", "--upgrade", "--python", str(python), *packages],
    ]
    for command in commands:
        subprocess.run(command, env=INSTALLING, check=True)
    return python
