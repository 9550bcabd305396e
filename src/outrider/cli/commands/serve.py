"""`outrider serve`: serve many clients over HTTP."""

import asyncio
import ipaddress
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import click

from outrider.app import open_app
from outrider.cli.options import add_serving_options, load_settings
from outrider.cli.output import async_command, print_notes
from outrider.core.background import run_background
from outrider.core.errors import NotConfigured
from outrider.settings import LoadedSettings

if TYPE_CHECKING:
    from outrider.app.dashboard import MountedDashboard


@click.command()
@add_serving_options
@click.option("--host", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one [default: 8765].")
@async_command
async def command(sets: tuple[str, ...], host: str | None, port: int | None, **flags: str | None) -> None:
    """Serve MCP over streamable HTTP at /mcp, and each toolset alone at /mcp/<toolset>."""
    from outrider.serve.telemetry.logs import configure_logging

    overrides = [f"serve.{name}={value}" for name, value in (("host", host), ("port", port)) if value is not None]
    settings = load_settings((*sets, *overrides), **flags)
    configure_logging(settings.settings.log_level, settings.settings.log_style)
    print_notes(settings.warnings)
    chosen = settings.settings.serve
    try:
        is_loopback = ipaddress.ip_address(chosen.host.strip("[]")).is_loopback
    except ValueError:
        is_loopback = chosen.host == "localhost"
    if not chosen.token and not settings.settings.identity.is_enabled and not is_loopback:
        raise NotConfigured(
            f"serve.host {chosen.host} can be reached from other machines, but serve.token is not set",
            hint="set OUTRIDER_SERVE__TOKEN to a long random text or OUTRIDER_IDENTITY__TOKENS=true, "
            "or listen on 127.0.0.1",
        )
    await _serve_http(settings)


async def _serve_http(settings: LoadedSettings) -> None:
    import uvicorn

    from outrider.app.cluster.address import find_advertised_address
    from outrider.app.http_app import build_served_app
    from outrider.serve.graceful_shutdown import DrainingServer, StreamTracker
    from outrider.serve.telemetry.setup import run_telemetry
    from outrider.serve.uvicorn_server import LimitedHttpProtocol, bind_server_socket, format_socket_url

    chosen, leaving = settings.settings.serve, asyncio.Event()
    async with AsyncExitStack() as stack:
        metrics = await stack.enter_async_context(run_telemetry(settings.settings.telemetry))
        app = await stack.enter_async_context(open_app(settings))
        await stack.enter_async_context(run_background(partial(app.run_schedules, opens_database=True)))
        site = build_served_app(app, draining=leaving.is_set)
        streams = StreamTracker(site)
        config = uvicorn.Config(
            streams,
            host=chosen.host,
            port=chosen.port,
            http=LimitedHttpProtocol,
            log_level="warning",
            log_config=None,
            timeout_graceful_shutdown=round(chosen.drain_s),
            ws_per_message_deflate=False,  # pictures are compressed already
        )
        server_socket = bind_server_socket(config, "serve.port", "--port")
        if app.cluster is not None:
            own = await find_advertised_address(format_socket_url(server_socket), settings.settings.database)
            app.cluster.replicas.address = chosen.internal_url or own
        dashboard: MountedDashboard = site.state.dashboard
        dashboard_url = stack.enter_context(dashboard.publish_address(format_socket_url(server_socket)))
        announce = partial(_announce_addresses, format_socket_url(server_socket), metrics, dashboard_url)
        server = DrainingServer(
            config, streams=streams, stop_requested=leaving, on_started=announce, drain_notice_s=chosen.notice_s
        )
        await server.serve(sockets=[server_socket])


def _announce_addresses(address: str, metrics: str | None, dashboard: str) -> None:
    click.echo(f"outrider serves MCP at {address}/mcp", err=True)
    if dashboard:  # without its token: this is kept in logs
        click.echo(f"the dashboard is at {dashboard} (`outrider dashboard` opens it)", err=True)
    if metrics:
        click.echo(f"metrics are at {metrics}", err=True)
