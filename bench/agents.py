"""Measure durable agents: a step, many runs at once, a word's delay."""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any, Self

from bench.agent_steps import compare_durable_steps
from bench.call_overhead import write_plugin
from bench.peers import BENCH_FOLDER, build_outrider_command
from bench.process_tree import find_processes, sum_memory_mb
from bench.stdio_server import TICKS_PER_SECOND, StdioServer
from bench.tables import Comparison, Part

BARE_LOOP, OUTRIDER_SERVER = "bare pydantic-ai loop", "outrider mcp"
WITHOUT_AGENTS, WITH_AGENT = "outrider mcp without agents", "outrider mcp with an agent and a model"
STEPS_PER_RUN = 30
PARALLEL_RUNS = 50
LONG_TASK = {"steps": STEPS_PER_RUN, "words": 1, "apart": 0.0}


@dataclass(frozen=True)
class Turn:
    """A turn: its seconds, CPU seconds, the delay of each word, and megabytes."""

    wall: float
    cpu: float
    late: list[float]
    megabytes: float


class BareLoop:
    """Drive the process of the baseline."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, str(BENCH_FOLDER / "bare_agent_loop.py"), url]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def run_tasks(self, runs: int, task: dict[str, Any]) -> Turn:
        assert self._process.stdin
        assert self._process.stdout
        used = _read_cpu_seconds(self._process.pid)
        self._process.stdin.write(json.dumps({"runs": runs, "task": task}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Turn(
            answer["wall"],
            _read_cpu_seconds(self._process.pid) - used,
            answer["late"],
            _read_memory_mb(self._process.pid),
        )


class AgentServer(StdioServer):
    """Drive `outrider mcp` with one agent."""

    def run_tasks(self, runs: int, task: dict[str, Any]) -> Turn:
        used, started, late = self.read_cpu_seconds(), time.perf_counter(), []
        calls = [
            {"name": "run_bench", "arguments": {"query": json.dumps(task)}, "_meta": {"progressToken": f"p{number}"}}
            for number in range(runs)
        ]
        for heard in self.stream_messages("tools/call", calls):
            now, output = time.time(), _read_progress_output(heard)
            if output.get("type") == "run_agent_generation_tokens":
                late += [now - float(word) for word in output["text"].split()]
            assert not heard.get("result", {}).get("isError"), heard
        return Turn(time.perf_counter() - started, self.read_cpu_seconds() - used, late, _read_memory_mb(self.pid))


def run(*, quick: bool) -> Part:
    short_task = {"steps": 3, "words": 40, "apart": 0.05}
    method = (
        "A scripted model in another process drives both loops over loopback HTTP. A step is one request to the model "
        f"and one call of a tool that repeats a word; a run has {STEPS_PER_RUN} steps. Outrider stores each step "
        f"before and after it runs (in SQLite), so that another process could continue the run. Then {PARALLEL_RUNS} "
        "runs take place at the same time, each with three steps and 40 words that arrive 50 milliseconds apart. A "
        "word's delay is measured from the model's server to the event in the bare loop's own process; for Outrider, "
        "to the MCP client over stdio, which gets at most twenty notifications a second. A single run repeats the same "
        "words for comparison. A durable step is the two transactions of one tool call, measured alone. Memory is that "
        "of the process after its turn. The start-up is that of a new process without a daemon."
    )
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = stack.enter_context(serve_model())
        workers: dict[str, BareLoop | AgentServer] = {BARE_LOOP: stack.enter_context(BareLoop(url))}
        workers[OUTRIDER_SERVER] = stack.enter_context(_build_agent_server(Path(folder), url))
        alone = _measure_turns(
            {BARE_LOOP: workers[BARE_LOOP], OUTRIDER_SERVER: workers[OUTRIDER_SERVER]}, 1, LONG_TASK, 1 if quick else 7
        )
        one = _measure_turns(workers, 1, short_task, 1 if quick else 3)
        many = _measure_turns(workers, PARALLEL_RUNS, short_task, 1 if quick else 3)
    with tempfile.TemporaryDirectory() as folder:
        started = _compare_starts(Path(folder), 1 if quick else 9)
    written = compare_durable_steps(1 if quick else 5)
    return Part(
        "Agents",
        method,
        [started, *_compare_steps(alone), *written, *_compare_delays("one run", one), *_compare_parallel_runs(many)],
    )


def _compare_starts(folder: Path, turns: int) -> Comparison:
    """Measure CPU seconds until `tools/list` is answered, after a warm-up turn."""
    _write_agent(folder / WITH_AGENT)
    kinds = {
        WITHOUT_AGENTS: build_outrider_command(),
        WITH_AGENT: build_outrider_command(*_build_model_options("http://127.0.0.1:9/v1")),
    }
    used: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(turns + 1):
        for name, command in kinds.items():
            with StdioServer(command, HOME=str(folder / name)) as server:
                server.list_tools()
                cpu = server.kill()[1]
            if turn:
                used[name].append(cpu)
    return Comparison("CPU seconds until the tools are listed", WITHOUT_AGENTS, used)


def _compare_steps(done: dict[str, list[Turn]]) -> list[Comparison]:
    wall = {name: [each.wall * 1000 / STEPS_PER_RUN for each in turns] for name, turns in done.items()}
    cpu = {name: [each.cpu * 1000 / STEPS_PER_RUN for each in turns] for name, turns in done.items()}
    return [
        Comparison("wall milliseconds a step", BARE_LOOP, wall),
        Comparison("CPU milliseconds a step", BARE_LOOP, cpu),
    ]


def _compare_delays(which: str, done: dict[str, list[Turn]]) -> list[Comparison]:
    def compute_percentile(at: int) -> dict[str, list[float]]:
        return {name: [quantiles(each.late, n=100)[at] * 1000 for each in turns] for name, turns in done.items()}

    return [
        Comparison(f"milliseconds of a word's delay, {which}, median", BARE_LOOP, compute_percentile(49), digits=0),
        Comparison(
            f"milliseconds of a word's delay, {which}, 95th percentile", BARE_LOOP, compute_percentile(94), digits=0
        ),
    ]


def _compare_parallel_runs(done: dict[str, list[Turn]]) -> list[Comparison]:
    return [
        *_compare_delays(f"{PARALLEL_RUNS} runs", done),
        Comparison(
            f"seconds for {PARALLEL_RUNS} runs",
            BARE_LOOP,
            {name: [each.wall for each in of] for name, of in done.items()},
        ),
        Comparison(
            f"CPU seconds for {PARALLEL_RUNS} runs",
            BARE_LOOP,
            {name: [each.cpu for each in of] for name, of in done.items()},
        ),
        Comparison(
            "megabytes", BARE_LOOP, {name: [each.megabytes for each in of] for name, of in done.items()}, digits=0
        ),
    ]


def _measure_turns(workers: dict[str, Any], runs: int, task: dict[str, Any], turns: int) -> dict[str, list[Turn]]:
    """Return the turns of each contender, after a warm-up turn."""
    for worker in workers.values():
        worker.run_tasks(1, LONG_TASK | {"steps": 1})
    done: dict[str, list[Turn]] = {name: [] for name in workers}
    for _ in range(turns):
        for name, worker in workers.items():
            done[name].append(worker.run_tasks(runs, task))
    return done


def _build_agent_server(folder: Path, url: str) -> AgentServer:
    _write_agent(folder)
    flags = _build_model_options(url, "run_agent.progress=deltas")
    command = build_outrider_command("--toolsets", "run_agent,echoes", *flags)
    return AgentServer(command, HOME=str(folder), PYTHONPATH=str(write_plugin(folder)))


def _write_agent(home: Path) -> None:
    """Write an agent into a home folder."""
    agent_file = "---\ndescription: Works for the benchmark\ntoolsets: [echoes]\n---\nDo it.\n"
    agents = home / ".outrider" / "agents"
    agents.mkdir(parents=True)
    (agents / "bench.md").write_text(agent_file)


def _build_model_options(url: str, *more: str) -> list[str]:
    """Return the options that make agents use a model."""
    model = ("models.default=bench", "models.profiles.bench.model=bench", f"models.profiles.bench.base_url={url}")
    return [part for each in (*model, *more) for part in ("--set", each)]


@contextmanager
def serve_model() -> Generator[str]:
    """Serve the scripted model; yields its base address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(BENCH_FOLDER / "scripted_model.py"), str(port)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _read_progress_output(message: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a progress notification, without its message."""
    return message.get("params", {}).get("_meta", {}).get("data", {}).get("output", {})


def _read_cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS_PER_SECOND


def _read_memory_mb(process: int) -> float:
    return sum_memory_mb(find_processes(process))
