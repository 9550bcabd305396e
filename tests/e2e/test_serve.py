"""`outrider serve` and `outrider mcp` as processes: started, used, stopped, killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from support.apps import loopback_app
from support.fakes import http_servers
from support.processes import outrider_command
from support.results import read_first_text
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio

TEA_SITE = loopback_app.build_page_site(
    {"/tea": loopback_app.build_article_html("Tea", "Tea is a drink made of leaves and hot water. " * 10)}
)


@contextmanager
def serve_outrider(home: Path, *arguments: str) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """A running `outrider serve`, and the address that it announces."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = outrider_command.build_command("serve", "--port", "0", *arguments)
    with subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.PIPE) as process:
        assert process.stderr
        announced = next(line for line in process.stderr if b"outrider serves MCP at " in line)
        try:
            yield process, announced.decode().split()[-1]
        finally:
            process.kill()


def build_egress_setting(site: str) -> str:
    return f"egress.allow=127.0.0.1:{site.rsplit(':', 1)[1]}"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_pages_are_read_over_http_by_clients_of_both_eras(home: Path, mode: str):
    async with http_servers.serve_app(TEA_SITE) as site:
        with serve_outrider(home, "--set", build_egress_setting(site)) as (_, url), anyio.fail_after(PROCESS_TIMEOUT_S):
            async with Client(url, mode=mode) as client:
                result = await client.call_tool("web_fetch", {"url": f"{site}/tea"})
            async with Client(f"{url}/dogent", mode=mode) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
    assert "Tea is a drink" in read_first_text(result)
    assert tools == ["web_search", "web_fetch", "web_crawl", "web_map", "web_extract"]


async def test_a_server_stops_when_asked_to(home: Path):
    with serve_outrider(home) as (process, url):
        async with Client(url, mode="legacy") as client:
            await client.list_tools()
            process.send_signal(signal.SIGTERM)
            code = await anyio.to_thread.run_sync(lambda: process.wait(timeout=PROCESS_TIMEOUT_S))
    assert code in {0, -signal.SIGTERM}


async def test_a_port_in_use_is_named(home: Path):
    with serve_outrider(home) as (_, url):
        port = url.split(":")[2].split("/")[0]
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        command = outrider_command.build_command("serve", "--port", port)
        done = await anyio.run_process(command, env=environment, cwd=home, check=False)
    assert done.returncode == 3
    assert b"--port" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.nightly
async def test_a_killed_process_loses_no_answered_work(home: Path):
    async with http_servers.serve_app(TEA_SITE) as site:
        url = f"{site}/tea"
        with serve_outrider(home, "--set", build_egress_setting(site)) as (process, address):
            async with Client(address) as client:
                await client.call_tool("web_fetch", {"url": url})
            process.kill()
    arguments = ["-m", "outrider", "mcp", "--no-daemon", "--set", "search.order=local", "--set", "search.keyless=true"]
    arguments += ["--set", "search.disabled=tavily,you,firecrawl,exa,ddgs", "--set", build_egress_setting(site)]
    command = StdioServerParameters(command=sys.executable, args=arguments, env={"HOME": str(home)})
    async with Client(command) as client:
        result = await client.call_tool("web_search", {"query": "leaves and hot water"})
    assert url in read_first_text(result)


async def test_a_client_that_vanishes_ends_the_stdio_server(home: Path):
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = outrider_command.build_command("mcp", "--no-daemon")
    with subprocess.Popen(command, env=environment, cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        process.stdin.close()
        assert await anyio.to_thread.run_sync(lambda: process.wait(timeout=PROCESS_TIMEOUT_S)) == 0
