"""`outrider worker`: a process that only does durable work: agents' runs, and crawls that others left."""

import asyncio
import signal

import click

from outrider.app import App, open_app
from outrider.cli.options import loaded, serving
from outrider.cli.output import run, warn
from outrider.core.errors import NotConfigured, OutriderError
from outrider.settings import Loaded

AGAIN = 1.0  # seconds until a database that is away is asked again


@click.command()
@serving
def command(sets: tuple[str, ...], **flags: str | None) -> None:
    """Work on agents' runs and unfinished crawls of the shared database, until told to stop. Serves nothing.

    What is under way when it stops goes on in another worker, or at the next start.
    """
    from outrider.serve.telemetry.logs import write_logs

    settings = loaded(sets, **flags)
    write_logs(settings.settings.log_level, settings.settings.log_style)
    warn(settings.warnings)
    if not settings.settings.agents.runs:
        raise NotConfigured(
            "agents.runs is 0, so there is nothing for a worker to do",
            hint="0 is for replicas that leave runs to workers: set another number where workers start",
        )
    run(lambda: _work(settings))


async def _work(settings: Loaded) -> None:
    from outrider.serve.telemetry.observing import observed

    leaving = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, leaving.set)

    async def begin(app: App) -> None:
        while True:
            try:
                return await app.runs.work()
            except OutriderError as error:
                if not error.retryable:
                    raise
                click.echo(f"waiting: {error.message}", err=True)
                await asyncio.sleep(AGAIN)

    async with observed(settings.settings.telemetry) as metrics, open_app(settings) as app:
        await begin(app)
        click.echo("outrider worker is at work", err=True)
        if metrics:
            click.echo(f"metrics are at {metrics}", err=True)
        await leaving.wait()
