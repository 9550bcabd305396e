"""Outrider through MCP's own Inspector, a client that shares no code with ours."""

import json
import os
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from conformance.npm import NpmMissingError, find_node, install_packages
from support.fakes import http_servers
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio

INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
ERAS = (pytest.param("legacy", marks=pytest.mark.nightly), "modern")
KETTLES_HTML = (
    b"<html><head><title>Kettles</title></head><body><main><h1>Kettles</h1>"
    b"<p>Water boils at a lower temperature in the mountains, because the air presses less.</p></main></body></html>"
)


@pytest.fixture(scope="session")
def npm() -> Path:
    try:
        return install_packages()
    except NpmMissingError as error:
        pytest.skip(f"the MCP Inspector is an npm package: {error}")


@pytest.fixture
def inspect(npm: Path):
    """Run the Inspector's command line against a target; return its exit code and its answer."""

    def run(target: Sequence[str], era: str, *options: str) -> tuple[int, dict[str, Any]]:
        program = find_node(npm)
        flags = ("--cli", "--format", "json", "--quiet", "--protocol-era", era, *options)
        environ = os.environ | {"PATH": f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            [program, str(npm / INSPECTOR), *flags, *target],
            env=environ,
            capture_output=True,
            timeout=PROCESS_TIMEOUT_S,
            check=False,
        )
        return done.returncode, json.loads(done.stdout or done.stderr)["result"]

    return run


@pytest.fixture
def serve_address() -> Generator[str]:
    """The address of a running `outrider serve`."""
    with serve_outrider("--toolsets", "all") as url:
        yield url


@contextmanager
def serve_outrider(*options: str) -> Generator[str]:
    command = outrider_command.build_command("serve", "--port", "0", *options)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        line = next(line for line in process.stderr if "serves MCP at" in line)
        try:
            yield line.split()[-1]
        finally:
            process.terminate()


async def serve_kettles(scope: Any, _receive: Any, send: Any) -> None:
    """A site of one page."""
    if scope["type"] != "http":
        return
    found = scope["path"] == "/kettles"
    headers = [(b"content-type", b"text/html; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200 if found else 404, "headers": headers})
    await send({"type": "http.response.body", "body": KETTLES_HTML if found else b"nothing here"})


@pytest.mark.nightly
@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_finds_no_fault_with_any_schema_over_stdio(inspect, era: str):
    code, answer = inspect(
        outrider_command.build_command("mcp", "--no-daemon", "--toolsets", "all,compat"),
        era,
        "--method",
        "tools/list",
        "--strict",
    )
    assert code == 0
    assert {"web_search", "web_fetch", "websearch", "webbrowser", "search"} <= {
        each["name"] for each in answer["tools"]
    }


@pytest.mark.parametrize("era", ERAS)
def test_the_inspector_finds_no_fault_with_any_schema_over_http(inspect, serve_address: str, era: str):
    code, answer = inspect((serve_address,), era, "--method", "tools/list", "--strict")
    assert code == 0
    assert len(answer["tools"]) >= 5


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.nightly
async def test_the_inspector_reads_a_page_over_stdio(inspect, era: str):
    async with http_servers.serve_app(serve_kettles) as url:
        allow = f"egress.allow={url.removeprefix('http://')}"
        target = outrider_command.build_command("mcp", "--no-daemon", "--set", allow)
        code, answer = await anyio.to_thread.run_sync(
            lambda: inspect(target, era, *build_fetch_arguments(f"{url}/kettles"))
        )
    assert code == 0
    assert "the air presses less" in answer["content"][0]["text"]
    assert answer["_meta"]["outrider/untrusted"] is True


@pytest.mark.parametrize("era", ERAS)
async def test_the_inspector_reads_a_page_over_http(inspect, era: str):
    async with http_servers.serve_app(serve_kettles) as url:
        with serve_outrider("--set", f"egress.allow={url.removeprefix('http://')}") as serve_address:
            code, answer = await anyio.to_thread.run_sync(
                lambda: inspect((serve_address,), era, *build_fetch_arguments(f"{url}/kettles"))
            )
    assert code == 0
    assert "the air presses less" in answer["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.nightly
def test_the_inspector_reports_a_failed_call_as_failed(inspect, era: str):
    code, answer = inspect(
        outrider_command.build_command("mcp", "--no-daemon"),
        era,
        *build_fetch_arguments("http://169.254.169.254/latest"),
    )
    assert code != 0
    assert answer["isError"] is True
    assert answer["structuredContent"]["error"]["code"] == "egress"


def build_fetch_arguments(url: str) -> tuple[str, ...]:
    arguments = json.dumps({"url": url})
    return ("--method", "tools/call", "--tool-name", "web_fetch", "--tool-args-json", arguments)
