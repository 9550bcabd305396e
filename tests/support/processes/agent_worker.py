"""A process that works on runs until it is killed, forked by `fork_server.ForkServer`."""

import anyio

from outrider.app import open_app
from outrider.settings import load
from support.apps.agent_runs import build_model_settings, start_run


async def work_on_runs(url: str, query: str, database: str) -> None:
    loaded = load(build_model_settings(url) | ({"database": database} if database else {}))
    async with open_app(loaded) as app:
        if query:
            run = await start_run(app, query)
            print(run.id, flush=True)
        else:
            await app.runs.recover_runs()
            print("ready", flush=True)
        while True:
            await app.runs.recover_runs()
            await anyio.sleep(0.2)


def run(arguments: list[str]) -> None:
    """Start a run with the task QUERY, or take over runs of dead processes: MODEL_URL QUERY DATABASE."""
    anyio.run(work_on_runs, *arguments)
