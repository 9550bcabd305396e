"""Serve an app as `outrider serve` does for a team, on loopback, to people with tokens."""

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
from outrider.app.http_app import build_served_app
from outrider.identity.tokens import TokenRecord
from outrider.settings import load
from support.databases import sqlite
from support.fakes import http_servers
from support.timeouts import PROCESS_TIMEOUT_S


@dataclass(frozen=True)
class ServedApp:
    """An open app that is served.

    Attributes:
        app: The app.
        url: Its address, without a path.
    """

    app: App
    url: str

    async def issue_token(self, person: str, *workspaces: str, role: Any = "member", **options: Any) -> str:
        """Issues a token for a person and adds them to the workspaces."""
        return (await self.issue_token_record(person, *workspaces, role=role, **options))[1]

    async def issue_token_record(
        self, person: str, *workspaces: str, role: Any = "member", **options: Any
    ) -> tuple[TokenRecord, str]:
        identity = self.app.identity()
        for name in workspaces:
            if name not in [each.name for each in await identity.workspaces.list_workspaces()]:
                await identity.workspaces.create(name)
            await identity.workspaces.add_member(name, person, role)
        return await identity.tokens.create(person, **options)

    @asynccontextmanager
    async def connect_client(
        self, token: str, path: str = "/mcp", answer_form: Any = None, mode: Any = "auto", **headers: str
    ) -> AsyncGenerator[Client]:
        """Connect a client with the token; `answer_form` answers its forms, `mode` is its protocol."""
        sent = {"Authorization": f"Bearer {token}"} | {name.replace("_", "-"): value for name, value in headers.items()}
        async with httpx2.AsyncClient(headers=sent, timeout=PROCESS_TIMEOUT_S) as http:
            transport = streamable_http_client(self.url + path, http_client=http)
            async with Client(transport, elicitation_callback=answer_form, mode=mode) as client:
                yield client


@asynccontextmanager
async def open_served_app(home: Path, *, environ: Any = None, **values: Any) -> AsyncGenerator[ServedApp]:
    """Serve an app whose callers must authenticate."""
    chosen: dict[str, Any] = {"toolsets": ["all"], "identity": {"tokens": True}, "egress": {"allow": []}} | values
    loaded = load(chosen, environ=environ or {}, home=home, workspace=home)
    async with (
        open_app(sqlite.prepare_database(loaded)) as app,
        http_servers.serve_app(build_served_app(app)) as url,
    ):
        yield ServedApp(app, url)


@asynccontextmanager
async def open_app_at_oauth_resource(home: Path, provider: str, **oauth: Any) -> AsyncGenerator[ServedApp]:
    """Serve an app that accepts the provider's tokens for exactly its own address."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        chosen = {"oauth": {"issuer": provider, "resource": f"{url}/mcp"} | oauth}
        loaded = load({"toolsets": ["planning"], "identity": chosen}, environ={}, home=home, workspace=home)
        async with open_app(sqlite.prepare_database(loaded)) as app:
            server = uvicorn.Server(uvicorn.Config(build_served_app(app), log_level="critical", ws="none"))
            async with http_servers.start_uvicorn(server, [taken]):
                yield ServedApp(app, url)


async def request_tools_list(url: str, token: str | None = None, **headers: str) -> httpx2.Response:
    """Request the list of tools over plain HTTP, and return the response."""
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
    async with httpx2.AsyncClient(timeout=PROCESS_TIMEOUT_S) as http:
        return await http.post(url, json=body, headers=sent)
