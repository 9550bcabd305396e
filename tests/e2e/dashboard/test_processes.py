"""Dashboards of processes are found by the command, opened once, and end with their process."""

import os
import re
import signal
import stat
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters

from outrider.core import approval_required
from outrider.dashboard.address import DashboardAddress
from outrider.dashboard.address import list_running as running_dashboards
from outrider.dashboard.server import DashboardServer
from support.apps import agents_app, loopback_app
from support.apps.agents_app import ChatTurn
from support.apps.mcp_clients import NEWEST_VERSION, FormAnswerer, choose_decision, connect_client
from support.processes import outrider_command
from support.timeouts import EVENT_TIMEOUT_S, PROCESS_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("tables")]
HTML = {"accept": "text/html"}


def build_environment(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": os.environ["PATH"]}


@contextmanager
def run_program(home: Path, *arguments: str) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    """Start one of our programs; yield it with the announced address of its dashboard."""
    command = outrider_command.build_command(*arguments)
    with subprocess.Popen(command, env=build_environment(home), cwd=home, stderr=subprocess.PIPE) as process:
        assert process.stderr
        said = next(line for line in process.stderr if b"dashboard is at" in line).decode()
        try:
            yield process, re.search(r"http://\S+", said)[0]
        finally:
            process.kill()


def find_dashboards(home: Path) -> list[DashboardAddress]:
    """Find the running dashboards that only their owner can read."""
    return running_dashboards(home / ".outrider")


async def print_addresses(home: Path) -> list[str]:
    """Returns the addresses that `outrider dashboard --print` prints."""
    command = outrider_command.build_command("dashboard", "--print")
    done = await anyio.run_process(command, env=build_environment(home), cwd=home)
    return done.stdout.decode().split()


async def test_serve_offers_the_dashboard_and_prints_no_token(home: Path):
    with run_program(home, "serve", "--port", "0", "--set", "serve.drain_s=120") as (process, place):
        assert place.endswith("/dashboard/")
        (address,) = await print_addresses(home)
        assert address.startswith(f"{place}?token=")
        async with httpx2.AsyncClient(headers=HTML, follow_redirects=True) as client:
            assert (await client.get(f"{place}calls")).status_code == 401
            page = await client.get(address)
            assert page.status_code == 200
            assert str(page.url).startswith(place)
            assert "token" not in str(page.url)
            for link in re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text):
                assert link.startswith("/dashboard/"), link
                assert (await client.get(place.replace("/dashboard/", link))).status_code == 200
            cookie = next(iter(client.cookies.jar))
            assert cookie.path == "/dashboard"
        (now,) = find_dashboards(home)
        assert now.url != address
        async with httpx2.AsyncClient(timeout=PROCESS_TIMEOUT_S) as client:
            await client.get(now.url)
            async with client.stream("GET", f"{place}feed", params={"topics": "calls"}) as feed:
                assert feed.status_code == 200
                process.send_signal(signal.SIGTERM)  # an open page does not keep it from stopping
                with anyio.fail_after(EVENT_TIMEOUT_S):
                    await anyio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        assert list((home / ".outrider" / "run").glob("dashboard-*")) == []


async def test_remote_access_needs_an_explicit_setting_and_a_token(home: Path):
    arguments = ["serve", "--port", "0", "--host", "0.0.0.0"]
    arguments += ["--set", "serve.token=for-mcp", "--set", "dashboard.remote=true"]
    command = outrider_command.build_command(*arguments)
    done = await anyio.run_process(command, env=build_environment(home), cwd=home, check=False)
    assert done.returncode == 3
    assert b"OUTRIDER_DASHBOARD__TOKEN" in done.stderr
    token = "t" * 32
    with run_program(home, *arguments, "--set", f"dashboard.token={token}") as (_, place):
        async with httpx2.AsyncClient(headers=HTML) as client:
            origin = place.removesuffix("/dashboard/")
            assert (await client.get(place)).status_code == 401
            signed = await client.post(
                f"{place}signin", headers={"origin": origin}, data={"token": token, "next": "/dashboard/calls"}
            )
            assert signed.headers["location"] == "/dashboard/calls"
            assert (await client.get(f"{place}calls")).status_code == 200


