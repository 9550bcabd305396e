"""`outrider watch` and `outrider serve` as processes: a kill in the middle of a check loses nothing."""

import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from support.apps import loopback_app
from support.fakes import http_servers
from support.fakes.website import FakeSite, SiteAnswer, SiteRequest
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
OPEN = "The shop is open from Monday to Friday, and the kettle is always on for those who come by."
CLOSED = "The shop is closed until further notice, because the roof has to be repaired this autumn."


@contextmanager
def start_server(home: Path, environment: dict[str, str]) -> Generator[tuple[subprocess.Popen[bytes], str]]:
    command = outrider_command.build_command("serve", "--port", "0", "--toolsets", "watches")
    with subprocess.Popen(command, env=environment, cwd=home, stderr=subprocess.PIPE) as process:
        assert process.stderr
        announced = next(line for line in process.stderr if b"outrider serves MCP at " in line)
        try:
            yield process, announced.decode().split()[-1]
        finally:
            process.kill()


def build_environment(home: Path, site: str, hook: str) -> dict[str, str]:
    folder = home / ".outrider"
    folder.mkdir(exist_ok=True)
    notices = {"notices": {"hook": {"webhook": f"{hook}/hook"}}, "notify": ["hook"], "min_interval_s": 1}
    settings: dict[str, Any] = {
        "watches": notices,
        "egress": {"allow": [f"127.0.0.1:{site.rsplit(':', 1)[1]}"]},
        "daemon": False,
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return {"HOME": str(home), "PATH": os.environ["PATH"]}


@pytest.mark.nightly
async def test_a_server_killed_during_a_check_reports_one_change_once(home: Path, tables: Path):
    asked_again, told = anyio.Event(), anyio.Event()
    looks: list[str] = []

    def answer(request: SiteRequest) -> SiteAnswer:
        looks.append(request.path)
        if len(looks) > 1:
            asked_again.set()
        return SiteAnswer(loopback_app.build_article_html("Shop", OPEN if len(looks) == 1 else CLOSED))

    def receive(request: SiteRequest) -> SiteAnswer:
        told.set()
        return SiteAnswer("")

    site, hook = FakeSite({"/shop": answer}), FakeSite({"/hook": receive})
    async with http_servers.serve_app(site) as site_url, http_servers.serve_app(hook) as hook_url:
        environment = build_environment(home, site_url, hook_url)
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            with start_server(home, environment) as (process, url):
                async with Client(url) as client:
                    given = {"action": "add", "url": f"{site_url}/shop", "every": "1s"}
                    assert not (await client.call_tool("web_watch", given)).is_error
                await asked_again.wait()
                process.kill()
            with start_server(home, environment) as (_, url):
                async with Client(url) as client:
                    await told.wait()
                    looks_now = len(looks)
                    while len(looks) < looks_now + 2:
                        await anyio.lowlevel.checkpoint()
                    found = await client.call_tool("web_watch", {"action": "changes"})
    assert [change["number"] for change in found.structured_content["changes"]] == [1]
    ids = {request.headers["webhook-id"] for request in hook.requests}
    assert len(ids) == 1


async def test_watches_are_added_and_run_from_the_command_line(home: Path, tables: Path):
    site = FakeSite({"/shop": SiteAnswer(loopback_app.build_article_html("Shop", OPEN))})
    async with http_servers.serve_app(site) as url:
        environment = build_environment(home, url, "http://127.0.0.1:9")

        async def run(*words: str) -> subprocess.CompletedProcess[bytes]:
            command = outrider_command.build_command("watch", *words)
            with anyio.fail_after(PROCESS_TIMEOUT_S):
                return await anyio.run_process(command, env=environment, cwd=home, check=False)

        added = await run("add", f"{url}/shop", "--every", "1s", "--name", "shop", "--json")
        assert added.returncode == 0, added.stderr
        site.routes["/shop"] = SiteAnswer(loopback_app.build_article_html("Shop", CLOSED))
        while not (done := json.loads((await run("run", "--json")).stdout))["changes"]:
            assert done["looks"] <= 1
        listed = await run("list")
        removed = await run("remove", "shop")
    assert CLOSED in done["changes"][0]["difference"]
    assert b"1 changes" in listed.stdout
    assert removed.returncode == 0
