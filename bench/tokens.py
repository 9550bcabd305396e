"""Count the tokens that a list of tools costs in every conversation."""

import json

from bench.peers import list_servers
from bench.stdio_server import StdioServer
from bench.tables import Comparison, Part
from outrider.core.text import count_tokens


def run(*, quick: bool) -> Part:  # noqa: ARG001 - counting is quick
    outrider_server = "outrider mcp"
    counted: dict[str, list[float]] = {}
    tools: dict[str, int] = {}
    for name, command in list_servers().items():
        if name == "bare SDK server":
            continue
        with StdioServer(command, FIRECRAWL_API_KEY="fc-none") as server:
            listed = server.list_tools()
        counted[name] = [count_tokens(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))]
        tools[name] = len(listed)
    numbers = ", ".join(f"{name}: {count}" for name, count in tools.items())
    return Part(
        "Tokens of the tools",
        "The `tools` array of `tools/list` as compact JSON, in tokens of the o200k vocabulary.",
        [Comparison("tokens", outrider_server, counted, digits=0)],
        f"Number of tools: {numbers}.",
    )
