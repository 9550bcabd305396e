"""`outrider serve`: many clients over HTTP."""

import ipaddress
import logging
from typing import Any

import click

from outrider.cli.options import loaded, serving
from outrider.cli.output import run, warn
from outrider.core.errors import NotConfigured
from outrider.settings import Loaded

GRACE = 5  # seconds that calls in progress have when the server is told to stop


@click.command()
@serving
@click.option("--host", help="Address to listen on [default: 127.0.0.1].")
@click.option("--port", type=int, help="Port to listen on; 0 takes a free one [default: 8765].")
def command(sets: tuple[str, ...], host: str | None, port: int | None, **flags: str | None) -> None:
    """Serve MCP over streamable HTTP at /mcp, and each toolset alone at /mcp/<toolset>."""
    given = [f"serve.{name}={value}" for name, value in (("host", host), ("port", port)) if value is not None]
    settings = loaded((*sets, *given), **flags)
    logging.getLogger().setLevel(settings.settings.log_level.upper())
    warn(settings.warnings)
    _refuse_open_door(settings)
    run(lambda: _serve(settings))


async def _serve(settings: Loaded) -> None:
    import uvicorn

    from outrider.app import open_app
    from outrider.app.web import web

    chosen = settings.settings.serve
    async with open_app(settings) as app:
        config = uvicorn.Config(
            web(app), host=chosen.host, port=chosen.port, log_level="warning", timeout_graceful_shutdown=GRACE
        )
        listening = _listening(config)
        _announce(*listening.getsockname()[:2])
        await uvicorn.Server(config).serve(sockets=[listening])


def _listening(config: Any) -> Any:
    """The listening socket. Raises NotConfigured when the port is taken or may not be used."""
    try:
        return config.bind_socket()
    except SystemExit:
        raise NotConfigured(
            f"serve.port {config.port} of {config.host} cannot be listened on",
            hint="choose another with --port; 0 takes a free one",
        ) from None


def _announce(host: str, port: int) -> None:
    address = f"[{host}]" if ":" in host else host
    click.echo(f"outrider serves MCP at http://{address}:{port}/mcp", err=True)


def _refuse_open_door(settings: Loaded) -> None:
    """Who can reach the port can use the tools: beyond this machine that needs a token."""
    chosen = settings.settings.serve
    if not chosen.token and not _is_loopback(chosen.host):
        raise NotConfigured(
            f"serve.host {chosen.host} can be reached from other machines, and there is no serve.token",
            hint="set OUTRIDER_SERVE__TOKEN to a long random text, or listen on 127.0.0.1",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
