"""Run the tasks of all applications, or of the named ones, and print a table."""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
from tests.apps.agent_browser_person import open_agent_browser
from tests.apps.applications import APPLICATIONS
from tests.apps.bed import DONE, FAILED, FALSE_SUCCESS, Application, Played, Site, play, serve
from tests.apps.devtools_person import open_devtools
from tests.apps.install import NotInstallableError
from tests.apps.outrider_person import open_outrider
from tests.apps.playwright_person import open_playwright

SERVERS = {
    "outrider": open_outrider,
    "playwright": open_playwright,
    "devtools": open_devtools,
    "agent-browser": open_agent_browser,
}


def main(applications: Mapping[str, Application] = APPLICATIONS, program: str = "tests.apps") -> int:
    options = argparse.ArgumentParser(prog=f"python -m {program}", description=__doc__)
    options.add_argument("applications", nargs="*", choices=[[], *applications], help="all if none is named")
    options.add_argument("--task", default="", help="only tasks with this text in their title")
    options.add_argument("--server", choices=SERVERS, default="outrider", help="the browser server that is used")
    options.add_argument("--transcripts", type=Path, help="write the calls and answers of each task into this folder")
    given = options.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # servers also end then, as with Ctrl+C
    chosen = [applications[name] for name in given.applications or applications]
    played = [each for application in chosen for each in _play_application(application, given)]
    print("\n".join(format_table(played)))
    return any(each.outcome != DONE for each in played)


def _play_application(application: Application, given: argparse.Namespace) -> list[Played]:
    titles = [title for n, title in enumerate(application.tasks) if not n or given.task in title]
    try:
        application.install()
    except (NotInstallableError, subprocess.CalledProcessError) as error:
        print(f"{application.name} is left out, because it cannot be installed here: {error}", flush=True)
        return []
    with serve(application) as site, tempfile.TemporaryDirectory() as folder:
        return anyio.run(_play_tasks, application, titles, site, Path(folder), given)


async def _play_tasks(
    application: Application, titles: Sequence[str], site: Site, folder: Path, given: argparse.Namespace
) -> list[Played]:
    played = []
    async with SERVERS[given.server]([site.url], folder) as person:
        for title in titles:
            played.append(each := await play(application, title, person, site))
            print(_format_row(each), flush=True)
            if given.transcripts:
                given.transcripts.mkdir(parents=True, exist_ok=True)
                name = f"{application.name} {title}.txt".replace("/", "-")
                (given.transcripts / name).write_text(f"{each.transcript}\n{each.outcome} {each.reason}\n")
    return played


def _format_row(each: Played) -> str:
    refused = f", {each.refusals} refused" if each.refusals else ""
    start = f"{each.application:12} {each.task:60.60} {each.outcome:14} {each.seconds:5.1f} s"
    return f"{start} {each.calls:3} calls {each.tokens:6} tokens{refused} {each.reason[:300]}"


def format_table(played: Sequence[Played]) -> list[str]:
    """Return the rows of a table in Markdown: one per application, and their sum."""
    names = list(dict.fromkeys(each.application for each in played))
    rows = [_format_sum(name, [each for each in played if each.application == name]) for name in names]
    head = "| application | tasks | done | failed loudly | false success | calls | tokens | seconds |"
    return [head, "|---|---:|---:|---:|---:|---:|---:|---:|", *rows, _format_sum("all", played)]


def _format_sum(name: str, played: Sequence[Played]) -> str:
    counts = [sum(each.outcome == outcome for each in played) for outcome in (DONE, FAILED, FALSE_SUCCESS)]
    calls, tokens = sum(each.calls for each in played), sum(each.tokens for each in played)
    numbers = [len(played), *counts, calls, f"{tokens:,}", f"{sum(each.seconds for each in played):.0f}"]
    return f"| {name} | {' | '.join(map(str, numbers))} |"


if __name__ == "__main__":
    sys.exit(main())
