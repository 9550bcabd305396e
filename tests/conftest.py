"""Run every test in its own home, without the user's keys and settings."""

import functools
import gc
import inspect
import math
import os
import signal
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, settings

from outrider.browser.process.launch import launch_browser
from outrider.core.errors import OutriderError
from support.databases import postgres, sqlite

# Properties are about results, not about speed: a busy machine must not fail them.
for profile, example_count in {"quick": 10, "nightly": 200}.items():
    settings.register_profile(
        profile, max_examples=example_count, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# A shell ignores Ctrl-C for what it starts in the background, and commands that tests interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

MAX_RERUNS = 3  # of end-to-end tests in one run: more mean a defect of the product or of the tests, not of the machine
FAILURE_LINES = 25  # of a native traceback, which begins with pytest's own frames
KEPT_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "VIRTUAL_ENV",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "PLAYWRIGHT_BROWSERS_PATH",
)


def pytest_sessionstart(session: pytest.Session) -> None:
    """End a run of whole folders with one sentence if no browser starts, instead of hundreds of failures."""
    if hasattr(session.config, "workerinput"):
        return
    folders = [path for path in map(Path, session.config.args) if path.is_dir()]
    tests = Path(__file__).parent
    needing = (tests / "e2e", tests / "contract")
    if any(path.resolve() == each or each.is_relative_to(path.resolve()) for path in folders for each in needing):
        anyio.run(require_browser)


async def require_browser() -> None:
    """End the run unless a browser starts."""
    try:
        running = await launch_browser()
    except OutriderError as error:
        pytest.exit(f"these tests need a browser: {error.message}; {error.hint}", pytest.ExitCode.USAGE_ERROR)
    await running.aclose()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn garbage collection off during collection, and then freeze the collected objects for the tests."""
    gc.disable()  # searching for garbage takes an eighth of the time, and there is little
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Bound a test that is marked `time_limit`, and refuse a limit that a fixture holds open.

    Such a limit cancels the task in which all tests of this process run, so that the next ones fail, too.
    """
    test, marker = pyfuncitem.obj, pyfuncitem.get_closest_marker("time_limit")
    if not inspect.iscoroutinefunction(test):
        return (yield)

    @functools.wraps(test)
    async def run_bounded(**arguments: Any) -> None:
        assert anyio.current_effective_deadline() == math.inf, "a fixture yields within a limit: use mark.time_limit"
        with anyio.fail_after(marker.args[0] if marker else None):
            await test(**arguments)

    pyfuncitem.obj = run_bounded
    try:
        return (yield)
    finally:
        pyfuncitem.obj = test  # a rerun bounds it again


class RerunLimit:
    """Fail the run if more than a few tests passed only at their second try."""

    def __init__(self) -> None:
        self.reruns: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":
            self.reruns.append(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.reruns) > MAX_RERUNS and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the end of each first failure, which would be lost if the second try passes."""
        for report in self.reruns:
            terminalreporter.write_sep("_", f"first failure of {report.nodeid}")
            terminalreporter.write_line("\n".join(report.longreprtext.splitlines()[-FAILURE_LINES:]))
        if len(self.reruns) > MAX_RERUNS:
            terminalreporter.write_line(f"failed: {len(self.reruns)} tests were run twice, at most {MAX_RERUNS} may be")


class SkipSummary:
    """Print at the end of the run how many tests were skipped, wholly or in part, and why."""

    def __init__(self) -> None:
        self.tests: defaultdict[str, set[str]] = defaultdict(set)  # by their missing requirement
        self.parts: defaultdict[str, set[str]] = defaultdict(set)  # tests with skipped subtests

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            reasons = self.parts if isinstance(report, pytest.SubtestReport) else self.tests
            reasons[report.longrepr[2].removeprefix("Skipped: ")].add(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count a module that skips all its tests as one."""
        if report.skipped and isinstance(report.longrepr, tuple):
            self.tests[report.longrepr[2].removeprefix("Skipped: ")].add(report.nodeid)  # each worker reports it

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print a line per reason; pytest prints reasons only on request, and never those of skipped subtests."""
        for how, reasons in (("skipped", self.tests), ("skipped in part", self.parts)):
            for reason, tests in sorted(reasons.items(), key=lambda each: -len(each[1])):
                terminalreporter.write_line(f"{how} {len(tests)}: {reason}")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(RerunLimit(), "rerun-limit")
    if not hasattr(config, "workerinput"):  # the reporting process, not one of its workers
        config.pluginmanager.register(SkipSummary(), "skip-summary")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def session_home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A home for programs that serve several tests and write into it, such as browsers."""
    folder = tmp_path_factory.mktemp("session-home")
    downloaded = Path("~/.cache/ms-playwright").expanduser()
    with pytest.MonkeyPatch.context() as patch:
        if downloaded.is_dir() and "PLAYWRIGHT_BROWSERS_PATH" not in os.environ:
            patch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(downloaded))
        patch.setenv("HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory, which is also the working directory."""
    for name in set(os.environ) - set(KEPT_VARIABLES) - {name for name in os.environ if name.startswith("PYTEST")}:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def tables(home: Path) -> Path:
    """The home's database with all tables, because creating them takes a process half a second."""
    return sqlite.create_migrated_file(home / ".outrider" / "outrider.db")


@pytest.fixture(scope="session")
def server() -> Generator[postgres.PostgresServer]:
    """One Postgres for all tests of this process. Each uses its own databases; a test that stops it restarts it."""
    programs = postgres.require_programs()
    with postgres.start_server(programs) as made:
        yield made
