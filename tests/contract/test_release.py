"""A release describes itself to PyPI, the MCP registry, Claude Desktop and Docker's catalog."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import anyio
import pytest
import yaml
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from release import site
from release.recording import COLUMNS, COMMANDS, RecordedCommand, draw_terminal

from outrider import __version__
from support.checkout import CHECKOUT
from support.timeouts import PROCESS_TIMEOUT_S

REPOSITORY = "example/outrider"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def read_metadata(repository: str) -> dict[str, Any]:
    """The package's metadata when it is built for a repository."""
    command = [sys.executable, "-m", "hatchling", "metadata"]
    environment = os.environ | {"GITHUB_REPOSITORY": repository}
    return json.loads(subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, check=True).stdout)


def write_manifests(folder: Path) -> None:
    command = [sys.executable, "-m", "release", REPOSITORY, COMMIT, str(folder)]
    subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True)


def test_links_of_the_readme_work_on_the_package_index():
    released, local = read_metadata(REPOSITORY), read_metadata("")
    targets = re.findall(r"\]\(([^)]+)\)", released["readme"]["text"])
    here = f"https://github.com/{REPOSITORY}/blob/v{__version__}/"
    assert f"{here}docs/guides/hosts.md" in targets
    assert all(target.startswith("https://") for target in targets)
    assert all((CHECKOUT / target.removeprefix(here)).exists() for target in targets if target.startswith(here))
    assert released["urls"]["Repository"] == f"https://github.com/{REPOSITORY}"
    assert not re.search(r"\]\((?!https://)", local["readme"]["text"])
    assert "urls" not in local


def test_the_registry_finds_its_name_in_the_published_text(tmp_path: Path):
    write_manifests(tmp_path)
    server = json.loads((tmp_path / "server.json").read_text())
    assert f"mcp-name: {server['name']} " in read_metadata(REPOSITORY)["readme"]["text"]
    assert server["name"] == "io.github.example/outrider"
    assert len(server["description"]) <= 100
    assert [server["version"], server["packages"][0]["version"]] == [__version__] * 2


@pytest.mark.nightly
def test_the_bundle_starts_the_server_of_its_version(tmp_path: Path):
    write_manifests(tmp_path)
    with zipfile.ZipFile(tmp_path / f"outrider-{__version__}.mcpb") as archive:
        archive.extractall(tmp_path / "bundle")
    manifest = json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    project = tomllib.loads((tmp_path / "bundle" / "pyproject.toml").read_text())["project"]
    assert manifest["version"] == __version__
    assert project["dependencies"] == [f"outrider=={__version__}"]
    program, *arguments = manifest["server"]["mcp_config"]["args"][3:]
    assert program == manifest["server"]["entry_point"]

    async def list_tools() -> list[str]:
        server = StdioServerParameters(
            command=sys.executable,
            args=[program, *arguments, "--no-daemon"],
            cwd=tmp_path / "bundle",
            env={"HOME": str(tmp_path)},
        )
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            async with Client(stdio_client(server)) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

    assert "web_search" in anyio.run(list_tools)


def test_the_catalog_builds_the_image_from_this_commit(tmp_path: Path):
    write_manifests(tmp_path)
    entry = yaml.safe_load((tmp_path / "docker" / "servers" / "outrider" / "server.yaml").read_text())
    # The checks of docker/mcp-registry, cmd/validate: the folder's name, a commit, a category, a title in capitals.
    assert set(entry) == {"name", "image", "type", "dynamic", "meta", "about", "source", "run"}
    assert re.fullmatch(r"[a-z0-9-]+", entry["name"])
    assert entry["source"]["commit"] == COMMIT
    assert entry["about"]["title"][0].isupper()
    assert not re.search("mcp|server", entry["about"]["title"], re.IGNORECASE)
    assert (CHECKOUT / entry["source"]["dockerfile"]).is_file()
    assert entry["type"] == "server"


def test_a_release_without_an_address_names_the_missing_setting():
    command = [sys.executable, "-m", "release", "", COMMIT]
    refused = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "REPOSITORY=owner/name" in refused.stderr


def test_each_page_of_the_site_has_a_markdown_version(tmp_path: Path):
    site.gather_pages(tmp_path, REPOSITORY)
    site.write_twins(tmp_path, tmp_path / "site")
    index = (tmp_path / "site" / "llms.txt").read_text()
    listed = re.findall(r"^- \[.+\]\((.+\.md)\): .+", index, re.MULTILINE)
    pages = [page.relative_to(CHECKOUT / "docs").as_posix() for page in (CHECKOUT / "docs").rglob("*.md")]
    assert set(listed) == {*pages, "changelog.md", "contributing.md", "security.md"}
    for name in listed:
        page = tmp_path / "site" / name
        targets = re.findall(r"\]\((?!https?://|#|mailto:)([^)#\s]+)", page.read_text())
        there = (page.parent, (tmp_path / "docs" / name).parent)  # the generator copies the pictures
        assert [target for target in targets if not any((folder / target).exists() for folder in there)] == [], name


def test_the_terminal_recording_shows_real_command_output():
    printed = RecordedCommand("outrider fetch x", "<b>\x1b[1m &amp; " + "x" * COLUMNS + "\n\nend")
    kept = (CHECKOUT / "docs" / "images" / "terminal.svg").read_text()
    drawn, recorded = (
        [element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
        for svg in (draw_terminal([printed]), kept)
    )
    assert drawn[0] == "$ outrider fetch x"
    assert "".join(drawn[1:3]) == printed.output.partition("\n")[0].replace("\x1b", " ")
    assert drawn[-1] == "end"
    assert [line for line in recorded if line.startswith("$ ")] == [f"$ {command}" for command in COMMANDS]
    assert max(map(len, drawn)) == COLUMNS
