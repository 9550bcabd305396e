"""Runs survive the death of their process at any point: another one continues, and nothing happens twice."""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from outrider.agents.run import Run
from outrider.app import App, open_app
from outrider.settings import load
from support.apps import agent_tools
from support.apps.agent_runs import SCRIPTED_API_KEY, AgentWorkerProcess, build_model_settings
from support.apps.agent_runs import start_agent_fork_server as warmed
from support.apps.agent_tools import read_ledger_lines
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest, play_turns
from support.processes.fork_server import ForkServer
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.usefixtures("tables")
Start = Callable[..., AgentWorkerProcess]


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = agent_tools.install_plugin(tmp_path / "plugins")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("SCRIPTED_KEY", SCRIPTED_API_KEY)
    return folder


@pytest.fixture(scope="module")
def fork_server() -> Generator[ForkServer]:
    made = warmed()
    yield made
    made.close()


@pytest.fixture
def workers(fork_server: ForkServer, home: Path, plugins: Path) -> Generator[Start]:
    """Starts worker processes, and ends those that still live."""
    started: list[AgentWorkerProcess] = []

    def start(url: str, query: str | None = None, database: str = "") -> AgentWorkerProcess:
        started.append(AgentWorkerProcess(fork_server, home, plugins, url, query, database))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.nightly)])
def database(request: pytest.FixtureRequest) -> str:
    """The address of an empty database; empty text for the SQLite file at its usual place."""
    return "" if request.param == "sqlite" else request.getfixturevalue("server").create_migrated_database()


@asynccontextmanager
async def serve_model(play: Callable[[ScriptedRequest], ModelTurn]) -> AsyncGenerator[tuple[str, ModelServer]]:
    server = ModelServer(play)
    async with http_servers.serve_app(server.build_app()) as url:
        yield url, server


@asynccontextmanager
async def open_watching_app(url: str, database: str, **more: Any) -> AsyncGenerator[App]:
    """An app that follows runs, and only works on runs that it has started."""
    async with open_app(load(build_model_settings(url) | ({"database": database} if database else {}) | more)) as app:
        yield app


async def wait_for_end(app: App, run_id: str) -> Run:
    """Return the run once it has ended or is blocked."""
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        async for _ in app.runs.follow(run_id):
            pass
        return await app.runs.get(run_id)


async def read_worker_line(worker: AgentWorkerProcess) -> str:
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        return await anyio.to_thread.run_sync(worker.read_line)


async def wait_for_effects(home: Path, count: int) -> None:
    """Wait for that many side effects."""
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        while len(read_ledger_lines(home)) < count:
            await anyio.sleep(0.02)


async def test_another_process_continues_and_no_side_effect_is_repeated(home: Path, workers: Start, database: str):
    turns = play_turns(
        ModelTurn(calls=[("note", {"text": "first"})]),
        ModelTurn(calls=[("wait_for", {"name": "go"}), ("note", {"text": "second"})]),
        ModelTurn(text="Done."),
    )
    async with serve_model(turns) as (url, server), open_watching_app(url, database) as app:
        first = workers(url, "Go.", database)
        run_id = await read_worker_line(first)
        await wait_for_effects(home, 2)
        first.kill()
        second = workers(url, None, database)
        assert await read_worker_line(second) == "ready"
        (home / "go").touch()
        run = await wait_for_end(app, run_id)
    assert (run.status, run.answer, run.attempt) == ("completed", "Done.", 1)
    assert sorted(line.split()[1] for line in read_ledger_lines(home)) == ["first", "second"]
    assert len(server.requests) == 3, "what the model had said is remembered, not asked again"


@pytest.mark.nightly
async def test_a_call_with_unknown_outcome_is_not_repeated_and_the_agent_is_told(home: Path, workers: Start):
    turns = play_turns(
        ModelTurn(calls=[("note_and_wait", {"text": "once", "name": "never"})]), ModelTurn(text="I will look first.")
    )
    async with serve_model(turns) as (url, server), open_watching_app(url, "") as app:
        first = workers(url, "Go.")
        run_id = await read_worker_line(first)
        await wait_for_effects(home, 1)
        first.kill()
        await read_worker_line(workers(url))
        run = await wait_for_end(app, run_id)
    assert (run.status, run.answer) == ("completed", "I will look first.")
    assert len(read_ledger_lines(home)) == 1
    assert "may have taken effect" in server.requests[-1].results[0]


