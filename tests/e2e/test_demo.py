"""`make demo` as a user sees it: with internet access (simulated on loopback) and without."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.checkout import CHECKOUT
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S

pytestmark = pytest.mark.anyio

REPORT_STEP = "Write a report: "
DEAD = "http://127.0.0.1:1"  # no server listens there
ONLINE_PROVIDERS = ("tavily", "you", "firecrawl", "exa")
QUESTION = "How hot does water boil in the mountains?"
BOILING_HTML = (
    "<html><head><title>Boiling in the mountains</title></head><body><main><h1>Boiling in the mountains</h1>"
    "<p>High places are cold, and their air is thin.</p>"
    "<p>At 3,000 metres water boils at 90 degrees in the mountains, because the air presses less.</p>"
    "<p>Cooking takes longer there, so many people own a pressure cooker.</p></main></body></html>"
)


class Internet:
    """A search provider and the one page that it knows."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.headers: dict[bytes, bytes] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/search":
            self.headers = dict(scope["headers"])
            self.asked.append(json.loads((await receive())["body"]))
            url = f"http://{self.headers[b'host'].decode()}/boiling"
            hit = {"title": "Boiling in the mountains", "url": url, "content": "Water boils at 90 degrees.", "score": 1}
            await send_body(send, "application/json", json.dumps({"results": [hit]}))
        else:
            await send_body(send, "text/html; charset=utf-8", BOILING_HTML if scope["path"] == "/boiling" else "")


async def send_body(send: Any, kind: str, body: str) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind.encode())]})
    await send({"type": "http.response.body", "body": body.encode()})


async def run_demo(*arguments: str, **environ: str) -> tuple[int, str]:
    """Run the demo; return its exit code and output."""
    run = partial(
        subprocess.run,
        [sys.executable, "-m", "demo", *arguments],
        cwd=CHECKOUT,
        env=os.environ | {"COLUMNS": "300"} | environ,
        capture_output=True,
        text=True,
        timeout=600,  # 70 seconds on a machine with other work; only a hang takes so long
        check=False,
    )
    done = await anyio.to_thread.run_sync(run)
    return done.returncode, done.stdout + done.stderr


def build_provider_settings(url: str) -> dict[str, str]:
    """Return settings that point every remote provider to this address."""
    return {f"OUTRIDER_SEARCH__PROVIDERS__{name.upper()}__ENDPOINT": url for name in ONLINE_PROVIDERS} | {
        "OUTRIDER_SEARCH__DISABLED": "ddgs"
    }


@pytest.mark.nightly
async def test_online_the_demo_searches_the_web_and_quotes_what_it_read():
    internet = Internet()
    async with http_servers.serve_app(internet) as url:
        environ = build_provider_settings(url) | {"OUTRIDER_EGRESS__ALLOW": url.removeprefix("http://")}
        code, printed = await run_demo(QUESTION, **environ, OUTRIDER_BROWSER__EXECUTABLE="/no/browser")
    assert code == 0, printed
    assert internet.asked[0]["query"] == QUESTION
    assert internet.headers[b"x-tavily-access-mode"] == b"keyless"
    assert "from tavily" in printed
    assert "water boils at 90 degrees in the mountains" in printed
    assert f"{url}/boiling  characters " in printed
    assert "All of this used the internet." in printed
    assert_everything_is_told(printed)
    assert_an_agent_has_asked_and_answered(printed, "webbrowser", "water boils at 90 degrees in the mountains", url)
    assert_a_report_was_made(printed)
    assert "No browser on this machine: " in printed


async def test_offline_the_demo_reads_local_documents_and_quotes_those():
    code, printed = await run_demo(**build_provider_settings(DEAD))
    assert code == 0, printed
    assert "No internet access." in printed
    assert "outrider mcp --set egress.allow=127.0.0.1:" in printed
    assert "from local" in printed
    assert "The maximum number of threads that can be used to execute the given calls." in printed
    assert "concurrent.futures" in printed
    assert "All of this ran offline" in printed
    assert_everything_is_told(printed)
    said = "The maximum number of threads that can be used to execute the given calls."
    assert_an_agent_has_asked_and_answered(printed, "createSession", said, "Pydoc: module concurrent.futures.thread")
    assert "The page is open. I look at it." in printed
    assert_a_report_was_made(printed)
    assert re.search(r"order-tea succeeded: 3 steps in [\d.]+ s, without a model\.", printed)
    assert "its id was 'who' and is 'customer'" in printed
    await assert_nothing_is_left(printed)


@pytest.mark.nightly
async def test_a_question_without_evidence_ends_with_an_exit_code():
    code, printed = await run_demo("Do penguins yodel?", **build_provider_settings(DEAD))
    assert code == 1
    assert "No evidence was found for this question." in printed
    assert "claude mcp add" not in printed
    assert "run_researcher" not in printed
    await assert_nothing_is_left(printed)


async def assert_nothing_is_left(printed: str) -> None:
    """Check that the demo's folder is gone and, a moment later, each process in it."""
    folder = re.findall(r"data in (\S+)\)", printed)[0]
    assert not Path(folder).exists()
    with anyio.fail_after(EVENT_TIMEOUT_S):
        while any(folder in line for line in command_lines()):
            await anyio.sleep(0.05)


def command_lines() -> Iterator[str]:
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            yield process.read_bytes().replace(b"\0", b" ").decode(errors="replace")


def assert_an_agent_has_asked_and_answered(printed: str, asked: str, answer: str, source: str) -> None:
    agent = printed[printed.index("Delegate the question to an agent: run_researcher") : printed.index(REPORT_STEP)]
    assert "The model is a script" in agent
    assert "With a real model: export ANTHROPIC_API_KEY" in agent
    thought, _, rest = agent.partition("\n   ? Allow ")
    assert "I read the best" in thought
    assert rest.count("? Allow ") == 0
    assert f"({asked}) with" in rest.splitlines()[0]
    assert "approved" in rest.splitlines()[1]
    assert answer in rest
    cited = re.search(r":cite\[(\w{3})\]", rest)
    assert cited
    assert source in rest.partition(f"[{cited[1]}] ")[2].splitlines()[0]


def assert_a_report_was_made(printed: str) -> None:
    work = printed[printed.index(REPORT_STEP) :]
    assert re.search(r"stored [1-9] pages in [1-9]\d* chunks; [1-9] of them match the question", work)
    assert re.search(r"-\(a first draft\)\n +\+[1-9] passages, best first\.", work)
    ran = re.search(r"Python ran in a sandbox \(\w+\): \w{4,} \d+", work)
    assert bool(ran) == ("(execute_python) with" in work and "Code cannot run on this machine" not in work)
    words = ", words.csv" if ran else ""
    assert re.search(rf"a zip \([\d,]+ bytes\) with report\.md, findings\.csv{words}\n", work)
    todos = 5 if ran else 4
    assert f"context://planning: {todos} of {todos} todos are done" in work


def assert_everything_is_told(printed: str) -> None:
    assert " s, " in printed
    assert " tokens" in printed
    assert "claude mcp add outrider -- uvx outrider mcp" in printed
    assert "codex mcp add outrider -- uvx outrider mcp" in printed
    assert "code --add-mcp '" in printed
    assert '{"mcpServers": {"outrider": {"command": "uvx", "args": ["outrider", "mcp"]}}}' in printed
    assert f"claude mcp add outrider -- {Path(sys.executable).with_name('outrider')} mcp" in printed
