"""`outrider worker`: run agents, crawls and watches without serving."""

import asyncio
import signal

import click

from outrider.app import open_app
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import async_command, print_notes
from outrider.core.background import run_background
from outrider.core.errors import NotConfigured, OutriderError
from outrider.settings import LoadedSettings


@click.command()
@add_serving_options
@async_command
async def command(sets: tuple[str, ...], **flags: str | None) -> None:
    """Work on agent runs, unfinished crawls and watches of the shared database until stopped. Serves nothing.

    Work that is unfinished when it stops continues in another worker, or at the next start.
    """
    from outrider.serve.telemetry.logs import configure_logging

    settings = load_settings(sets, **flags)
    configure_logging(settings.settings.log_level, settings.settings.log_style)
    print_notes(settings.warnings)
    if not settings.settings.agents.runs:
        raise NotConfigured(
            "agents.runs is 0, so there is nothing for a worker to do",
            hint="0 is for replicas that leave runs to workers: set another number where workers start",
        )
    await _run_worker(settings)


async def _run_worker(settings: LoadedSettings) -> None:
    """Work until a signal arrives; wait while the database is unavailable."""
    from outrider.serve.telemetry.setup import run_telemetry

    retry_delay_s = 1.0
    leaving = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, leaving.set)
    async with (
        run_telemetry(settings.settings.telemetry) as metrics,
        open_app(settings) as app,
        run_background(app.run_schedules),
    ):
        while True:
            try:
                await app.runs.start_working()
                break
            except OutriderError as error:
                if not error.retryable:
                    raise
                click.echo(f"waiting: {error.message}", err=True)
                await asyncio.sleep(retry_delay_s)
        click.echo("outrider worker is running", err=True)
        if metrics:
            click.echo(f"metrics are at {metrics}", err=True)
        await leaving.wait()
