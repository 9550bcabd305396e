"""A house behind its door: `outrider serve` as a team has it, on loopback, with people who hold tokens."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from outrider.app import App, open_app
from outrider.app.web import web
from outrider.identity.tokens import Token
from outrider.settings import load
from support.databases import sqlite
from support.fakes import http_servers


@dataclass(frozen=True)
class Team:
    """An open house that is served.

    Attributes:
        app: The house.
        url: Where it is served, without a path.
    """

    app: App
    url: str

    async def holds(self, person: str, *workspaces: str, role: Any = "member", **wish: Any) -> str:
        """A token for somebody, who is put into the workspaces."""
        return (await self.given(person, *workspaces, role=role, **wish))[1]

    async def given(self, person: str, *workspaces: str, role: Any = "member", **wish: Any) -> tuple[Token, str]:
        identity = self.app.identity()
        for name in workspaces:
            if name not in [each.name for each in await identity.workspaces.all()]:
                await identity.workspaces.create(name)
            await identity.workspaces.add(name, person, role)
        return await identity.tokens.create(person, **wish)

    @asynccontextmanager
    async def as_(
        self, token: str, path: str = "/mcp", person: Any = None, mode: Any = "auto", **headers: str
    ) -> AsyncGenerator[Client]:
        """A client that shows the token; `person` answers its forms, `mode` is its protocol."""
        sent = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx2.AsyncClient(headers=sent, timeout=30) as http:
            transport = streamable_http_client(self.url + path, http_client=http)
            async with Client(transport, elicitation_callback=person, mode=mode) as client:
                yield client


@asynccontextmanager
async def opened(home: Path, *, environ: Any = None, **values: Any) -> AsyncGenerator[Team]:
    """A served house whose callers must show who they are."""
    chosen: dict[str, Any] = {"toolsets": ["all"], "identity": {"tokens": True}, "egress": {"allow": []}} | values
    loaded = load(chosen, environ=environ or {}, home=home, workspace=home)
    async with (
        open_app(sqlite.prepared(loaded)) as app,
        http_servers.serve(web(app)) as url,
    ):
        yield Team(app, url)


@asynccontextmanager
async def opened_at_its_own_address(home: Path, provider: str, **oauth: Any) -> AsyncGenerator[Team]:
    """A served house that takes tokens of the provider made for the very address at which it is served."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        chosen = {"oauth": {"issuer": provider, "resource": f"{url}/mcp"} | oauth}
        loaded = load({"toolsets": ["planning"], "identity": chosen}, environ={}, home=home, workspace=home)
        async with open_app(sqlite.prepared(loaded)) as app:
            server = uvicorn.Server(uvicorn.Config(web(app), log_level="critical", ws="none"))
            async with http_servers.listening(server, [taken]):
                yield Team(app, url)


async def knock(url: str, token: str | None = None, **headers: str) -> httpx2.Response:
    """A request for the list of tools over plain HTTP, as it is answered."""
    sent = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/list",
    }
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent |= {} if token is None else {"authorization": f"Bearer {token}"}
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": sent["mcp-method"], "params": {"_meta": meta}}
    async with httpx2.AsyncClient(timeout=30) as http:
        return await http.post(url, json=body, headers=sent)
