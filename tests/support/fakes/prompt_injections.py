"""Pages that give orders, and a model that obeys every order that it reads."""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from outrider.app import App, open_app
from outrider.settings import load
from support.apps.agent_runs import SCRIPTED_API_KEY, build_model_settings
from support.apps.agents_app import agent_file
from support.databases import sqlite
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, ScriptedRequest, TurnScript

ORDER_PATTERN = re.compile(r"CALL (\w+) (?=\{)")
AGENT_NAME_PATTERN = re.compile(r"You are (\w+)\.")


def format_order(tool: str, **arguments: Any) -> str:
    """Format an order that the model understands."""
    return f"CALL {tool} {json.dumps(arguments)}"


def find_orders(results: Sequence[str]) -> list[tuple[str, dict[str, Any]]]:
    """Find every order in a text, even if it is hidden."""
    found = []
    for text in map(_extract_text, results):
        for match in ORDER_PATTERN.finditer(text):
            try:
                arguments, _ = json.JSONDecoder().raw_decode(text, match.end())
            except ValueError:
                continue
            if (match[1], arguments) not in found:
                found.append((match[1], arguments))
    return found


def _extract_text(result: str) -> str:
    """Return the strings of a result that is encoded as JSON."""
    try:
        inner = json.loads(result)
    except ValueError:
        return result
    return _join_strings(inner)


def _join_strings(value: Any) -> str:
    if isinstance(value, dict | list):
        return "\n".join(map(_join_strings, value.values() if isinstance(value, dict) else value))
    return str(value)


def obey_orders(first: tuple[str, Mapping[str, Any]], answer: str = "All orders were followed.") -> TurnScript:
    """Make the first call, then, one per turn, each call that a read text orders."""

    def choose_turn(asked: ScriptedRequest) -> ModelTurn:
        todo = [first, *find_orders(asked.results)]
        return ModelTurn(calls=[todo[asked.turn_count]]) if asked.turn_count < len(todo) else ModelTurn(text=answer)

    return choose_turn


def dispatch_by_agent(scripts: Mapping[str, TurnScript]) -> TurnScript:
    """Act as several agents, identified by the line `You are <name>.` in their instructions."""
    return lambda asked: scripts[next(name for name in AGENT_NAME_PATTERN.findall(asked.text) if name in scripts)](
        asked
    )


def build_hostile_page(*paragraphs: str, title: str = "All about tea", hidden: str = "") -> str:
    """Build an article whose author gives orders; <pre> content arrives unchanged."""
    body = "".join(f"<pre>{text}</pre>" for text in paragraphs)
    story = "<p>Tea is grown on hills, picked by hand, withered, rolled, dried and sold by weight.</p>" * 6
    head = f"<html><head><title>{title}</title></head>"
    return f"{head}<body><article><h1>Tea</h1>{story}{body}{hidden}</article></body></html>"


@dataclass(frozen=True)
class InjectionSetup:
    """An open app whose agents read these pages.

    Attributes:
        site_requests: The requests to the site: path and query.
    """

    app: App
    model_server: ModelServer
    site_url: str
    site_requests: list[str]


@asynccontextmanager
async def open_injection_app(
    home: Path,
    pages: Mapping[str, str],
    build_script: Any,
    *,
    wire: str = "chat",
    agents: Mapping[str, Mapping[str, Any]] | None = None,
    more: Mapping[str, Any] | None = None,
) -> AsyncGenerator[InjectionSetup]:
    """Open the app, its agents (name to front matter), and a site; `build_script` takes the site's address.

    `{site}` in a page becomes the site's address.
    """
    heard: list[str] = []

    async def serve_page(request: Request) -> HTMLResponse:
        heard.append(str(request.url).partition(str(request.base_url))[2])
        name = request.path_params["name"]
        text = pages.get(name)
        return HTMLResponse((text or "").replace("{site}", str(request.base_url).rstrip("/")), 200 if text else 404)

    site = Starlette(routes=[Route("/{name:path}", serve_page)])
    async with http_servers.serve_app(site) as url:
        server = ModelServer(build_script(url))
        async with http_servers.serve_app(server.build_app()) as model:
            settings = build_model_settings(model, wire) | {"data_dir": str(home / "data")}
            settings |= {"egress": {"allow": [url.removeprefix("http://")]}} | dict(more or {})
            loaded = load(settings, environ={"SCRIPTED_KEY": SCRIPTED_API_KEY}, home=home, workspace=home)
            async with open_app(sqlite.prepare_database(loaded)) as app:
                app.catalogue.home.mkdir(parents=True, exist_ok=True)
                for name, head in (agents or {}).items():
                    (app.catalogue.home / f"{name}.md").write_text(agent_file(name, **head))
                yield InjectionSetup(app, server, url, heard)
