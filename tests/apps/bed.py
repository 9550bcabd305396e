"""Define applications and their tasks, and run the tasks with a scripted person."""

import tempfile
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from tests.apps.person import Person, ToolError

TASK_TIMEOUT_S = 600.0
DONE, FAILED, FALSE_SUCCESS = "done", "failed loudly", "false success"


@dataclass
class Site:
    """A served application: its URL, its folder, and the tools to check its data.

    Attributes:
        url: Its address on loopback.
        folder: Its files and database.
        user: The account's name.
        password: Generated for this run.
        tools: Objects that checks need, by name.
    """

    url: str
    folder: Path
    user: str = "admin"
    password: str = ""
    tools: dict[str, Any] = field(default_factory=dict)


TaskScript = Callable[[Person, Site], Awaitable[bool]]


@dataclass
class Application:
    """An application with its tasks.

    Attributes:
        name: Its name.
        install: Fetches it from the indexes; does nothing if it is installed.
        serve: Starts it with fresh data in a folder.
        tasks: Their scripts by title, in the order in which they run; the first one signs in.
    """

    name: str
    install: Callable[[], object]
    serve: Callable[[Path], AbstractContextManager[Site]]
    tasks: dict[str, TaskScript] = field(default_factory=dict)

    def task(self, title: str) -> Callable[[TaskScript], TaskScript]:
        """Declare a task; its function returns whether the application's own data holds the outcome."""

        def keep(script: TaskScript) -> TaskScript:
            self.tasks[title] = script
            return script

        return keep


@dataclass(frozen=True)
class Played:
    """The outcome of a task."""

    application: str
    task: str
    outcome: str
    calls: int
    tokens: int
    seconds: float
    reason: str = ""
    refusals: int = 0
    transcript: str = ""


@contextmanager
def serve(application: Application) -> Generator[Site]:
    """Serve an application on fresh data; install it if necessary."""
    with tempfile.TemporaryDirectory(prefix="outrider-apps-") as folder, application.serve(Path(folder)) as site:
        yield site


async def play(application: Application, title: str, person: Person, site: Site) -> Played:
    """Run one task and classify its outcome by the application's own data."""
    calls, tokens, refusals, lines = person.calls, person.tokens, len(person.refusals), len(person.transcript)
    start, reason = time.monotonic(), ""
    try:
        with anyio.fail_after(TASK_TIMEOUT_S):
            outcome = DONE if await application.tasks[title](person, site) else FALSE_SUCCESS
    except (ToolError, LookupError, TimeoutError) as error:
        outcome, reason = FAILED, f"{type(error).__name__}: {error}"
    return Played(
        application.name,
        title,
        outcome,
        person.calls - calls,
        person.tokens - tokens,
        time.monotonic() - start,
        reason,
        len(person.refusals) - refusals,
        "\n".join(person.transcript[lines:]),
    )


async def becomes(check: Callable[[], bool], timeout_s: float = 20.0) -> bool:
    """Whether the application's data passes a check soon: some applications save after they have answered."""
    deadline = time.monotonic() + timeout_s
    while not check():
        if time.monotonic() > deadline:
            return False
        await anyio.sleep(0.1)
    return True
