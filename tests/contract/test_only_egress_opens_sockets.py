"""Check in the source that only `core/egress` and `core/http.py` open sockets."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import outrider

PACKAGE = Path(outrider.__file__).parent
# Also the listener of the user's own daemon, a Unix socket (or loopback) on this machine.
PERMITTED = ("core/egress/", "core/http.py", "app/daemon/listener.py")
# Modules whose mere import is suspicious, and the places that may import them.
MODULES = {
    "socket": (),
    "_socket": ("relay/daemon_socket.py",),
    "ssl": (),
    "httpx": (),
    "httpx2": (),
    "httpcore": (),
    "httpcore2": (),
    "requests": (),
    "aiohttp": (),
    "urllib3": (),
    "urllib.request": (),
    "http.client": (),
    "http.server": (),
    "socketserver": (),
    "ftplib": (),
    "smtplib": (),
    # Its parts that open connections, and the protocol without I/O, which needs a connection of the guard.
    "websockets.asyncio": (),
    "websockets.legacy": (),
    "websockets.sync": (),
    "websockets": ("browser/protocol/websocket.py",),
    "psycopg": ("agents/events/notifier.py",),
    "obstore": ("core/storage/objects.py",),
    "uvicorn": ("serve/", "dashboard/", "cli/commands/serve.py"),
}
# Calls that open or accept connections, by their last name, on any object.
CONNECTING_CALLS = {
    "open_connection",
    "open_unix_connection",
    "start_server",
    "start_unix_server",
    "create_connection",
    "create_datagram_endpoint",
    "create_server",
    "connect_tcp",
    "connect_unix",
    "create_tcp_listener",
    "create_unix_listener",
    "create_udp_socket",
    "create_connected_udp_socket",
    "getaddrinfo",
    "urlopen",
    "urlretrieve",
    "sock_connect",
}


def iter_imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    if isinstance(node, ast.Call) and last_name(node.func) in ("import_module", "__import__") and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant):
            yield str(first.value)


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def find_connections(source: str, place: str) -> list[str]:
    """Finds everything in this source that could open a connection."""
    found = []
    for node in ast.walk(ast.parse(source)):
        for name in iter_imports(node):
            known = next((module for module in MODULES if name == module or name.startswith(f"{module}.")), None)
            if known and not place.startswith(MODULES[known] or ("-",)):
                found.append(f"{place} imports {name}")
        if isinstance(node, ast.Name | ast.Attribute) and last_name(node) in CONNECTING_CALLS:
            found.append(f"{place}:{node.lineno} uses {last_name(node)}")
        if isinstance(node, ast.ImportFrom):
            found.extend(f"{place} imports {alias.name}" for alias in node.names if alias.name in CONNECTING_CALLS)
    return found


PACKAGE_FILES = [path.relative_to(PACKAGE).as_posix() for path in sorted(PACKAGE.rglob("*.py"))]


def test_a_module_outside_the_egress_guard_opens_no_connection():
    others = [place for place in PACKAGE_FILES if not place.startswith(PERMITTED)]
    found = {place: find_connections((PACKAGE / place).read_text(), place) for place in others}
    assert {place: ways for place, ways in found.items() if ways} == {}


SNEAKY = [
    "import socket",
    "import socket as s",
    "def f():\n    from urllib import request",
    "from urllib.request import urlopen",
    "import http.client",
    "from http import client",
    "import httpx2",
    "from httpx2 import AsyncClient",
    "import asyncio\nasync def f():\n    await asyncio.open_connection('x', 1)",
    "from asyncio import open_connection as o",
    "import anyio\nasync def f():\n    await anyio.connect_tcp('x', 1)",
    "async def f(loop):\n    await loop.create_connection(None)",
    "import importlib\nimportlib.import_module('socket')",
    "f = anyio.connect_tcp",
    "import uvicorn",
]


@pytest.mark.parametrize("source", SNEAKY)
def test_the_check_finds_every_way_to_connect(source):
    assert find_connections(source, "search/sneaky.py")


def test_the_check_accepts_harmless_code():
    assert not find_connections(
        "from http import HTTPStatus\nfrom urllib.parse import urlsplit\nimport sqlite3", "search/x.py"
    )
    assert not find_connections("import uvicorn", "serve/http.py")
    assert not find_connections("from websockets.client import ClientProtocol", "browser/protocol/websocket.py")


def test_a_permitted_library_must_still_not_connect():
    assert find_connections("from websockets.sync.client import connect", "browser/protocol/websocket.py")
    assert find_connections("import websockets.client", "browser/protocol/sneaky.py")
