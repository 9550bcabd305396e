"""The peers, each as its makers ship it, in exact versions, installed once into .cache/bench."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
FOLDER = ROOT / ".cache" / "bench"
PYTHON = FOLDER / "python"
UV = ROOT / ".tools" / "bin" / "uv"
NPM_LISTS = ("package.json", "package-lock.json")


def python() -> Path:
    """The bin folder of an environment with the peers that are Python."""
    locked = HERE / "peers.txt"
    if not _same(locked, PYTHON / locked.name):
        uv = str(UV) if UV.exists() else "uv"
        subprocess.run([uv, "venv", "-q", "--clear", "--python", sys.executable, PYTHON], check=True)
        sync = [uv, "pip", "sync", "-q", "--python", PYTHON, "--require-hashes", "--compile-bytecode", locked]
        subprocess.run(sync, check=True)
        shutil.copy(locked, PYTHON)
    return PYTHON / "bin"


def node() -> Path | None:
    """The folder of the peers that are Node, or None where there is no npm."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    modules = FOLDER / "node_modules"
    if not all(_same(HERE / name, modules / name) for name in NPM_LISTS):
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name in NPM_LISTS:
            shutil.copy(HERE / name, FOLDER)
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "ci", *flags], cwd=FOLDER, check=True, stdout=sys.stderr)
        for name in NPM_LISTS:
            shutil.copy(HERE / name, modules)
    return modules


def _same(ours: Path, installed: Path) -> bool:
    return installed.exists() and installed.read_bytes() == ours.read_bytes()


def node_command(package: str, script: str) -> list[str] | None:
    """How to start a Node peer; None where there is no npm."""
    modules = node()
    if modules is None:
        return None
    binaries = sorted(modules.glob("node-*-*/bin/node"))
    return [str(binaries[0]) if binaries else "node", str(modules / package / script)]


def outrider(*options: str) -> list[str]:
    """How to start our own server."""
    return [sys.executable, "-m", "outrider", "mcp", "--no-daemon", *options]


def servers() -> dict[str, list[str]]:
    """Every contender's command by its name, as far as it can run here."""
    found = {
        "bare SDK server": [sys.executable, str(HERE / "bare.py")],
        "outrider mcp": outrider(),
        "outrider mcp --toolsets all": outrider("--toolsets", "all"),
        "mcp-server-fetch": [str(python() / "mcp-server-fetch")],
        "@playwright/mcp": node_command("@playwright/mcp", "cli.js"),
        "firecrawl-mcp": node_command("firecrawl-mcp", "dist/index.js"),
    }
    return {name: command for name, command in found.items() if command}
