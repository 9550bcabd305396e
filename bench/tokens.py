"""What a list of tools costs in every conversation, before anything was asked."""

import json

from bench.figures import Measured, Part
from bench.peers import servers
from bench.server import Server
from outrider.core.text import count_tokens

OURS = "outrider mcp"


def run(*, quick: bool) -> Part:  # noqa: ARG001 - counting is quick
    counted: dict[str, list[float]] = {}
    tools: dict[str, int] = {}
    for name, command in servers().items():
        if name == "bare SDK server":
            continue
        with Server(command, FIRECRAWL_API_KEY="fc-none") as server:
            listed = server.tools()
        counted[name] = [count_tokens(json.dumps(listed, ensure_ascii=False, separators=(",", ":")))]
        tools[name] = len(listed)
    numbers = ", ".join(f"{name}: {count}" for name, count in tools.items())
    return Part(
        "Tokens of the tools",
        "The `tools` array of `tools/list` as compact JSON, in tokens of the o200k vocabulary.",
        [Measured("tokens", OURS, counted, digits=0)],
        f"Number of tools: {numbers}.",
    )
