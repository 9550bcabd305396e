"""`outrider token`, `workspace` and `audit`, and a server that requires their tokens."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from outrider.identity.identity import CACHE_TTL_S
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("tables")]


def run_outrider(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = outrider_command.build_command(*arguments)
    environ = os.environ | {"HOME": str(home)}
    return subprocess.run(command, cwd=home, env=environ, capture_output=True, text=True, timeout=120, check=False)


def list_tokens(home: Path, *arguments: str) -> Any:
    done = run_outrider(home, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@contextmanager
def serve_outrider(home: Path, **settings: str) -> Generator[str]:
    environ = os.environ | {"HOME": str(home), "OUTRIDER_IDENTITY__TOKENS": "true", **settings}
    command = outrider_command.build_command("serve", "--port", "0", "--toolsets", "planning")
    with subprocess.Popen(command, cwd=home, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "it ended"
            found = re.search(r"http://[^/]+/mcp", line)
        try:
            yield found[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=PROCESS_TIMEOUT_S)


async def test_an_operator_creates_hands_out_and_revokes_a_token(home: Path):
    nobody = run_outrider(home, "token", "create", "ann")
    assert nobody.returncode == 2
    assert "outrider workspace create <workspace> --owner ann" in nobody.stderr
    assert run_outrider(home, "workspace", "create", "acme", "--owner", "ann").returncode == 0
    made = run_outrider(home, "token", "create", "ann", "--label", "laptop", "--toolsets", "planning")
    token = made.stdout.strip()
    assert re.fullmatch(r"outr_[0-9A-Za-z]{49}", token)
    assert token not in made.stderr
    assert "not shown again" in made.stderr

    with serve_outrider(home) as url:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                assert not (await client.call_tool("create_goal", {"goal": "tea"})).is_error
            (listed,) = list_tokens(home, "token", "list")
            assert listed["used_at"]
            assert "revoked" in run_outrider(home, "token", "revoke", listed["id"]).stdout
            with anyio.fail_after(CACHE_TTL_S + 10):
                while (answer := await http.post(url, json={})).status_code != 401:
                    await anyio.sleep(0.05)
    assert "revoked" in answer.json()["error_description"]

    acts = list_tokens(home, "audit", "--days", "1")
    assert {"refused", "token.revoke", "token.create", "workspace.create"} <= {each["action"] for each in acts}
    call = next(each for each in acts if each["action"] == "call")
    assert (call["person"], call["workspace"], call["detail"]) == ("ann", "acme", "create_goal")
    assert (call["credential"], call["address"]) == (listed["id"], "127.0.0.1")
    assert token not in json.dumps([acts, listed])


def test_an_operator_manages_workspaces_and_their_members(home: Path):
    assert run_outrider(home, "workspace", "create", "Not A Name").returncode == 2
    assert run_outrider(home, "workspace", "create", "acme").returncode == 0
    assert run_outrider(home, "workspace", "add", "acme", "bob", "--role", "viewer").returncode == 0
    assert [(each["person"], each["role"]) for each in list_tokens(home, "workspace", "members", "acme")] == [
        ("bob", "viewer")
    ]
    assert run_outrider(home, "workspace", "remove", "acme", "bob").returncode == 0
    assert [(each["name"], each["members"]) for each in list_tokens(home, "workspace", "list")] == [("acme", 0)]


def test_serving_other_machines_requires_some_kind_of_token(home: Path):
    refused = run_outrider(home, "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 3
    assert "OUTRIDER_IDENTITY__TOKENS=true" in refused.stderr
