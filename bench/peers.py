"""Install the peers in exact versions into .cache/bench, once."""

import shutil
import subprocess
import sys
from pathlib import Path

BENCH_FOLDER = Path(__file__).parent
ROOT = BENCH_FOLDER.parent
PEERS_FOLDER = ROOT / ".cache" / "bench"
PYTHON_FOLDER = PEERS_FOLDER / "python"
UV = ROOT / ".tools" / "bin" / "uv"


def install_python_peers() -> Path:
    """Return the bin folder of an environment with the Python peers."""
    locked = BENCH_FOLDER / "peers.txt"
    if not _is_installed(locked, PYTHON_FOLDER / locked.name):
        uv = str(UV) if UV.exists() else "uv"
        subprocess.run([uv, "venv", "-q", "--clear", "--python", sys.executable, PYTHON_FOLDER], check=True)
        sync = [uv, "pip", "sync", "-q", "--python", PYTHON_FOLDER, "--require-hashes", "--compile-bytecode", locked]
        subprocess.run(sync, check=True)
        shutil.copy(locked, PYTHON_FOLDER)
    return PYTHON_FOLDER / "bin"


def install_node_peers() -> Path | None:
    """Return the folder of the Node peers, or None without npm."""
    npm_files = ("package.json", "package-lock.json")
    npm = shutil.which("npm")
    if npm is None:
        return None
    modules = PEERS_FOLDER / "node_modules"
    if not all(_is_installed(BENCH_FOLDER / name, modules / name) for name in npm_files):
        PEERS_FOLDER.mkdir(parents=True, exist_ok=True)
        for name in npm_files:
            shutil.copy(BENCH_FOLDER / name, PEERS_FOLDER)
        flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "ci", *flags], cwd=PEERS_FOLDER, check=True, stdout=sys.stderr)
        for name in npm_files:
            shutil.copy(BENCH_FOLDER / name, modules)
    return modules


def _is_installed(ours: Path, installed: Path) -> bool:
    return installed.exists() and installed.read_bytes() == ours.read_bytes()


def build_node_command(package: str, script: str) -> list[str] | None:
    """Return the command of a Node peer, or None without npm."""
    modules = install_node_peers()
    if modules is None:
        return None
    binaries = sorted(modules.glob("node-*-*/bin/node"))
    return [str(binaries[0]) if binaries else "node", str(modules / package / script)]


def build_outrider_command(*options: str) -> list[str]:
    """Return the command of our own server."""
    return [sys.executable, "-m", "outrider", "mcp", "--no-daemon", *options]


def list_servers() -> dict[str, list[str]]:
    """Return the command of each contender that can run here, by name."""
    found = {
        "bare SDK server": [sys.executable, str(BENCH_FOLDER / "bare_server.py")],
        "outrider mcp": build_outrider_command(),
        "outrider mcp --toolsets all": build_outrider_command("--toolsets", "all"),
        "mcp-server-fetch": [str(install_python_peers() / "mcp-server-fetch")],
        "@playwright/mcp": build_node_command("@playwright/mcp", "cli.js"),
        "firecrawl-mcp": build_node_command("firecrawl-mcp", "dist/index.js"),
    }
    return {name: command for name, command in found.items() if command}
