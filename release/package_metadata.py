"""Metadata for the package index: absolute links, addresses, and the name in the MCP registry.

The build names the repository: workflows on GitHub do so in GITHUB_REPOSITORY. Without a repository,
relative links become plain text, because they would lead nowhere on the package index.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\[([^\]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")


def get_server_name(repository: str) -> str:
    """Name the server as the MCP registry does: the owner's namespace on GitHub, then the repository."""
    owner, _, name = repository.partition("/")
    return f"io.github.{owner}/{name}"


def write_index_readme(readme: str, repository: str, version: str) -> str:
    """Make the links of a README work outside the repository.

    Links lead to the tag of this version, so that they show what was released. The registry looks for `mcp-name` in the
    published text before it lists the package under that name.
    """
    if not repository:
        return LINK.sub(r"\1", readme)
    root = f"https://github.com/{repository}/blob/v{version}/"
    return f"<!-- mcp-name: {get_server_name(repository)} -->\n\n" + LINK.sub(rf"[\1]({root}\2)", readme)


def list_addresses(repository: str) -> dict[str, str]:
    """List the addresses that the package index shows next to the text."""
    root = f"https://github.com/{repository}"
    return {
        "Repository": root,
        "Documentation": f"{root}/tree/main/docs",
        "Changelog": f"{root}/blob/main/CHANGELOG.md",
        "Issues": f"{root}/issues",
    }


class PackageMetadataHook(MetadataHookInterface):
    """Fills in the metadata that pyproject.toml leaves to the build."""

    def update(self, metadata: dict[str, Any]) -> None:
        environment: Mapping[str, str] = os.environ
        repository = environment.get("GITHUB_REPOSITORY", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": write_index_readme(text, repository, metadata["version"]),
        }
        metadata["urls"] = list_addresses(repository) if repository else {}
