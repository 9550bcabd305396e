"""Every toolset has an entry for a host's server registry, and the same description when served alone."""

import json
import os
from pathlib import Path

import anyio
import pytest
from mcp import Client

from outrider.serve.http import build_http_app
from support.apps import loopback_app
from support.fakes import http_servers
from support.processes import outrider_command

pytestmark = pytest.mark.anyio
# The registry entries of the design from which these two servers come.
SEEDED = {
    "web_search_browse": (5, "web_search_&_browse", "ActionGlobeAltIcon", None),
    "run_agent": (1008, "run_agent", "ActionRobotIcon", 600_000),
}


async def test_the_registry_has_an_entry_for_each_toolset(home: Path):
    words = ["tools", "--toolsets", "all", "--servers", "--set", 'tools.stakes={"websearch": "low"}']
    command = outrider_command.build_command(*words)
    done = await anyio.run_process(command, env={"HOME": str(home), "PATH": os.environ["PATH"]}, cwd=home)
    entries = {entry["toolset"]: entry for entry in json.loads(done.stdout)}
    assert set(SEEDED) < set(entries)
    numbers = [entry["id"] for entry in entries.values() if entry["id"] is not None]
    assert len(set(numbers)) == len(numbers)
    for toolset, (number, name, icon, timeout_ms) in SEEDED.items():
        entry = entries[toolset]
        info = entry["serverInfo"]
        assert (entry["id"], entry["timeoutMs"]) == (number, timeout_ms)
        assert (entry["availability"], entry["allowMultipleInstances"]) == ("auto", False)
        assert entry["tools_retry_policies"] == {"default": "retry_on_interrupt"}
        assert (entry["isRestricted"], entry["isPreview"]) == (None, False)
        assert (info["name"], info["version"], info["icon"]) == (name, "1.0.0", icon)
        assert info["description"].endswith(".")
        assert (info["authorization"], info["documentationUrl"]) == (None, None)
    assert entries["web_search_browse"]["tools_stakes"] == {"websearch": "low", "webbrowser": "never_ask"}
    assert entries["workspace"]["tools_retry_policies"]["default"] == "no_retry"
    assert entries["workspace"]["tools_retry_policies"]["read_file"] == "retry_on_interrupt"
    categories = {name: entry["category"] for name, entry in entries.items()}
    assert (categories["browser"], categories["planning"], categories["playbook"]) == (
        "automation",
        "planning",
        "execution",
    )


async def test_a_toolset_that_is_served_alone_introduces_itself(home: Path):
    async with (
        loopback_app.open_loopback_app(home) as loopback,
        http_servers.serve_app(build_http_app(loopback.app.build_servers())) as url,
    ):
        async with Client(f"{url}/mcp/web_search_browse") as client:
            alone = client.server_info
        async with Client(f"{url}/mcp") as client:
            whole = client.server_info
    assert (alone.name, alone.title) == ("web_search_browse", "web_search_&_browse")
    assert alone.description == "Search the web (Google and others) and retrieve information from specific websites."
    assert (whole.title, whole.description) == ("Outrider", None)
