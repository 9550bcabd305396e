"""What it costs that an agent survives its process: a step, many runs at once, and the way of a word to the client."""

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

from bench.agent_steps import durable
from bench.call_overhead import plugin
from bench.figures import Measured, Part
from bench.peers import HERE, outrider
from bench.processes import family, megabytes
from bench.server import TICKS, Server

BARE, OURS = "bare pydantic-ai loop", "outrider mcp"
NOBODY, SOMEBODY = "outrider mcp without agents", "outrider mcp with an agent and a model"
STEPS = 30
AT_ONCE = 50
AGENT = "---\ndescription: Works for the benchmark\ntoolsets: [echoes]\n---\nDo it.\n"
LONG = {"steps": STEPS, "words": 1, "apart": 0.0}
MANY = {"steps": 3, "words": 40, "apart": 0.05}


@dataclass(frozen=True)
class Done:
    """A turn: seconds in all, of the processor, and between the sending of each word and its arrival."""

    wall: float
    cpu: float
    late: list[float]
    megabytes: float


class Bare:
    """The yardstick's process."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, str(HERE / "agents_bare.py"), url]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def work(self, runs: int, task: dict[str, Any]) -> Done:
        assert self._process.stdin
        assert self._process.stdout
        used = _cpu(self._process.pid)
        self._process.stdin.write(json.dumps({"runs": runs, "task": task}) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        return Done(said["wall"], _cpu(self._process.pid) - used, said["late"], _size(self._process.pid))


class Ours(Server):
    """`outrider mcp` with one agent."""

    def work(self, runs: int, task: dict[str, Any]) -> Done:
        used, started, late = self.cpu(), time.perf_counter(), []
        calls = [
            {"name": "run_bench", "arguments": {"query": json.dumps(task)}, "_meta": {"progressToken": f"p{number}"}}
            for number in range(runs)
        ]
        for heard in self.told("tools/call", calls):
            now, output = time.time(), _output(heard)
            if output.get("type") == "run_agent_generation_tokens":
                late += [now - float(word) for word in output["text"].split()]
            assert not heard.get("result", {}).get("isError"), heard
        return Done(time.perf_counter() - started, self.cpu() - used, late, _size(self.pid))


def run(*, quick: bool) -> Part:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url = stack.enter_context(serve_model())
        workers: dict[str, Bare | Ours] = {BARE: stack.enter_context(Bare(url))}
        workers[OURS] = stack.enter_context(_ours(Path(folder), url))
        alone = _turns({BARE: workers[BARE], OURS: workers[OURS]}, 1, LONG, 1 if quick else 7)
        one = _turns(workers, 1, MANY, 1 if quick else 3)
        many = _turns(workers, AT_ONCE, MANY, 1 if quick else 3)
    with tempfile.TemporaryDirectory() as folder:
        begun = _begun(Path(folder), 1 if quick else 9)
    written = durable(1 if quick else 5)
    return Part("Agents", METHOD, [begun, *_steps(alone), *written, *_ways("one run", one), *_crowd(many)])


METHOD = (
    "A scripted model in another process drives both loops over loopback HTTP. A step is one request to the model and "
    f"one call of a tool that repeats a word; a run has {STEPS}. Outrider stores each step before and after (in "
    f"SQLite), so that another process could continue the run. Then {AT_ONCE} runs take place at the same time, each "
    "with three steps and 40 words that arrive 50 milliseconds apart. A word's delay is measured from the model's "
    "server to the event in the bare loop's own process; for Outrider, to the MCP client over stdio, which gets at "
    "most twenty notifications a second. A single run repeats the same words for comparison. A durable step is what "
    "is written for one tool call: two transactions, measured alone. Memory is that of the process after its turn. "
    "The start is that of a new process without a daemon."
)


def _begun(folder: Path, turns: int) -> Measured:
    """CPU seconds until `tools/list` is answered, in turns; the first turn fills the disk cache."""
    _employed(folder / SOMEBODY)
    kinds = {NOBODY: outrider(), SOMEBODY: outrider(*_thinking("http://127.0.0.1:9/v1"))}
    used: dict[str, list[float]] = {name: [] for name in kinds}
    for turn in range(turns + 1):
        for name, command in kinds.items():
            with Server(command, HOME=str(folder / name)) as server:
                server.tools()
                cpu = server.end()[1]
            if turn:
                used[name].append(cpu)
    return Measured("CPU seconds until the tools are listed", NOBODY, used)


def _steps(done: dict[str, list[Done]]) -> list[Measured]:
    wall = {name: [each.wall * 1000 / STEPS for each in turns] for name, turns in done.items()}
    cpu = {name: [each.cpu * 1000 / STEPS for each in turns] for name, turns in done.items()}
    return [Measured("wall milliseconds a step", BARE, wall), Measured("CPU milliseconds a step", BARE, cpu)]


def _ways(which: str, done: dict[str, list[Done]]) -> list[Measured]:
    def way(at: int) -> dict[str, list[float]]:
        return {name: [quantiles(each.late, n=100)[at] * 1000 for each in turns] for name, turns in done.items()}

    return [
        Measured(f"milliseconds of a word's delay, {which}, median", BARE, way(49), digits=0),
        Measured(f"milliseconds of a word's delay, {which}, 95th percentile", BARE, way(94), digits=0),
    ]


def _crowd(done: dict[str, list[Done]]) -> list[Measured]:
    return [
        *_ways(f"{AT_ONCE} runs", done),
        Measured(f"seconds for {AT_ONCE} runs", BARE, {name: [each.wall for each in of] for name, of in done.items()}),
        Measured(
            f"CPU seconds for {AT_ONCE} runs", BARE, {name: [each.cpu for each in of] for name, of in done.items()}
        ),
        Measured("megabytes", BARE, {name: [each.megabytes for each in of] for name, of in done.items()}, digits=0),
    ]


def _turns(workers: dict[str, Any], runs: int, task: dict[str, Any], turns: int) -> dict[str, list[Done]]:
    """Each worker's turns, one after the other; a turn before them loads what is loaded at the first run."""
    for worker in workers.values():
        worker.work(1, LONG | {"steps": 1})
    done: dict[str, list[Done]] = {name: [] for name in workers}
    for _ in range(turns):
        for name, worker in workers.items():
            done[name].append(worker.work(runs, task))
    return done


def _ours(folder: Path, url: str) -> Ours:
    _employed(folder)
    flags = _thinking(url, "run_agent.progress=deltas")
    command = outrider("--toolsets", "run_agent,echoes", *flags)
    return Ours(command, HOME=str(folder), PYTHONPATH=str(plugin(folder)))


def _employed(home: Path) -> None:
    """A home with an agent."""
    agents = home / ".outrider" / "agents"
    agents.mkdir(parents=True)
    (agents / "bench.md").write_text(AGENT)


def _thinking(url: str, *more: str) -> list[str]:
    """The options under which agents use that model."""
    model = ("models.default=bench", "models.profiles.bench.model=bench", f"models.profiles.bench.base_url={url}")
    return [part for each in (*model, *more) for part in ("--set", each)]


@contextmanager
def serve_model() -> Generator[str]:
    """The model's server; yields its base address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(HERE / "agents_model.py"), str(port)])
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


def _output(message: dict[str, Any]) -> dict[str, Any]:
    """What a progress notice holds beside its message."""
    return message.get("params", {}).get("_meta", {}).get("data", {}).get("output", {})


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICKS


def _size(process: int) -> float:
    return megabytes(family(process))
