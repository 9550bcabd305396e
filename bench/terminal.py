"""Compare a step in a shell with other projects' commands: wall time, CPU time and tokens."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from bench.browser_peers import CHROMIUM, SANDBOX_FLAGS, build_agent_browser_environment, find_agent_browser
from bench.page_servers import run_site
from bench.peers import build_node_command, install_node_peers
from bench.process_tree import PROC_FOLDER, find_processes
from bench.tables import Comparison, Part
from outrider.core.text import count_tokens


class BrowserCommand(ABC):
    """Run one project's command, with its own folder and processes."""

    name = ""

    def __init__(self, url: str) -> None:
        self.url = url
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.tag = f"BENCH_TAG={time.monotonic_ns()}"
        name, _, value = self.tag.partition("=")
        self.environ = os.environ | {"HOME": self._folder.name, name: value} | self.build_environment()

    def __enter__(self) -> Self:
        self.run_words(*self.list_open_words())
        return self

    def __exit__(self, *_: object) -> None:
        self.run_words(*self.list_close_words())
        self._folder.cleanup()

    @abstractmethod
    def build_command(self) -> list[str]: ...

    def build_environment(self) -> dict[str, str]:
        return {}

    def list_open_words(self) -> tuple[str, ...]:
        return ("open", f"{self.url}/form")

    def list_close_words(self) -> tuple[str, ...]:
        return ("close",)

    def list_step_words(self, step: str) -> tuple[str, ...]:
        """Return the words of a step after the command."""
        return {"tabs": ("tabs",), "fill": ("fill", "#f0", "Ada"), "click": ("click", "#bump")}.get(step, (step,))

    def run_words(self, *words: str) -> str:
        """Return the output of a command; raises if it fails."""
        command = [*self.build_command(), *words]
        ran = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"{self.name} {' '.join(words)}: {ran.stdout[-500:]} {ran.stderr[-500:]}")
        return ran.stdout

    def read_cpu_seconds(self) -> float:
        """Return the CPU seconds of all its processes except the browser's."""
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        lasting = sum(read_processor_seconds(number) for number in find_processes(0, self.tag))
        return waited.ru_utime + waited.ru_stime + lasting


def read_processor_seconds(number: int) -> float:
    """Return the CPU seconds of a process; 0 for one of the browser."""
    try:
        if "chrom" in str((PROC_FOLDER / str(number) / "exe").readlink()):
            return 0.0
        fields = (PROC_FOLDER / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class OutriderCommand(BrowserCommand):
    name = "outrider browser"

    def build_command(self) -> list[str]:
        return [sys.executable, "-m", "outrider", "browser"]

    def build_environment(self) -> dict[str, str]:
        return {"OUTRIDER_EGRESS__ALLOW": self.url.removeprefix("http://")}

    def __exit__(self, *_: object) -> None:
        self.run_words(*self.list_close_words())
        stop = [sys.executable, "-m", "outrider", "daemon", "stop"]
        subprocess.run(stop, env=self.environ, capture_output=True, check=False)
        self._folder.cleanup()


class PlaywrightCli(BrowserCommand):
    name = "playwright-cli"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        launch = {"executablePath": CHROMIUM, "args": SANDBOX_FLAGS, "chromiumSandbox": not SANDBOX_FLAGS}
        settings = {"browser": {"browserName": "chromium", "launchOptions": launch}}
        (self.folder / ".playwright").mkdir()
        (self.folder / ".playwright" / "cli.config.json").write_text(json.dumps(settings))

    def build_command(self) -> list[str]:
        command = build_node_command("@playwright/cli", "playwright-cli.js")
        assert command, "npm is missing"
        return command

    def list_step_words(self, step: str) -> tuple[str, ...]:
        return ("tab-list",) if step == "tabs" else super().list_step_words(step)


class AgentBrowserCommand(BrowserCommand):
    name = "agent-browser"

    def build_command(self) -> list[str]:
        return find_agent_browser()

    def build_environment(self) -> dict[str, str]:
        return build_agent_browser_environment(f"bench{time.monotonic_ns()}")

    def list_step_words(self, step: str) -> tuple[str, ...]:
        return ("tab", "list") if step == "tabs" else super().list_step_words(step)


def run(*, quick: bool) -> Part:
    turn_count = 15
    turns = 2 if quick else turn_count
    with run_site("bench.browser_site") as url, ExitStack() as stack:
        shells: list[BrowserCommand] = [OutriderCommand(url)]
        if install_node_peers() is not None:
            shells += [PlaywrightCli(url), AgentBrowserCommand(url)]
        for shell in shells:
            stack.enter_context(shell)
        tables = list(compare_steps(shells, turns))
    method = (
        "A form of thirty fields is open in each program's browser, and its background process is warm. One command "
        "each lists the tabs, fills a field, presses a button, and shows the page. Listing tabs asks almost nothing "
        "of the browser, so it shows what the command itself costs. Processor time is that of the command and of the "
        "process that holds the browser, without the browser."
    )
    remark = (
        "`outrider browser` and playwright-cli show what a click did: the first as a difference, the second as a file "
        "to read. agent-browser only says that it clicked. A skill is the file that a coding agent reads first."
    )
    return Part("The terminal", method, tables, remark)


def compare_steps(shells: list[BrowserCommand], turns: int) -> Iterator[Comparison]:
    """Yield the tables of each step and of the tokens that a model reads."""
    step_names = ("tabs", "fill", "click", "snapshot")
    wall: dict[str, dict[str, list[float]]] = {step: {each.name: [] for each in shells} for step in step_names}
    used: dict[str, list[float]] = {each.name: [] for each in shells}
    read = {each.name: 0 for each in shells}
    for turn in range(turns + 1):
        for shell in shells:
            before, answers = shell.read_cpu_seconds(), []
            for step in step_names:
                started = time.perf_counter()
                answers.append(shell.run_words(*shell.list_step_words(step)))
                duration = (time.perf_counter() - started) * 1_000
                if turn:
                    wall[step][shell.name].append(duration)
            if turn:
                used[shell.name].append((shell.read_cpu_seconds() - before) * 1_000 / len(step_names))
            read[shell.name] = count_tokens("".join(answers))
    first = shells[0].name
    for step, values in wall.items():
        yield Comparison(f"wall milliseconds of `{step}`", first, values, digits=1)
    yield Comparison("processor milliseconds a step, without the browser", first, used, digits=1)
    yield Comparison("tokens of the four answers", first, {name: [count] for name, count in read.items()}, digits=0)
    skills = {shell.name: [count_tokens(read_skill(shell.name))] for shell in shells}
    yield Comparison("tokens of the skill", first, skills, digits=0)


def read_skill(name: str) -> str:
    """Return the skill that a project ships."""
    skill_folders = {
        "outrider browser": "outrider",
        "playwright-cli": "@playwright/cli",
        "agent-browser": "agent-browser",
    }
    if name == "outrider browser":
        from outrider import skills

        return (Path(skills.__file__).parent / "outrider" / "SKILL.md").read_text()
    modules = install_node_peers()
    assert modules is not None
    [found] = (modules / skill_folders[name] / "skills").glob("*/SKILL.md")
    return found.read_text()
