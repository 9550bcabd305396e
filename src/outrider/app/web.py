"""What `outrider serve` answers over HTTP: MCP, and what stands beside it."""

from typing import TYPE_CHECKING

from outrider.app.app import App

if TYPE_CHECKING:
    from starlette.applications import Starlette


def web(app: App) -> "Starlette":
    """The whole HTTP application of an open house."""
    from outrider.serve.http import http_app

    chosen = app.loaded.settings.serve
    return http_app(app.servers(), token=chosen.token, allowed_hosts=tuple(chosen.allowed_hosts))
