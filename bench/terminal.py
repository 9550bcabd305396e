"""A step in a shell beside the commands of other makers: wall time, processors, and what a model reads."""

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

from bench.browser_peers import BARE, CHROMIUM, agent_browser, agent_environ
from bench.figures import Measured, Part
from bench.peers import node, node_command
from bench.processes import PROC, family
from bench.sites import served_by
from outrider.core.text import count_tokens

TURNS = 15
STEPS = ("tabs", "fill", "click", "snapshot")
SKILLS = {"outrider browser": "outrider", "playwright-cli": "@playwright/cli", "agent-browser": "agent-browser"}


class Shell(ABC):
    """A command of one maker, in a folder and with processes of its own."""

    name = ""

    def __init__(self, url: str) -> None:
        self.url = url
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.folder = Path(self._folder.name)
        self.tag = f"BENCH_TAG={time.monotonic_ns()}"
        name, _, value = self.tag.partition("=")
        self.environ = os.environ | {"HOME": self._folder.name, name: value} | self.settings()

    def __enter__(self) -> Self:
        self.run(*self.opening())
        return self

    def __exit__(self, *_: object) -> None:
        self.run(*self.closing())
        self._folder.cleanup()

    @abstractmethod
    def command(self) -> list[str]: ...

    def settings(self) -> dict[str, str]:
        return {}

    def opening(self) -> tuple[str, ...]:
        return ("open", f"{self.url}/form")

    def closing(self) -> tuple[str, ...]:
        return ("close",)

    def words(self, step: str) -> tuple[str, ...]:
        """The words of a step after the command."""
        return {"tabs": ("tabs",), "fill": ("fill", "#f0", "Ada"), "click": ("click", "#bump")}.get(step, (step,))

    def run(self, *words: str) -> str:
        """Returns the output of a command; raises if it fails."""
        command = [*self.command(), *words]
        ran = subprocess.run(command, cwd=self.folder, env=self.environ, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise RuntimeError(f"{self.name} {' '.join(words)}: {ran.stdout[-500:]} {ran.stderr[-500:]}")
        return ran.stdout

    def processor_seconds(self) -> float:
        """Returns the processor time of all its processes but the browser's."""
        waited = resource.getrusage(resource.RUSAGE_CHILDREN)
        lasting = sum(read_processor_seconds(number) for number in family(0, self.tag))
        return waited.ru_utime + waited.ru_stime + lasting


def read_processor_seconds(number: int) -> float:
    """Returns the processor time of a process; 0 for one of the browser."""
    try:
        if "chrom" in str((PROC / str(number) / "exe").readlink()):
            return 0.0
        fields = (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Outrider(Shell):
    name = "outrider browser"

    def command(self) -> list[str]:
        return [sys.executable, "-m", "outrider", "browser"]

    def settings(self) -> dict[str, str]:
        return {"OUTRIDER_EGRESS__ALLOW": self.url.removeprefix("http://")}

    def __exit__(self, *_: object) -> None:
        self.run(*self.closing())
        stop = [sys.executable, "-m", "outrider", "daemon", "stop"]
        subprocess.run(stop, env=self.environ, capture_output=True, check=False)
        self._folder.cleanup()


class PlaywrightCli(Shell):
    name = "playwright-cli"

    def __init__(self, url: str) -> None:
        super().__init__(url)
        launch = {"executablePath": CHROMIUM, "args": BARE, "chromiumSandbox": not BARE}
        settings = {"browser": {"browserName": "chromium", "launchOptions": launch}}
        (self.folder / ".playwright").mkdir()
        (self.folder / ".playwright" / "cli.config.json").write_text(json.dumps(settings))

    def command(self) -> list[str]:
        command = node_command("@playwright/cli", "playwright-cli.js")
        assert command, "npm is missing"
        return command

    def words(self, step: str) -> tuple[str, ...]:
        return ("tab-list",) if step == "tabs" else super().words(step)


class AgentBrowser(Shell):
    name = "agent-browser"

    def command(self) -> list[str]:
        return agent_browser()

    def settings(self) -> dict[str, str]:
        return agent_environ(f"bench{time.monotonic_ns()}")

    def words(self, step: str) -> tuple[str, ...]:
        return ("tab", "list") if step == "tabs" else super().words(step)


def run(*, quick: bool) -> Part:
    turns = 2 if quick else TURNS
    with served_by("bench.browser_site") as url, ExitStack() as stack:
        shells: list[Shell] = [Outrider(url)]
        if node() is not None:
            shells += [PlaywrightCli(url), AgentBrowser(url)]
        for shell in shells:
            stack.enter_context(shell)
        tables = list(measure(shells, turns))
    method = (
        "A form of thirty fields is open in each program's browser, and its background process is warm. One command "
        "each lists the tabs, fills a field, presses a button, and shows the page. Listing tabs asks almost nothing "
        "of the browser, so it shows what the command itself costs. Processor time is that of the command and of the "
        "process that keeps the browser, without the browser."
    )
    remark = (
        "`outrider browser` and playwright-cli show what a click did: the first as a difference, the second as a file "
        "to read. agent-browser only says that it clicked. A skill is the file that a coding agent reads first."
    )
    return Part("The terminal", method, tables, remark)


def measure(shells: list[Shell], turns: int) -> Iterator[Measured]:
    """The tables of each step, measured in turns, and of what a model reads."""
    wall: dict[str, dict[str, list[float]]] = {step: {each.name: [] for each in shells} for step in STEPS}
    used: dict[str, list[float]] = {each.name: [] for each in shells}
    read = {each.name: 0 for each in shells}
    for turn in range(turns + 1):
        for shell in shells:
            before, answers = shell.processor_seconds(), []
            for step in STEPS:
                begun = time.perf_counter()
                answers.append(shell.run(*shell.words(step)))
                took = (time.perf_counter() - begun) * 1_000
                if turn:
                    wall[step][shell.name].append(took)
            if turn:
                used[shell.name].append((shell.processor_seconds() - before) * 1_000 / len(STEPS))
            read[shell.name] = count_tokens("".join(answers))
    first = shells[0].name
    for step, values in wall.items():
        yield Measured(f"wall milliseconds of `{step}`", first, values, digits=1)
    yield Measured("processor milliseconds a step, without the browser", first, used, digits=1)
    yield Measured("tokens of the four answers", first, {name: [count] for name, count in read.items()}, digits=0)
    skills = {shell.name: [count_tokens(read_skill(shell.name))] for shell in shells}
    yield Measured("tokens of the skill", first, skills, digits=0)


def read_skill(name: str) -> str:
    """The skill that a maker ships."""
    if name == "outrider browser":
        from outrider import skills

        return (Path(skills.__file__).parent / "outrider" / "SKILL.md").read_text()
    modules = node()
    assert modules is not None
    [found] = (modules / SKILLS[name] / "skills").glob("*/SKILL.md")
    return found.read_text()
