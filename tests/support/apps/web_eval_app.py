"""A house that evaluates a site of ours with its real browser and a scripted model."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import browser_site
from outrider.app import App, open_app
from outrider.settings import load
from support.apps.agent_runs import KEY, flags
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.model_apis import Asked, ModelServer, Script, Turn

WALL = "<title>Just a moment...</title><p>Verify you are human</p>"
SESSION = re.compile(r"The browser session ([0-9a-f-]{36}) is open")


def site() -> Any:
    """The browser's site, with a robot check at `/wall`."""
    shop = browser_site.site()

    async def both(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] != "/wall":
            await shop(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": WALL.encode()})

    return both


def played(*turns: Turn | Callable[[str], Turn]) -> Script:
    """One turn after the other, the last repeated; a function gets the id of the browser's session."""

    def play(asked: Asked) -> Turn:
        turn = turns[min(asked.turns, len(turns) - 1)]
        found = SESSION.search(asked.text)
        assert found, asked.text[:2_000]
        return turn if isinstance(turn, Turn) else turn(found[1])

    return play


def does(tool: str, **arguments: Any) -> Callable[[str], Turn]:
    """A turn that calls a tool of the browser."""
    return lambda session: Turn(calls=[(tool, {"sessionId": session, **arguments})])


def ends(*, success: bool, result: str, **more: Any) -> Turn:
    """The turn that ends the task."""
    return Turn(calls=[("done", {"success": success, "result": result, **more})])


@asynccontextmanager
async def opened(
    home: Path, url: str, model: str = "", *, more: Mapping[str, Any] | None = None
) -> AsyncGenerator[App]:
    """An open app that may reach the site, with a model at that address or with none."""
    settings = (
        flags(model) if model else {"toolsets": ["all"], "search": {"keyless": False}, "models": {"local": False}}
    )
    settings |= {"egress": {"allow": [f"127.0.0.1:{url.rsplit(':', 1)[1]}"]}, "data_dir": str(home / "data")}
    loaded = load(settings | dict(more or {}), environ={"SCRIPTED_KEY": KEY}, home=home, workspace=home)
    async with open_app(sqlite.prepared(loaded)) as app:
        yield app


@asynccontextmanager
async def evaluating(
    home: Path, play: Script, *, more: Mapping[str, Any] | None = None
) -> AsyncGenerator[tuple[App, ModelServer, str]]:
    """An open app, its model, and the address of the site."""
    server = ModelServer(play)
    async with (
        http_servers.serve(server.app()) as model,
        http_servers.serve(site()) as url,
        opened(home, url, model, more=more) as app,
    ):
        yield app, server, url