async def test_remote_access_is_off_by_default(home: Path):
    command = outrider_command.build_command("serve", "--port", "0", "--host", "0.0.0.0")
    with subprocess.Popen(
        [*command, "--set", "serve.token=for-mcp"], env=build_environment(home), cwd=home, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr
        said = next(line for line in process.stderr if b"serves MCP at" in line).decode()
        url = said.split()[-1].replace("0.0.0.0", "127.0.0.1").removesuffix("/mcp")
        async with httpx2.AsyncClient(headers=HTML) as client:
            assert (await client.get(f"{url}/dashboard/")).status_code == 404
        process.kill()


async def test_over_stdio_the_dashboard_starts_with_the_first_call(home: Path):
    program, *arguments = outrider_command.build_command("mcp", "--no-daemon", "--toolsets", "planning")
    server = StdioServerParameters(command=program, args=arguments, env=build_environment(home), cwd=str(home))
    run = home / ".outrider" / "run"
    async with Client(server) as client:
        await client.list_tools()
        assert not list(run.glob("dashboard-*"))
        await client.call_tool("get_current_state", {})
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            while not (files := list(run.glob("dashboard-*"))):
                await client.list_tools()
            while not (posted := find_dashboards(home)):
                await client.list_tools()
        assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
        async with httpx2.AsyncClient(headers=HTML) as person:
            await person.get(posted[0].url)
            assert "get_current_state" in (await person.get(f"{posted[0].place}calls")).text
    assert not list(run.glob("dashboard-*"))


async def test_if_no_dashboard_runs_the_command_serves_one(home: Path):
    command = outrider_command.build_command("dashboard", "--print")
    with subprocess.Popen(command, env=build_environment(home), cwd=home, stdout=subprocess.PIPE) as process:
        assert process.stdout
        try:
            address = process.stdout.readline().decode().strip()
            async with httpx2.AsyncClient(headers=HTML, follow_redirects=True) as client:
                assert (await client.get(address)).status_code == 200
            process.send_signal(signal.SIGINT)
            process.wait(30)
        finally:
            process.kill()  # a parent that ignores interrupts passes that on to it


CLERK_TURNS = {"clerk": [ChatTurn(calls=[("add_observation", {"observation": "x"})]), ChatTurn(text="Done.")]}
CLERK_AGENTS = {"clerk": {"tools": ["add_observation"], "stakes": {"add_observation": "high"}}}


@pytest.mark.nightly
async def test_a_result_waiting_for_a_person_links_to_its_question_without_a_token(home: Path):
    async with agents_app.open_agents_app(home, CLERK_TURNS, CLERK_AGENTS, data_dir=str(home / "data")) as loopback:
        listening = DashboardServer(loopback.app.dashboard_services())
        await listening.start()
        token = listening.sign_in_url.partition("token=")[2]
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            async with connect_client(
                loopback.app.build_server(), NEWEST_VERSION, "nothing", FormAnswerer(choose_decision("approved"))
            ) as client:
                result = await client.call_tool("run_clerk", {"query": "go"})
        body = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        waits = approval_required.parse_approval_result(body)
        assert waits is not None
        url = waits.events[0]["answerUrl"]
        assert url == f"{listening.base_url}questions/{waits.events[0]['actionId']}"
        assert token not in str(body)
        async with httpx2.AsyncClient(headers=HTML) as person:
            await person.get(listening.sign_in_url)
            page = await person.get(url)
            assert "add_observation" in page.text
            answered = await person.post(
                f"{listening.base_url}questions/answer",
                headers={"origin": listening.base_url.rstrip("/")},
                data={"question": waits.events[0]["actionId"], "decision": "approved"},
            )
            assert answered.status_code in (200, 303)
        await listening.aclose()


BROWSER = """#!/bin/sh
echo "$@" > "$(dirname "$0")/given"
"""


async def test_the_command_passes_the_address_to_the_browser_in_a_private_file(home: Path):
    browser = home / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    async with loopback_app.open_loopback_app(home, more={"data_dir": str(home / ".outrider")}) as loopback:
        listening = DashboardServer(loopback.app.dashboard_services())
        await listening.start()
        command = outrider_command.build_command("dashboard")
        await anyio.run_process(command, env=build_environment(home) | {"BROWSER": f"{browser} %s"}, cwd=home)
        given = (home / "given").read_text().strip()
        token = listening.sign_in_url.partition("token=")[2]
        await listening.aclose()
    assert given.startswith("file://")
    assert token not in given
    kept = Path(given.removeprefix("file://"))
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert token in kept.read_text()
