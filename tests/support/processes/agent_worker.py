"""A process that works on runs until it is killed, forked by `forked.Nursery`."""

import anyio

from outrider.app import open_app
from outrider.settings import load
from support.apps.agent_runs import begin, flags


async def main(url: str, query: str, database: str) -> None:
    loaded = load(flags(url) | ({"database": database} if database else {}))
    async with open_app(loaded) as app:
        if query:
            run = await begin(app, query)
            print(run.id, flush=True)
        else:
            await app.runs.recover()
            print("ready", flush=True)
        while True:
            await app.runs.recover()
            await anyio.sleep(0.2)


def run(arguments: list[str]) -> None:
    """Begins a run that asks QUERY, or takes up the runs of the dead: MODEL_URL QUERY DATABASE."""
    anyio.run(main, *arguments)
