"""`outrider ask` and `outrider agents` as a person calls them."""

import json
import os
import subprocess
from pathlib import Path

import anyio
import pytest

from support.apps import agent_tools
from support.apps.agent_runs import build_model_settings
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, TurnScript, play_turns
from support.processes import outrider_command
from support.processes.pseudo_terminal import run_in_terminal

pytestmark = pytest.mark.usefixtures("tables")
WRITER = "---\ndescription: Writes things down\ntoolsets: ledger\n---\nYou write.\n"


@pytest.fixture(autouse=True)
def agents(home: Path) -> Path:
    folder = home / ".outrider" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "writer.md").write_text(WRITER)
    return folder


def run_outrider(home: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join((str(Path(__file__).parents[1]), str(home / "plugins"), os.environ.get("PYTHONPATH", "")))
    environ = {**os.environ, "PYTHONPATH": path, "SCRIPTED_KEY": "sk-x"}
    command = outrider_command.build_command(*arguments)
    return subprocess.run(  # noqa: PLW1510
        command, env=environ, cwd=cwd, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )


async def ask_scripted_model(home: Path, play: TurnScript, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command, with a model that follows the script."""
    agent_tools.install_plugin(home / "plugins")
    async with http_servers.serve_app(ModelServer(play).build_app()) as url:
        (home / ".outrider" / "settings.json").write_text(json.dumps(build_model_settings(url)))
        return await anyio.to_thread.run_sync(lambda: run_outrider(home, *arguments))


async def test_the_answer_is_on_stdout_and_the_work_on_stderr(home: Path):
    turns = play_turns(
        ModelTurn(thinking="I will note it.", calls=[("note", {"text": "tea"})]), ModelTurn(text="Tea is noted.")
    )
    done = await ask_scripted_model(home, turns, "ask", "Note", "tea", "--agent", "writer")
    assert (done.returncode, done.stdout) == (0, "Tea is noted.\n")
    for shown in ("I will note it.", "note", '{"text": "tea"}', "✓"):
        assert shown in done.stderr
    assert len(agent_tools.read_ledger_lines(home)) == 1


async def test_programs_get_json(home: Path):
    done = await ask_scripted_model(
        home, play_turns(ModelTurn(text="Here.")), "ask", "x", "--agent", "writer", "--json"
    )
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["answer"], answer["usage"]["requests"]) == ("completed", "Here.", 1)


async def test_without_a_terminal_a_question_stops_the_run_and_explains_how_to_continue(home: Path):
    turns = play_turns(ModelTurn(calls=[("send", {"text": "tea"})]), ModelTurn(text="Sent."))
    stopped = await ask_scripted_model(home, turns, "ask", "x", "--agent", "writer")
    assert stopped.returncode == 1
    assert "outrider agents resume run_" in stopped.stderr
    listed = run_outrider(home, "agents", "runs", "--open").stdout
    assert listed.startswith("run_")
    for shown in ("blocked", "writer", "110 tokens", "x\n"):
        assert shown in listed
    as_json = json.loads(run_outrider(home, "agents", "runs", "--json").stdout)
    assert [(run["status"], run["usage"]["tokens"]) for run in as_json] == [("blocked", 110)]
    assert agent_tools.read_ledger_lines(home) == []


async def ask_in_terminal(home: Path, play: TurnScript, answer: bytes, question: bytes) -> tuple[int, str]:
    """Ask the writer at a person's terminal, without any sign of a test."""
    path = os.pathsep.join((str(Path(__file__).parents[1]), str(home / "plugins"), os.environ.get("PYTHONPATH", "")))
    environ = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": path, "SCRIPTED_KEY": "sk-x"}
    command = outrider_command.build_command("ask", "x", "--agent", "writer")
    async with http_servers.serve_app(ModelServer(play).build_app()) as url:
        (home / ".outrider" / "settings.json").write_text(json.dumps(build_model_settings(url)))
        return await anyio.to_thread.run_sync(lambda: run_in_terminal(command, environ, answer, question))


async def test_a_terminal_asks_for_consent_and_remembers_an_always_answer(home: Path):
    agent_tools.install_plugin(home / "plugins")
    turns = play_turns(ModelTurn(calls=[("send", {"text": "tea"})]), ModelTurn(text="Sent."))
    code, shown = await ask_in_terminal(home, turns, b"Always\n", b"[yes/no/always]")
    assert code == 0, shown
    assert "Sent." in shown
    assert "logfire" not in shown.lower(), "no library advertises itself"
    code, shown = await ask_in_terminal(home, turns, b"", b"[yes/no/always]")
    assert (code, "Allow it?" in shown) == (0, False)
    assert len(agent_tools.read_ledger_lines(home)) == 2


async def test_an_open_question_is_answered_in_words(home: Path):
    agent_tools.install_plugin(home / "plugins")
    turns = play_turns(ModelTurn(calls=[("note_choice", {})]), ModelTurn(text="Chosen."))
    code, shown = await ask_in_terminal(home, turns, b"Bob Ross\n", b"refuse):")
    assert code == 0, shown
    assert "Which Bob?" in shown
    assert agent_tools.read_ledger_lines(home)[0].endswith(" Bob Ross")


async def test_the_yes_option_allows_calls_that_ask(home: Path):
    turns = play_turns(ModelTurn(calls=[("send", {"text": "tea"})]), ModelTurn(text="Sent."))
    done = await ask_scripted_model(home, turns, "ask", "x", "--agent", "writer", "--yes")
    assert (done.returncode, done.stdout) == (0, "Sent.\n")
    assert len(agent_tools.read_ledger_lines(home)) == 1


async def test_a_repeated_key_shows_the_run_that_it_started(home: Path):
    agent_tools.install_plugin(home / "plugins")
    model = ModelServer(play_turns(ModelTurn(text="First."), ModelTurn(text="Second.")))
    ask = ("ask", "x", "--agent", "writer", "--quiet", "--idempotency-key", "k1")
    async with http_servers.serve_app(model.build_app()) as url:
        (home / ".outrider" / "settings.json").write_text(json.dumps(build_model_settings(url)))
        answers = [await anyio.to_thread.run_sync(lambda: run_outrider(home, *ask)) for _ in range(2)]
        other = await anyio.to_thread.run_sync(lambda: run_outrider(home, *ask, "--steps", "3"))
    assert [answer.stdout for answer in answers] == ["First.\n", "First.\n"], answers[1].stderr
    assert len(model.requests) == 1
    assert other.returncode == 2
    assert "idempotency_key: this key has already started another task (run_" in other.stderr


def test_without_a_model_the_error_names_the_ways_to_one(home: Path):
    done = run_outrider(home, "ask", "x", "--set", "models.local=false")
    assert done.returncode == 3
    assert "no model is configured" in done.stderr
    assert "ANTHROPIC_API_KEY" in done.stderr


def test_agents_are_listed_checked_and_added(home: Path, agents: Path):
    agent_tools.install_plugin(home / "plugins")
    listed = json.loads(run_outrider(home, "agents", "list", "--json").stdout)
    assert {"researcher", "browser", "analyst", "writer"} <= {each["name"] for each in listed}
    (agents / "broken.md").write_text("---\ndescription: x\ntoolset: web\n---\nHello.")
    checked = run_outrider(home, "agents", "check", "--set", "models.local=false")
    assert checked.returncode == 1
    assert "toolset: no such parameter" in checked.stdout
    assert "did you mean 'toolsets'?" in checked.stdout
    new = home / "Poet.md"
    new.write_text("---\ndescription: Rhymes\n---\nYou rhyme.\n")
    assert run_outrider(home, "agents", "add", str(new)).returncode == 0
    assert (agents / "Poet.md").exists()
    again = run_outrider(home, "agents", "add", str(new))
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_a_projects_agent_without_served_tools_is_told_how_to_get_them(home: Path):
    project = home / "project"
    (project / ".outrider" / "agents").mkdir(parents=True)
    (project / ".outrider" / "agents" / "planner.md").write_text(
        "---\ndescription: x\ntoolsets: planning\n---\nPlan.\n"
    )
    checked = run_outrider(home, "agents", "check", "planner", cwd=project)
    assert checked.returncode == 1
    assert "no toolset 'planning'" in checked.stdout
    assert "add it to the setting toolsets" in checked.stdout
    served = run_outrider(home, "agents", "check", "planner", "--set", "toolsets=web,planning", cwd=project)
    assert "toolset" not in served.stdout
