"""Measure the memory of many sessions, and what a killed server leaves running."""

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
    build_agent_browser_environment,
    find_agent_browser,
)
from bench.peers import BENCH_FOLDER, PEERS_FOLDER, build_node_command
from bench.process_tree import count_running, find_processes, kill_processes, sum_memory_mb

PAGE_PATH = "/form"


class ParkingOutrider(Outrider):
    settings = ("--set", "browser.park_s=2")


def measure_sessions(url: str, count: int) -> dict[str, float]:
    """Measure the megabytes of this many sessions with a page each, everything included."""
    ways: dict[str, Callable[[str, int], float]] = {
        "outrider mcp": measure_outrider_sessions,
        "Playwright, contexts of one browser": measure_playwright_contexts,
        "agent-browser, a session each": measure_agent_browser_daemons,
    }
    return {name: measured(url, count) for name, measured in ways.items()}


def measure_outrider_sessions(url: str, count: int) -> float:
    """Measure the megabytes with one more empty page, which is ready for the next session."""
    with Outrider(url) as server:
        server.open_page(PAGE_PATH)
        for _ in range(count - 1):
            server.call_tool("createSession", url=f"{url}{PAGE_PATH}")
        return _measure_idle_memory(server.server.pid)


def measure_playwright_contexts(url: str, count: int) -> float:
    command = build_node_command("playwright-core", "")
    assert command, "npm is missing"
    script = [command[0], str(BENCH_FOLDER / "contexts.cjs"), str(PEERS_FOLDER / "node_modules" / "playwright-core")]
    with subprocess.Popen(
        [*script, CHROMIUM, f"{url}{PAGE_PATH}", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline().strip() == "ready"
        held = _measure_idle_memory(process.pid)
        kin = find_processes(process.pid)
        process.kill()
        kill_processes(kin)
        return held


def measure_agent_browser_daemons(url: str, count: int) -> float:
    tag = f"bench{time.monotonic_ns()}"
    names = [f"{tag}x{number}" for number in range(count)]
    try:
        for name in names:
            _run_agent_browser(name, "open", f"{url}{PAGE_PATH}")
        return _measure_idle_memory(0, tag)
    finally:
        for name in names:
            _run_agent_browser(name, "close")
        kill_processes(find_processes(0, tag))


def _run_agent_browser(session: str, *words: str) -> None:
    environ = dict(os.environ) | build_agent_browser_environment(session)
    subprocess.run(
        [*find_agent_browser(), *words], env=environ, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def _measure_idle_memory(root: int, tag: str = "") -> float:
    rest_s = 3.0  # after the last session, until the browser is idle
    time.sleep(rest_s)
    return sum_memory_mb(find_processes(root, tag))


def measure_parked_session(url: str) -> float:
    """Measure the megabytes of one more parked session."""
    parked_sessions = 10
    with ParkingOutrider(url) as server:
        server.open_page(PAGE_PATH)
        first = _measure_parked_memory(server)
        for _ in range(parked_sessions):
            server.call_tool("createSession", url=f"{url}{PAGE_PATH}")
        return (_measure_parked_memory(server) - first) / parked_sessions


def _measure_parked_memory(server: Contender) -> float:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(1)
        server.call_tool("listSessions")
        rows = server.answer["structuredContent"]["sessions"]
        if all(row["status"] == "Asleep" for row in rows):
            return _measure_idle_memory(server.server.pid)
    raise RuntimeError("the sessions are not put away")


def count_leftover_processes(url: str) -> dict[str, int]:
    """Count the processes that still run five seconds after `kill -9` of the server."""
    found = {}
    for kind in (Outrider, Playwright, AgentBrowser, DevTools):
        contender = kind(url)
        contender.server.__enter__()
        contender.open_browser()
        contender.open_page(PAGE_PATH)
        tag = contender.session if isinstance(contender, AgentBrowser) else ""
        kin = find_processes(contender.server.pid, tag)
        os.kill(contender.server.pid, signal.SIGKILL)
        contender.server.__exit__()
        found[kind.name] = count_running(kin)
        kill_processes(kin)
        contender.folder.cleanup()
    return found
