"""Serve REST on the dashboard's port, for programs of this user."""

from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import ASGIApp

from outrider.app.app import App
from outrider.relay.daemon_paths import DaemonPaths
from outrider.serve.host_guard import build_transport_security
from outrider.serve.http import BearerTokenMiddleware
from outrider.serve.problems import ProblemMiddleware
from outrider.serve.rest.routes import build_rest_routes
from outrider.serve.state_codec import load_machine_key


def add_rest_interface(app: App, dashboard: ASGIApp) -> ASGIApp:
    """Return the dashboard with the REST interface to all tools, as the terminal has them.

    Args:
        app: The open application, whose browsers and stores the calls use.
        dashboard: The application that answers everything else.
    """
    settings = app.loaded.settings
    token_path = Path(DaemonPaths(str(settings.data_dir)).rest_token_path)
    routes = build_rest_routes(
        app.build_full_toolbox(),
        app.artifacts,
        build_transport_security(()),
        approvals=app.build_approvals(),
        assistant=settings.assistant,
        requires_token=True,
    )
    token = load_machine_key(token_path.parent, token_path.name)
    # `outrider daemon status` names the file; other users of this machine need not know its place.
    guard = Middleware(BearerTokenMiddleware, token=token, credential="<the text of rest_token's file>")
    return Starlette(routes=[*routes, Mount("/", dashboard)], middleware=[Middleware(ProblemMiddleware), guard])
