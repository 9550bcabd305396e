"""Agents against aimock, a server of scripted models that shares no code with our fakes."""

import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from conformance.npm import NpmMissingError, find_node, install_packages
from outrider.agents.run import Run
from outrider.app import open_app
from outrider.settings import load
from support.apps import agent_tools
from support.apps.agent_runs import SCRIPTED_API_KEY, ScriptedApp, build_model_settings, start_run
from support.fakes.model_apis import API_FORMATS, ModelServer, play_turns

pytestmark = [
    pytest.mark.anyio,
    # aimock ends Gemini's calls with a reason that Google does not have; Google's library warns and continues.
    pytest.mark.filterwarnings("ignore:FUNCTION_CALL is not a valid FinishReason:UserWarning"),
]

# `support.fakes.model_apis` covers all formats by day.
BY_DAY_ONE_FORMAT = pytest.mark.parametrize(
    "wire", [API_FORMATS[0], *(pytest.param(wire, marks=pytest.mark.nightly) for wire in API_FORMATS[1:])]
)
AIMOCK = "node_modules/@copilotkit/aimock/dist/cli.js"
LONG_ANSWER = "Tea is a plant, and a drink made of its leaves. " * 40
FIXTURES = [
    {
        "match": {"userMessage": "Note tea", "hasToolResult": False},
        "response": {
            "content": "I note it.",
            "reasoning": "They want tea in the ledger.",
            "toolCalls": [{"name": "note", "arguments": {"text": "tea, \u201cgreen\u201d"}}],
        },
    },
    {"match": {"userMessage": "Note tea", "hasToolResult": True}, "response": {"content": "Tea is noted."}},
    {
        "match": {"userMessage": "Send two", "hasToolResult": False},
        "response": {"toolCalls": [{"name": "send", "arguments": {"text": each}} for each in ("a", "b")]},
    },
    {"match": {"userMessage": "Send two", "hasToolResult": True}, "response": {"content": "Both are sent."}},
    {"match": {"userMessage": "Tell me"}, "response": {"content": LONG_ANSWER, "reasoning": "A long answer."}},
    {
        "match": {"userMessage": "Try again", "sequenceIndex": 0},
        "response": {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429},
    },
    {"match": {"userMessage": "Try again"}, "response": {"content": "Now it works."}},
]


@pytest.fixture(scope="session")
def npm() -> Path:
    try:
        return install_packages()
    except NpmMissingError as error:
        pytest.skip(f"aimock is an npm package: {error}")


@pytest.fixture
def aimock(npm: Path, tmp_path: Path) -> Generator[str]:
    """The address of a running aimock with our fixtures."""
    fixtures = tmp_path / "fixtures.json"
    fixtures.write_text(json.dumps({"fixtures": FIXTURES}))
    command = [find_node(npm), str(npm / AIMOCK), "--port", "0", "--fixtures", str(fixtures), "--strict"]
    environ = os.environ | {"NO_COLOR": "1"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        assert server.stdout
        line = next(line for line in server.stdout if "listening on" in line)
        yield line.rsplit(" ", 1)[1].strip()
        server.terminate()


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(agent_tools.install_plugin(tmp_path / "plugins"))


async def run_to_end(url: str, wire: str, query: str, home: Path, **fields: Any) -> tuple[Run, list[Any]]:
    """The run after its end, and its events."""
    loaded = load(build_model_settings(url, wire), environ={"SCRIPTED_KEY": SCRIPTED_API_KEY}, home=home)
    async with open_app(loaded) as app:
        office = ScriptedApp(app, ModelServer(play_turns()))
        run = await start_run(app, query, **fields)
        events = await office.collect_events(run)
        return await app.runs.get(run.id), events


@BY_DAY_ONE_FORMAT
async def test_an_agent_thinks_calls_and_answers(aimock: str, wire: str, home: Path):
    run, events = await run_to_end(aimock, wire, "Note tea", home)
    assert (run.status, run.answer) == ("completed", "Tea is noted.")
    assert run.thoughts == "They want tea in the ledger."
    assert [line.split(maxsplit=1)[1] for line in agent_tools.read_ledger_lines(home)] == ["tea, \u201cgreen\u201d"]
    kinds = [event.kind for event in events]
    assert kinds.index("thinking") < kinds.index("tool_started") < kinds.index("tool_ended")
    assert run.usage["requests"] == 2


@BY_DAY_ONE_FORMAT
@pytest.mark.nightly
async def test_parallel_calls_of_one_step_are_all_made(aimock: str, wire: str, home: Path):
    run, _ = await run_to_end(aimock, wire, "Send two", home, stakes={"send": "low"})
    assert (run.status, run.answer) == ("completed", "Both are sent.")
    assert sorted(line.split()[1] for line in agent_tools.read_ledger_lines(home)) == ["a", "b"]


@pytest.mark.nightly
@pytest.mark.parametrize("wire", API_FORMATS)
async def test_a_long_answer_arrives_complete_in_many_pieces(aimock: str, wire: str, home: Path):
    run, events = await run_to_end(aimock, wire, "Tell me", home)
    assert run.answer == LONG_ANSWER.strip()
    assert "".join(event.data["text"] for event in events if event.kind == "text") == LONG_ANSWER
    assert run.thoughts == "A long answer."


@pytest.mark.nightly
@pytest.mark.parametrize("wire", API_FORMATS)
async def test_a_rate_limit_is_waited_out(aimock: str, wire: str, home: Path):
    run, _ = await run_to_end(aimock, wire, "Try again", home)
    assert (run.status, run.answer) == ("completed", "Now it works.")
