"""An MCP server as a child process, spoken to line by line: nothing of a client's own cost is in the figures."""

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

TICKS = os.sysconf("SC_CLK_TCK")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}


class Server:
    """A started server; use as a context manager."""

    def __init__(self, command: Sequence[str], **environ: str) -> None:
        self.started = time.perf_counter()
        self._number = 0
        self._process = subprocess.Popen(
            command,
            env=dict(os.environ) | environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        self.request("initialize", HELLO)
        self._send({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request."""
        self._ask(method, params)
        return self._answer()["result"]

    def many(self, method: str, calls: Iterable[dict[str, Any]], *, at_once: int) -> list[dict[str, Any]]:
        """The results of many requests of which so many are under way at a time, in the order of their arrival."""
        waiting = iter(calls)
        found: list[dict[str, Any]] = []
        asked = 0
        for params in islice(waiting, at_once):
            self._ask(method, params)
            asked += 1
        while len(found) < asked:
            found.append(self._answer()["result"])
            for params in islice(waiting, 1):
                self._ask(method, params)
                asked += 1
        return found

    def told(self, method: str, calls: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Asks all at the same time; yields notices and answers as they come, until all are answered."""
        for params in calls:
            self._ask(method, params)
        left = len(calls)
        assert self._process.stdout
        while left:
            with suppress(ValueError):
                message = json.loads(self._process.stdout.readline())
                left -= "result" in message or "error" in message
                yield message

    def tools(self) -> list[dict[str, Any]]:
        """The listed tools."""
        return self.request("tools/list", {})["tools"]

    def end(self) -> tuple[float, float]:
        """Kills the server; returns the seconds since its start and the CPU seconds that it used."""
        wall = time.perf_counter() - self.started
        self._process.kill()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return wall, usage.ru_utime + usage.ru_stime

    def cpu(self) -> float:
        """CPU seconds used so far by all its threads and by children that have ended; Linux only, elsewhere 0."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS

    def _ask(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})

    def _answer(self) -> dict[str, Any]:
        """The next answer; notices in between are passed over."""
        assert self._process.stdout
        for line in self._process.stdout:
            with suppress(ValueError):
                answer = json.loads(line)
                if "result" in answer or "error" in answer:
                    return answer
        raise RuntimeError(f"the server ended: {self._process.args}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self._process.stdin.flush()