@pytest.mark.nightly
async def test_an_allowed_call_with_unknown_outcome_is_not_repeated(home: Path, workers: Start):
    turns = play_turns(
        ModelTurn(calls=[("send_and_wait", {"text": "once", "name": "never"})]), ModelTurn(text="I will look first.")
    )
    async with serve_model(turns) as (url, server), open_watching_app(url, "", agents={"runs": 0}) as app:
        first = workers(url, "Go.")
        run_id = await read_worker_line(first)
        assert (await wait_for_end(app, run_id)).status == "blocked"
        (question,) = await app.runs.questions.list_pending(run_id)
        await app.runs.questions.decide(question.id, "approved")
        await app.runs.resume(run_id)
        await wait_for_effects(home, 1)
        first.kill()
        await read_worker_line(workers(url))
        run = await wait_for_end(app, run_id)
    assert (run.status, run.answer) == ("completed", "I will look first.")
    assert len(read_ledger_lines(home)) == 1
    assert "may have taken effect" in server.requests[-1].results[0]


@pytest.mark.nightly
async def test_a_model_interrupted_by_a_dying_worker_is_asked_again(home: Path, workers: Start):
    held = anyio.Event()
    answers = iter([ModelTurn(text="Half of a long sentence that", wait_between=held)])
    async with (
        serve_model(lambda asked: next(answers, ModelTurn(text="Whole."))) as (url, server),
        open_watching_app(url, "") as app,
    ):
        first = workers(url, "Go.")
        run_id = await read_worker_line(first)
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            async for event in app.runs.follow(run_id):
                if event.kind == "text":
                    break
        first.kill()
        held.set()
        await read_worker_line(workers(url))
        run = await wait_for_end(app, run_id)
    assert (run.status, run.answer, len(server.requests)) == ("completed", "Whole.", 2)


@pytest.mark.nightly
async def test_a_blocked_run_is_decided_and_resumed_by_other_processes(home: Path, workers: Start, database: str):
    turns = play_turns(ModelTurn(calls=[("note", {"text": "a"}), ("send", {"text": "b"})]), ModelTurn(text="Sent."))
    async with serve_model(turns) as (url, _server):
        first = workers(url, "Go.", database)
        run_id = await read_worker_line(first)
        async with open_watching_app(url, database) as app:
            assert (await wait_for_end(app, run_id)).status == "blocked"
        first.kill()
        async with open_watching_app(url, database) as app:
            (question,) = await app.runs.questions.list_pending(run_id)
            await app.runs.questions.decide(question.id, "approved")
        async with open_watching_app(url, database) as app:
            await app.runs.resume(run_id)
            run = await wait_for_end(app, run_id)
    assert (run.status, run.answer, run.attempt) == ("completed", "Sent.", 2)
    assert sorted(line.split()[1] for line in read_ledger_lines(home)) == ["a", "b"]


@pytest.mark.nightly
async def test_a_run_is_cancelled_from_another_process(home: Path, workers: Start, database: str):
    turns = play_turns(
        ModelTurn(calls=[("wait_for", {"name": "never"}), ("note", {"text": "a"})]), ModelTurn(text="Not reached.")
    )
    async with serve_model(turns) as (url, server), open_watching_app(url, database) as app:
        run_id = await read_worker_line(workers(url, "Go.", database))
        await wait_for_effects(home, 1)
        await app.runs.cancel(run_id)
        run = await wait_for_end(app, run_id)
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            while await app.runs.recover_runs():
                await anyio.sleep(0.05)
    assert (run.status, run.stop_reason, len(server.requests)) == ("cancelled", "cancelled", 1)


@pytest.mark.nightly
async def test_repeated_kills_lose_no_run_and_repeat_no_side_effect(home: Path, workers: Start, database: str):
    """Workers are killed at random points; the last one survives and finishes all of their runs."""
    steps = 6

    def play(asked: ScriptedRequest) -> ModelTurn:
        if asked.turn_count < steps:
            return ModelTurn(text="On.", calls=[("note", {"text": str(asked.turn_count)}), ("count", {})])
        return ModelTurn(text="Done.")

    async with serve_model(play) as (url, _server), open_watching_app(url, database) as app:
        first = [workers(url, f"Go {number}.", database) for number in range(3)]
        began = [await read_worker_line(worker) for worker in first]
        for count, worker in enumerate(first, 1):
            await wait_for_effects(home, 3 * count)
            worker.kill()
            workers(url, None, database)
        last = [await wait_for_end(app, run_id) for run_id in began]
    assert [(run.status, run.answer) for run in last] == [("completed", "Done.")] * 3
    keys = [line.split()[0] for line in read_ledger_lines(home)]
    assert len(keys) == len(set(keys)), "a side effect came twice"
