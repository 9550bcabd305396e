"""`outrider serve`: many clients over HTTP."""

import asyncio
import ipaddress
from contextlib import AsyncExitStack
from functools import partial

import click

from outrider.app import open_app
from outrider.cli.options import loaded, serving
from outrider.cli.output import run, warn
from outrider.core.errors import NotConfigured
from outrider.settings import Loaded


@click.command()
@serving
@click.option("--host", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one [default: 8765].")
def command(sets: tuple[str, ...], host: str | None, port: int | None, **flags: str | None) -> None:
    """Serve MCP over streamable HTTP at /mcp, and each toolset alone at /mcp/<toolset>."""
    from outrider.serve.telemetry.logs import write_logs

    given = [f"serve.{name}={value}" for name, value in (("host", host), ("port", port)) if value is not None]
    settings = loaded((*sets, *given), **flags)
    write_logs(settings.settings.log_level, settings.settings.log_style)
    warn(settings.warnings)
    _refuse_open_door(settings)
    run(lambda: _serve(settings))


async def _serve(settings: Loaded) -> None:
    import uvicorn

    from outrider.app.advertised import advertised
    from outrider.app.web import web
    from outrider.serve.draining import Draining, Streams
    from outrider.serve.listening import address_of, bound
    from outrider.serve.telemetry.observing import observed

    chosen, leaving = settings.settings.serve, asyncio.Event()
    async with AsyncExitStack() as stack:
        metrics = await stack.enter_async_context(observed(settings.settings.telemetry))
        app = await stack.enter_async_context(open_app(settings))
        site = web(app, draining=leaving.is_set)
        streams = Streams(site)
        config = uvicorn.Config(
            streams, host=chosen.host, port=chosen.port, log_level="warning",
            log_config=None, timeout_graceful_shutdown=round(chosen.drain_seconds),
            ws_per_message_deflate=False,  # pictures are compressed already
        )  # fmt: skip
        taken = bound(config, "serve.port", "--port")
        if app.neighbours is not None:
            own = await advertised(address_of(taken), settings.settings.database)
            app.neighbours.replicas.address = chosen.internal_url or own
        dashboard = stack.enter_context(site.state.dashboard.posted(address_of(taken)))
        told = partial(_announce, address_of(taken), metrics, dashboard)
        server = Draining(config, streams=streams, leaving=leaving, started=told, notice=chosen.notice_seconds)
        await server.serve(sockets=[taken])


def _announce(address: str, metrics: str | None, dashboard: str) -> None:
    click.echo(f"outrider serves MCP at {address}/mcp", err=True)
    if dashboard:  # without its token: this is kept in logs
        click.echo(f"the dashboard is at {dashboard} (`outrider dashboard` opens it)", err=True)
    if metrics:
        click.echo(f"metrics are at {metrics}", err=True)


def _refuse_open_door(settings: Loaded) -> None:
    """Who can reach the port can use the tools: beyond this machine that needs a token."""
    chosen = settings.settings.serve
    if not chosen.token and not settings.settings.identity.on and not _is_loopback(chosen.host):
        raise NotConfigured(
            f"serve.host {chosen.host} can be reached from other machines, and there is no serve.token",
            hint="set OUTRIDER_SERVE__TOKEN to a long random text or OUTRIDER_IDENTITY__TOKENS=true, "
            "or listen on 127.0.0.1",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
