"""Measure the time from the start of a process to its answer to `tools/list`."""

from bench.peers import list_servers
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part


def run(*, quick: bool) -> Part:
    bare = "bare SDK server"
    commands = {name: command for name, command in list_servers().items() if name != "firecrawl-mcp"}
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(3 if quick else 16):
        for name, command in commands.items():
            with StdioServer(command) as server:
                server.list_tools()
                seconds, used = server.kill()
            if turn:  # the first turn fills the disk cache
                wall[name].append(seconds)
                cpu[name].append(used)
    return Part(
        "Cold start",
        "A new process is timed over stdio until it has answered `initialize` and `tools/list`. The baseline is a "
        "server with one tool, built on the SDK's low-level server.",
        [Comparison("CPU seconds", bare, cpu), Comparison("wall seconds", bare, wall)],
    )
