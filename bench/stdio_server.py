"""Drive an MCP server over stdio, without the cost of a client."""

import json
import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, Self

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class StdioServer:
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
        initialize_params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        }
        self.send_request("initialize", initialize_params)
        self._write_message({"method": "notifications/initialized"})
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    def send_request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its result."""
        self._write_request(method, params)
        return self._read_answer()["result"]

    def send_requests(self, method: str, calls: Iterable[dict[str, Any]], *, at_once: int) -> list[dict[str, Any]]:
        """Return the results of many requests in order of arrival, with this many in flight."""
        waiting = iter(calls)
        found: list[dict[str, Any]] = []
        asked = 0
        for params in islice(waiting, at_once):
            self._write_request(method, params)
            asked += 1
        while len(found) < asked:
            found.append(self._read_answer()["result"])
            for params in islice(waiting, 1):
                self._write_request(method, params)
                asked += 1
        return found

    def stream_messages(self, method: str, calls: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Send all requests at once; yields notifications and answers until all are answered."""
        for params in calls:
            self._write_request(method, params)
        left = len(calls)
        assert self._process.stdout
        while left:
            with suppress(ValueError):
                message = json.loads(self._process.stdout.readline())
                left -= "result" in message or "error" in message
                yield message

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the listed tools."""
        return self.send_request("tools/list", {})["tools"]

    def kill(self) -> tuple[float, float]:
        """Kill the server; returns the seconds since its start and its CPU seconds."""
        wall = time.perf_counter() - self.started
        self._process.kill()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return wall, usage.ru_utime + usage.ru_stime

    def read_cpu_seconds(self) -> float:
        """Return CPU seconds of its threads and ended children; Linux only, elsewhere 0."""
        stat = Path(f"/proc/{self._process.pid}/stat")
        if not stat.exists():
            return 0.0
        fields = stat.read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / TICKS_PER_SECOND

    def _write_request(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        self._write_message({"id": self._number, "method": method, "params": params})

    def _read_answer(self) -> dict[str, Any]:
        """Return the next answer, and skip notifications."""
        assert self._process.stdout
        for line in self._process.stdout:
            with suppress(ValueError):
                answer = json.loads(line)
                if "result" in answer or "error" in answer:
                    return answer
        raise RuntimeError(f"the server ended: {self._process.args}")

    def _write_message(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        self._process.stdin.flush()
