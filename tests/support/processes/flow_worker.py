"""A process that runs or resumes a flow, forked by `fork_server.ForkServer`."""

import json
from pathlib import Path

import anyio

from outrider.app import open_app
from outrider.core.context import Call
from outrider.settings import load


async def run_or_resume(site: str, database: str, flow: str, parameters: str) -> None:
    home = Path.cwd()
    values = {"toolsets": ["browser", "flows"], "egress": {"allow": [site.removeprefix("http://")]}}
    loaded = load(values | ({"database": database} if database else {}), environ={}, home=home, workspace=home)
    async with open_app(loaded) as app:
        print(json.dumps({"state": "open"}), flush=True)
        found = (await app.call("listFlowRuns", Call(), name=flow)).data["runs"]
        if not found:
            result = await app.call("runFlow", Call(), name=flow, parameters=json.loads(parameters))
        elif found[0]["state"] == "done":
            print(json.dumps({"state": "done"}), flush=True)
            return
        else:
            result = await app.call("resumeFlow", Call(), runId=found[0]["runId"])
        print(json.dumps({"state": "stopped" if result.is_error else "done", "text": result.text}), flush=True)


def run(arguments: list[str]) -> None:
    """Run it with SITE DATABASE FLOW PARAMETERS."""
    anyio.run(run_or_resume, *arguments)
