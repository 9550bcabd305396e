"""Open an app that evaluates our site with its real browser and a scripted model."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import browser_site
from outrider.app import App, open_app
from outrider.settings import load
from support.apps.agent_runs import SCRIPTED_API_KEY, build_model_settings
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest, TurnScript

ROBOT_CHECK_HTML = "<title>Just a moment...</title><p>Verify you are human</p>"
ICONLESS_HTML = "<title>Cart</title><link rel=icon href=/favicon.ico><img src=/favicon.ico><h1>Total: -5</h1>"
SESSION_ID_PATTERN = re.compile(r"The browser session ([0-9a-f-]{36}) is open")


def build_evaluation_site() -> Any:
    """Build the browser's site with a bot check (`/wall`) and a buggy page (`/cart`)."""
    shop = browser_site.build_site()

    async def route_request(scope: dict[str, Any], receive: Any, send: Any) -> None:
        status, page = {"/wall": (403, ROBOT_CHECK_HTML), "/cart": (200, ICONLESS_HTML)}.get(scope.get("path"), (0, ""))
        if not page:
            await shop(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": page.encode()})

    return route_request


def build_session_script(*turns: ModelTurn | Callable[[str], ModelTurn]) -> TurnScript:
    """Build a script of turns, the last repeated; functions take the id of the browser's session."""

    def choose_turn(asked: ScriptedRequest) -> ModelTurn:
        turn = turns[min(asked.turn_count, len(turns) - 1)]
        found = SESSION_ID_PATTERN.search(asked.text)
        assert found, asked.text[:2_000]
        return turn if isinstance(turn, ModelTurn) else turn(found[1])

    return choose_turn


def build_browser_turn(tool: str, **arguments: Any) -> Callable[[str], ModelTurn]:
    """Build a turn that calls a tool of the browser."""
    return lambda session: ModelTurn(calls=[(tool, {"sessionId": session, **arguments})])


def build_done_turn(*, success: bool, result: str, **more: Any) -> ModelTurn:
    """Build the turn that ends the task."""
    return ModelTurn(calls=[("done", {"success": success, "result": result, **more})])


@asynccontextmanager
async def open_evaluation_app(
    home: Path, url: str, model: str = "", *, more: Mapping[str, Any] | None = None
) -> AsyncGenerator[App]:
    """Open an app that may reach the site, with the model at an address."""
    settings = (
        build_model_settings(model)
        if model
        else {"toolsets": ["all"], "search": {"keyless": False}, "models": {"local": False}}
    )
    settings |= {"egress": {"allow": [f"127.0.0.1:{url.rsplit(':', 1)[1]}"]}, "data_dir": str(home / "data")}
    loaded = load(settings | dict(more or {}), environ={"SCRIPTED_KEY": SCRIPTED_API_KEY}, home=home, workspace=home)
    async with open_app(sqlite.prepare_database(loaded)) as app:
        yield app


@asynccontextmanager
async def serve_evaluation_app(
    home: Path, script: TurnScript, *, more: Mapping[str, Any] | None = None
) -> AsyncGenerator[tuple[App, ModelServer, str]]:
    """Serve an open app, its model, and the site."""
    server = ModelServer(script)
    async with (
        http_servers.serve_app(server.build_app()) as model,
        http_servers.serve_app(build_evaluation_site()) as url,
        open_evaluation_app(home, url, model, more=more) as app,
    ):
        yield app, server, url
