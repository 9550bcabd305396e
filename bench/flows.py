"""Compare a saved flow with the same actions called one by one, and by an agent."""

import asyncio
import json
import tempfile
import time
from contextlib import chdir
from pathlib import Path
from statistics import median
from typing import Any

from mcp import Client

from bench.agents import serve_model
from bench.page_servers import run_site
from bench.tables import Comparison, Part
from outrider.app import open_app
from outrider.settings import load

TOOL_CALLS, SAVED_FLOW, INSTANT_AGENT = "the tools, one by one", "runFlow", "an agent whose model answers at once"
FORM_ACTIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("inputText", {"selector": "#f0", "text": "Ada"}),
    ("inputText", {"selector": "#f1", "text": "Lovelace"}),
    ("inputText", {"selector": "#f6", "text": "ada@example.org"}),
    ("selectOption", {"selector": "#land", "options": ["Riverland"]}),
    ("selectOption", {"selector": "[name=window]", "checked": True}),
    ("clickElement", {"selector": "#bump"}),
)


def run(*, quick: bool) -> Part:
    turn_count = 15
    with (
        run_site("bench.browser_site") as url,
        serve_model() as model_url,
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
    ):
        values = asyncio.run(measure_steps(url, model_url, Path(folder), 3 if quick else turn_count))
    method = (
        "One page with a form of thirty fields: open it, fill five fields and press a button. The tools do it one by "
        "one, with answers that show what has changed; a flow saved from these actions repeats it. Both share one "
        "session and take turns, and no model is asked. The flow compares the evidence of each element before it "
        "acts. Then an agent does the same with a model on loopback that answers at once, so a real model's thinking "
        "time must be added."
    )
    return Part(
        "Flows", method, [Comparison("milliseconds a step", TOOL_CALLS, values, digits=1)], build_remarks(values)
    )


def build_remarks(values: dict[str, list[float]]) -> str:
    """Describe when a flow takes at most a fifth of an agent's time."""
    flow, agent = median(values[SAVED_FLOW]), median(values[INSTANT_AGENT])
    return (
        f"A flow takes at most a fifth of an agent's time if the model thinks for {max(5 * flow - agent, 0):.0f} ms "
        "or longer at each step, and it uses no tokens. The [reference of flows](reference/flows.md#how-well-it-holds) "
        "shows how runs end on changed pages. `make test-kills` kills running and scheduled flows at random moments, "
        "on SQLite and on Postgres: each order must be placed exactly once."
    )


async def measure_steps(url: str, model_url: str, home: Path, turns: int) -> dict[str, list[float]]:
    """Return the milliseconds per step of each contender."""
    agent_file = "---\ndescription: Fills in the form\ntoolsets: [browser]\n---\nDo it.\n"
    agents = home / ".outrider" / "agents"
    agents.mkdir(parents=True)
    (agents / "worker.md").write_text(agent_file)
    settings = {
        "toolsets": ["browser", "flows", "run_agent"],
        "egress": {"allow": [url.removeprefix("http://")]},
        "models": {"default": "bench", "profiles": {"bench": {"model": "bench", "base_url": model_url}}},
    }
    task = {"words": 1, "apart": 0.0, "calls": [("navigateToUrl", {"url": f"{url}/form"}), *FORM_ACTIONS]}
    values: dict[str, list[float]] = {TOOL_CALLS: [], SAVED_FLOW: [], INSTANT_AGENT: []}
    loaded = load(settings, environ={}, home=home, workspace=home)
    async with open_app(loaded) as app, Client(app.build_server()) as client:
        opened = await call_tool(client, "createSession", url="about:blank")
        session = opened["sessionId"]
        steps = 1 + len(FORM_ACTIONS)
        for turn in range(turns + 1):
            started = time.perf_counter()
            await call_tool(client, "navigateToUrl", sessionId=session, url=f"{url}/form")
            for tool, arguments in FORM_ACTIONS:
                await call_tool(client, tool, sessionId=session, **arguments)
            bare = time.perf_counter() - started
            if turn == 0:
                await call_tool(client, "saveFlow", name="form", sessionId=session)
            started = time.perf_counter()
            await call_tool(client, "runFlow", name="form", sessionId=session)
            flow = time.perf_counter() - started
            started = time.perf_counter()
            await call_tool(client, "run_worker", query=json.dumps(task))
            agent = time.perf_counter() - started
            if turn:
                for name, seconds in ((TOOL_CALLS, bare), (SAVED_FLOW, flow), (INSTANT_AGENT, agent)):
                    values[name].append(seconds * 1_000 / steps)
    return values


async def call_tool(client: Client, tool: str, **arguments: Any) -> Any:
    """Return the data of a tool's result; raises if the tool fails."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content
