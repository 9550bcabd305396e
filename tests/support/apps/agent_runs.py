"""Open apps whose agents use scripted models and the test's tools, in this and other processes."""

import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from outrider.agents.assignment import Assignment
from outrider.agents.definition import Agent, Budgets
from outrider.agents.events.stream import RunEvent
from outrider.agents.run import Run
from outrider.app import App, open_app
from outrider.core.context import Call
from outrider.settings import load
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, TurnScript
from support.processes.fork_server import ForkServer
from support.timeouts import SCENARIO_TIMEOUT_S

SCRIPTED_API_KEY = "sk-very-secret"


def build_model_settings(url: str, wire: str = "chat", **models: Any) -> dict[str, Any]:
    """Build settings under which agents use that server, in one of its formats."""
    base = {"chat": "/v1", "responses": "/v1", "anthropic": "", "google": ""}[wire]
    profile = {"base_url": f"{url}{base}", "model": "scripted", "key": "SCRIPTED_KEY", "api": wire}
    profile |= {} if wire in ("chat", "responses") else {"provider": wire}
    return {
        "toolsets": ["all"],
        "search": {"keyless": False},
        "models": {"profiles": {"scripted": profile}, "default": ["scripted"], "local": False} | models,
    }


@dataclass(frozen=True)
class ScriptedApp:
    """An open app, and the model of its agents."""

    app: App
    model_server: ModelServer

    async def start_run(self, query: str = "Go.", *, budgets: dict[str, Any] | None = None, **fields: Any) -> Run:
        """Start a run of an agent with the test's tools."""
        return await start_run(self.app, query, budgets=budgets, **fields)

    async def run_to_end(self, query: str = "Go.", **fields: Any) -> Run:
        """Return the run once it has ended or is blocked."""
        run = await self.start_run(query, **fields)
        return await self.wait_for_end(run)

    async def wait_for_end(self, run: Run) -> Run:
        await self.collect_events(run)
        return await self.app.runs.get(run.id)

    async def collect_events(self, run: Run, after: int = 0) -> list[RunEvent]:
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            return [event async for event in self.app.runs.follow(run.id, after)]


async def start_run(
    app: App,
    query: str,
    *,
    budgets: dict[str, Any] | None = None,
    add: Sequence[str] = (),
    parent: Run | None = None,
    **fields: Any,
) -> Run:
    """Start a run with additional tools of its caller, perhaps below another run."""
    described: dict[str, Any] = {
        "name": "tester",
        "description": "tests",
        "instructions": "Do it.",
        "toolsets": ["ledger"],
    }
    agent = Agent(**(described | fields), budgets=Budgets(**(budgets or {})))
    conversation = await app.runs.conversations.create(Call(), agent.name, title="test")
    call = parent.build_call("call_of_another") if parent else Call(identity="ann")
    return await app.runs.start(agent, Assignment(query, add), call, conversation)


@asynccontextmanager
async def open_scripted_app(play: TurnScript, wire: str = "chat", **settings: Any) -> AsyncGenerator[ScriptedApp]:
    """Open an app with a model that follows this script."""
    server = ModelServer(play)
    async with http_servers.serve_app(server.build_app()) as url:
        loaded = load(build_model_settings(url, wire) | settings, environ={"SCRIPTED_KEY": SCRIPTED_API_KEY})
        async with open_app(sqlite.prepare_work_databases(loaded)) as app:
            yield ScriptedApp(app, server)


class AgentWorkerProcess:
    """A separate process that starts a run, or takes over runs of dead processes.

    Args:
        fork_server: Forks it.
        home: Its home folder with its database.
        plugins: The folder with the tools' plugin.
        url: The model's server.
        query: The task; None to only take over other runs.
    """

    def __init__(
        self, fork_server: ForkServer, home: Path, plugins: Path, url: str, query: str | None = None, database: str = ""
    ) -> None:
        reading, writing = os.pipe()
        self._output = os.fdopen(reading)
        environ = {**os.environ, "HOME": str(home), "PYTHONPATH": str(plugins), "SCRIPTED_KEY": SCRIPTED_API_KEY}
        with os.fdopen(writing, "w") as output:
            self._process = fork_server.fork_process([url, query or "", database], environ, home, output)

    def read_line(self) -> str:
        """Read the next line: the run's id, or that the process is ready."""
        return self._output.readline().strip()

    def kill(self) -> None:
        """Kill it, as a power cut would."""
        self._process.kill()
        self._output.close()


def start_agent_fork_server() -> ForkServer:
    """Start the server that forks such processes."""
    needed = ("outrider.agents.*", "outrider.toolsets.*", "outrider.app.*", "pydantic_ai.models.openai")
    return ForkServer("support.processes.agent_worker", *needed, "aiosqlite", "sqlalchemy.ext.asyncio", "psycopg")
