"""From the start of the process to the answered `tools/list`."""

from bench.figures import Measured, Part
from bench.peers import servers
from bench.server import Server

BARE = "bare SDK server"


def run(*, quick: bool) -> Part:
    commands = {name: command for name, command in servers().items() if name != "firecrawl-mcp"}
    wall: dict[str, list[float]] = {name: [] for name in commands}
    cpu: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(3 if quick else 16):
        for name, command in commands.items():
            with Server(command) as server:
                server.tools()
                seconds, used = server.end()
            if turn:  # the first turn fills the disk cache
                wall[name].append(seconds)
                cpu[name].append(used)
    return Part(
        "Cold start",
        "A new process over stdio, until it has answered `initialize` and `tools/list`. The yardstick is a server "
        "with one tool on the SDK's low-level server.",
        [Measured("CPU seconds", BARE, cpu), Measured("wall seconds", BARE, wall)],
    )
