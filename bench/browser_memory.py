"""What many sessions hold in memory, and what a killed server leaves behind."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

from bench.browser_peers import (
    CHROMIUM,
    AgentBrowser,
    Contender,
    DevTools,
    Outrider,
    Playwright,
    agent_browser,
    agent_environ,
)
from bench.peers import FOLDER, HERE, node_command
from bench.processes import end, family, left, megabytes

PAGE = "/form"
REST = 3.0  # seconds after the last session, for the browser to come to rest
PARKED = 10


class Parking(Outrider):
    settings = ("--set", "browser.park_s=2")


def sessions(url: str, count: int) -> dict[str, float]:
    """Megabytes of so many sessions with a page each, everything included."""
    ways: dict[str, Callable[[str, int], float]] = {
        "outrider mcp": ours,
        "Playwright, contexts of one browser": contexts,
        "agent-browser, a session each": daemons,
    }
    return {name: measured(url, count) for name, measured in ways.items()}


def ours(url: str, count: int) -> float:
    """Megabytes with one empty page more, which is kept ready for the next session."""
    with Outrider(url) as server:
        server.go(PAGE)
        for _ in range(count - 1):
            server.call("createSession", url=f"{url}{PAGE}")
        return _held(server.server.pid)


def contexts(url: str, count: int) -> float:
    command = node_command("playwright-core", "")
    assert command, "npm is missing"
    script = [command[0], str(HERE / "contexts.cjs"), str(FOLDER / "node_modules" / "playwright-core")]
    with subprocess.Popen(
        [*script, CHROMIUM, f"{url}{PAGE}", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == "ready"
        held = _held(process.pid)
        kin = family(process.pid)
        process.kill()
        end(kin)
        return held


def daemons(url: str, count: int) -> float:
    tag = f"bench{time.monotonic_ns()}"
    names = [f"{tag}x{number}" for number in range(count)]
    try:
        for name in names:
            _agent(name, "open", f"{url}{PAGE}")
        return _held(0, tag)
    finally:
        for name in names:
            _agent(name, "close")
        end(family(0, tag))


def _agent(session: str, *words: str) -> None:
    environ = dict(os.environ) | agent_environ(session)
    subprocess.run(
        [*agent_browser(), *words], env=environ, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def _held(root: int, tag: str = "") -> float:
    time.sleep(REST)
    return megabytes(family(root, tag))


def parked(url: str) -> float:
    """Megabytes that one more session holds while it is put away."""
    with Parking(url) as server:
        server.go(PAGE)
        first = _asleep(server)
        for _ in range(PARKED):
            server.call("createSession", url=f"{url}{PAGE}")
        return (_asleep(server) - first) / PARKED


def _asleep(server: Contender) -> float:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(1)
        server.call("listSessions")
        rows = server.answer["structuredContent"]["sessions"]
        if all(row["status"] == "Asleep" for row in rows):
            return _held(server.server.pid)
    raise RuntimeError("the sessions are not put away")


def leftovers(url: str) -> dict[str, int]:
    """Processes that still run five seconds after `kill -9` of the server."""
    found = {}
    for kind in (Outrider, Playwright, AgentBrowser, DevTools):
        contender = kind(url)
        contender.server.__enter__()
        contender.start()
        contender.go(PAGE)
        tag = contender.session if isinstance(contender, AgentBrowser) else ""
        kin = family(contender.server.pid, tag)
        os.kill(contender.server.pid, signal.SIGKILL)
        contender.server.__exit__()
        found[kind.name] = left(kin)
        end(kin)
        contender.folder.cleanup()
    return found
