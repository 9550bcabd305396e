"""Entries for the MCP registry, Claude Desktop and Docker's catalog."""

import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import yaml

from release.package_metadata import get_server_name

ROOT = Path(__file__).parents[1]
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
# The registry takes at most 100 characters.
DESCRIPTION = "Search the web, read pages and documents, and drive a real browser."
# Claude Desktop starts this with its own uv, which installs the package that pyproject.toml of the bundle names.
BUNDLE_START = "from outrider.__main__ import main\n\nmain()\n"


def read_project() -> dict[str, Any]:
    """Read the project's table, the only place that names the version of a release."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def describe_server(repository: str) -> dict[str, Any]:
    """Describe the server as `server.json` of the MCP registry."""
    version = read_project()["version"]
    return {
        "$schema": SERVER_SCHEMA,
        "name": get_server_name(repository),
        "title": "Outrider",
        "description": DESCRIPTION,
        "version": version,
        "repository": {"url": f"https://github.com/{repository}", "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "outrider",
                "version": version,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            }
        ],
    }


def describe_bundle(repository: str) -> dict[str, Any]:
    """Describe the bundle as its `manifest.json`, for hosts that install packages with uv."""
    project = read_project()
    return {
        "manifest_version": "0.4",
        "name": "outrider",
        "display_name": "Outrider",
        "version": project["version"],
        "description": DESCRIPTION,
        "author": {"name": "The Outrider authors", "url": f"https://github.com/{repository}"},
        "repository": {"type": "git", "url": f"https://github.com/{repository}.git"},
        "support": f"https://github.com/{repository}/issues",
        "license": "Apache-2.0",
        "keywords": project["keywords"],
        "tools_generated": True,
        "server": {
            "type": "uv",
            "entry_point": "server.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "server.py", "mcp"],
            },
        },
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project["requires-python"]},
        },
    }


def write_bundle(repository: str, folder: Path) -> Path:
    """Write the bundle for Claude Desktop; without dependencies, it fits every system."""
    project = read_project()
    version = project["version"]
    environment = (
        f'[project]\nname = "outrider-bundle"\nversion = "{version}"\n'
        f'requires-python = "{project["requires-python"]}"\ndependencies = ["outrider=={version}"]\n'
    )
    files = {
        "manifest.json": json.dumps(describe_bundle(repository), indent=2) + "\n",
        "pyproject.toml": environment,
        "server.py": BUNDLE_START,
        "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
    }
    path = folder / f"outrider-{version}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, text in files.items():
            # With the current date, two bundles of one version would differ.
            bundle.writestr(zipfile.ZipInfo(name), text)
    return path


def describe_catalog_entry(repository: str, commit: str) -> dict[str, Any]:
    """Describe the image as `servers/outrider/server.yaml` of Docker's MCP registry."""
    return {
        "name": "outrider",
        "image": "mcp/outrider",
        "type": "server",
        # The set of tools depends on the settings.
        "dynamic": {"tools": True},
        "meta": {"category": "search", "tags": ["search", "browser", "documents", "web"]},
        "about": {"title": "Outrider", "description": DESCRIPTION},
        "source": {
            "project": f"https://github.com/{repository}",
            "commit": commit,
            "dockerfile": "deploy/Containerfile",
        },
        "run": {"command": ["mcp", "--no-daemon"], "volumes": ["outrider-data:/data"]},
    }


def write_manifests(repository: str, commit: str, folder: Path) -> list[Path]:
    """Write all entries into a folder and return their paths."""
    server = folder / "server.json"
    entry = folder / "docker" / "servers" / "outrider" / "server.yaml"
    entry.parent.mkdir(parents=True, exist_ok=True)
    server.write_text(json.dumps(describe_server(repository), indent=2) + "\n", encoding="utf-8")
    entry.write_text(yaml.safe_dump(describe_catalog_entry(repository, commit), sort_keys=False), encoding="utf-8")
    return [server, write_bundle(repository, folder), entry]
