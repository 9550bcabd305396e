"""The REST interface of `outrider serve` through curl, a generated client and a tool server."""

import importlib
import json
import os
import shutil
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client

from e2e.test_serve import TEA_SITE, build_egress_setting, serve_outrider
from support.fakes import http_servers
from support.results import read_first_text
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
TOOLSETS = ("--toolsets", "web,browser,planning")


@pytest.fixture
def serve_address(home: Path) -> Generator[str]:
    """The address of a running `outrider serve`."""
    with serve_outrider(home, *TOOLSETS) as (_, url):
        yield url.removesuffix("/mcp")


async def run_curl(*arguments: str) -> str:
    """Run curl and return its output."""
    if (program := shutil.which("curl")) is None:
        pytest.skip("needs curl: apt-get install curl")
    command = [program, "--silent", "--show-error", *arguments]
    return (await anyio.run_process(command)).stdout.decode()


async def test_curl_calls_a_tool_reads_its_text_and_sees_an_error(serve_address: str):
    body = ("--json", '{"goal": "see the sea"}')
    made = json.loads(await run_curl(*body, f"{serve_address}/v1/tools/create_goal"))
    text = await run_curl("-X", "POST", "-H", "Accept: text/plain", f"{serve_address}/v1/tools/get_current_state")
    events = ("-N", "-H", "Accept: text/event-stream", "-X", "POST")
    stream = await run_curl(*events, f"{serve_address}/v1/tools/get_current_state")
    status = await run_curl(
        "-o", os.devnull, "-w", "%{http_code} %{content_type}", *body, f"{serve_address}/v1/tools/nope"
    )
    assert made["data"]["goal"] == "see the sea"
    assert "see the sea" in text
    assert status == "404 application/problem+json"
    assert stream.startswith("event: result\ndata: {")


@pytest.mark.nightly
async def test_a_generated_client_calls_the_tools(serve_address: str, home: Path, monkeypatch: pytest.MonkeyPatch):
    described = await run_curl(f"{serve_address}/openapi.json")
    (home / "openapi.json").write_text(described)
    program = str(Path(sys.executable).with_name("openapi-python-client"))
    command = [program, "generate", "--path", "openapi.json", "--output-path", "generated", "--meta", "none"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    generated = await anyio.run_process(command, cwd=home, env=environment)
    assert b"WARNING" not in generated.stdout + generated.stderr
    monkeypatch.syspath_prepend(str(home))
    package: Any = importlib.import_module("generated")
    create_goal: Any = importlib.import_module("generated.api.planning.create_goal")
    models: Any = importlib.import_module("generated.models")
    async with package.Client(base_url=serve_address, headers={"X-Outrider-Session": "trip"}) as client:
        made = await create_goal.asyncio(client=client, body=models.CreateGoalBody(goal="see the sea"))
        missing = await create_goal.asyncio(client=client, body=models.CreateGoalBody(goal=""))
    assert made.data.goal == "see the sea"
    assert (missing.status, missing.code) == (422, "invalid_input")


def build_tool_specs(described: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the tools that a chat program such as Open WebUI derives: name, path, body parameters.

    It follows references of schemas itself, and shows each parameter of an operation to its model.
    """
    specs = {}
    for path, methods in described["paths"].items():
        for operation in methods.values():
            assert not operation.get("parameters")
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            assert schema["type"] == "object"
            specs[operation["operationId"]] = (path, schema)
    return specs


@pytest.mark.nightly
async def test_a_chat_program_finds_the_tools_and_posts_to_their_paths(home: Path):
    async with http_servers.serve_app(TEA_SITE) as site:
        with serve_outrider(home, *TOOLSETS, "--set", build_egress_setting(site)) as (_, url):
            async with httpx2.AsyncClient(base_url=url.removesuffix("/mcp"), timeout=PROCESS_TIMEOUT_S) as http:
                specs = build_tool_specs((await http.get("/openapi.json")).json())
                path, schema = specs["web_fetch"]
                read = await http.post(path, json={"url": f"{site}/tea"})
    assert "url" in schema["properties"]
    assert "Tea is a drink" in read.json()["text"]


async def test_mcp_and_rest_share_a_session(home: Path):
    async with http_servers.serve_app(TEA_SITE) as site:
        flags = (*TOOLSETS, "--set", build_egress_setting(site))
        with serve_outrider(home, *flags) as (_, url), anyio.fail_after(SCENARIO_TIMEOUT_S):
            async with (
                Client(url) as client,
                httpx2.AsyncClient(base_url=url.removesuffix("/mcp"), timeout=90) as http,
            ):
                named: Any = {"session_id": "trip"}
                opened = await client.call_tool("navigateToUrl", {"url": f"{site}/tea"}, meta=named)
                read = await http.post("/v1/tools/getPageTitle", headers={"X-Outrider-Session": "trip"})
                other = await http.post("/v1/tools/getPageTitle", headers={"X-Outrider-Session": "another"})
                picture = await http.post("/v1/tools/takeScreenshot", headers={"X-Outrider-Session": "trip"})
    assert not opened.is_error, read_first_text(opened)
    assert "Tea" in read.json()["text"]
    assert "Tea" not in other.text
    assert picture.json()["images"][0]["mime_type"].startswith("image/")
