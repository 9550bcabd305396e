"""Every search provider's side of the wire, on loopback: keys checked, pages cut, failures on demand.

    async with fakes.serve(providers.app()) as url:
        settings = SearchSettings(providers=providers.settings(url, "brave", "tavily"))

The answers are our own and small. `Behaviour.ways` makes a provider fail in one of `WAYS`, or with
any HTTP status by its number.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio

KEY = "k3y-Zx91qP0aLmN7tRw2"
CX = "cx-1234"
DATA = Path(__file__).parents[2] / "data" / "search" / "wire"
SIZE = 40  # results that exist for any query
ENDPOINTS = {"you": "/you/v1/agents/search", "google_cse": "/google_cse/customsearch/v1"}


@dataclass(frozen=True)
class Request:
    """What a provider was asked."""

    provider: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter, wherever this provider takes them from."""
        return (self.body if isinstance(self.body, dict) else self.query).get(name, default)


@dataclass
class Behaviour:
    """How the providers act.

    `ways` by provider ("*" for all): a key of `WAYS` or a status such as "429". `bodies` and
    `headers` by provider replace the failure's own. `greedy` providers ignore the count asked for.
    """

    ways: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    key: str = KEY
    greedy: bool = False
    exa: str = "sse"  # or "json", or "session"
    asked: list[Request] = field(default_factory=list)

    def way(self, provider: str) -> str:
        return self.ways.get(provider, self.ways.get("*", "ok"))


def settings(url: str, *names: str, key: str = KEY, **more: Any) -> dict[str, dict[str, Any]]:
    """The `providers` part of the search settings for these providers; an empty key is none."""
    return {name: {"endpoint": endpoint(url, name), **_credentials(name, key), **more} for name in names}


def endpoint(url: str, name: str) -> str:
    """Where the provider of that name answers."""
    return f"{url}{ENDPOINTS.get(name, f'/{name}')}"


def _credentials(name: str, key: str) -> dict[str, str]:
    if name == "searxng" or not key:
        return {}
    return {"api_key": key} | ({"cse_id": CX} if name == "google_cse" else {})


@dataclass(frozen=True)
class Doc:
    """One thing that can be found."""

    number: int
    title: str
    url: str
    snippet: str

    @property
    def image(self) -> str:
        return f"https://img{self.number}.example/{self.number}.png"


def docs(text: str, start: int = 0, count: int = SIZE) -> list[Doc]:
    """The results for a query, the same each time, with the markup that engines put around matches."""
    site = text.rpartition("site:")[2].strip() if "site:" in text else ""
    word = text.partition(" site:")[0].split(" ")[0]
    return [
        Doc(
            number,
            f"<b>{word}</b> &amp; more, part {number}",
            f"https://{site or f'www.place{number}.example'}/{number}",
            f"All about <strong>{word}</strong>\u200b &#39;{number}&#39;",
        )
        for number in range(start + 1, min(start + count, SIZE) + 1)
    ]


def _web(doc: Doc, **names: str) -> dict[str, Any]:
    """A result under a provider's own field names; `ours="theirs"`."""
    texts = {"title": doc.title, "url": doc.url, "snippet": doc.snippet, "image": doc.image, "thumb": doc.image}
    facts: dict[str, Any] = {**texts, "width": 640, "height": 480}
    return {theirs: facts[ours] for ours, theirs in names.items()}


Answer = Callable[[Request, Behaviour], Any]


def _cut(request: Request, behaviour: Behaviour, count: Any, start: Any = 0, text: str = "q") -> list[Doc]:
    size = SIZE if behaviour.greedy else int(count)
    return docs(str(request.get(text)), int(start), size)


def brave(request: Request, behaviour: Behaviour) -> Any:
    count = int(request.get("count"))
    found = _cut(request, behaviour, count, int(request.get("offset", 0)) * count)
    if "/images/" in request.path:
        return {"type": "images", "results": [_brave_image(doc) for doc in found]}
    rows = [_web(doc, title="title", url="url", snippet="description") | {"age": "2 days ago"} for doc in found]
    return (
        {"type": "search", "web": {"results": rows}} if "/web/" in request.path else {"type": "news", "results": rows}
    )


def _brave_image(doc: Doc) -> dict[str, Any]:
    full = {"url": doc.image, "width": 640, "height": 480}
    thumbnail: Any = {"src": doc.image} if doc.number % 2 else doc.image  # both forms are met
    return {"title": doc.title, "url": doc.url, "thumbnail": thumbnail, "properties": full}


def _plain(count: str, at: str, snippet: str) -> Answer:
    """A provider with one flat list, whose results have a title, a url and some snippet."""

    def answer(request: Request, behaviour: Behaviour) -> Any:
        found = _cut(request, behaviour, request.get(count), text="query")
        return {at: [_web(doc, title="title", url="url", snippet=snippet) for doc in found]}

    return answer


def exa(request: Request, behaviour: Behaviour) -> Any:
    found = _cut(request, behaviour, request.get("numResults"), text="query")
    rows = [_web(doc, title="title", url="url") | {"highlights": [doc.snippet]} for doc in found]
    return {"requestId": "r", "results": rows}


def serper(request: Request, behaviour: Behaviour) -> Any:
    count = int(request.get("num"))
    found = _cut(request, behaviour, count, (int(request.get("page", 1)) - 1) * count)
    if request.path.endswith("/images"):
        names = {"title": "title", "url": "link", "image": "imageUrl", "thumb": "thumbnailUrl"}
        rows = [_web(doc, **names, width="imageWidth", height="imageHeight") for doc in found]
        return {"searchParameters": {}, "images": rows}
    rows = [_web(doc, title="title", url="link", snippet="snippet") for doc in found]
    return {"searchParameters": {}, "news" if request.path.endswith("/news") else "organic": rows}


def serpapi(request: Request, behaviour: Behaviour) -> Any:
    found = _cut(request, behaviour, 10, request.get("start", 0))
    head: dict[str, Any] = {"search_metadata": {"status": "Success"}}
    if request.get("engine") == "google_images":
        names = {"title": "title", "url": "link", "image": "original", "thumb": "thumbnail"}
        return head | {"images_results": [_web(doc, **names) for doc in found]}
    rows = [_web(doc, title="title", url="link", snippet="snippet") for doc in found]
    return head | {"news_results" if request.get("engine") == "google_news" else "organic_results": rows}


def google_cse(request: Request, behaviour: Behaviour) -> Any:
    site = f" site:{request.get('siteSearch')}" if request.get("siteSearch") else ""
    start, count = int(request.get("start", 1)) - 1, SIZE if behaviour.greedy else int(request.get("num"))
    found = docs(str(request.get("q")) + site, start, count)
    rows: list[dict[str, Any]] = [_web(doc, title="title", url="link", snippet="snippet") for doc in found]
    if request.get("searchType") == "image":
        rows = [
            {"title": doc.title, "link": doc.image, "image": {"contextLink": doc.url, "thumbnailLink": doc.image}}
            for doc in found
        ]
    return {"kind": "customsearch#search", "searchInformation": {"totalResults": "408000"}} | (
        {"items": rows} if rows else {}
    )


def bing(request: Request, behaviour: Behaviour) -> Any:
    found = _cut(request, behaviour, request.get("count"), request.get("offset", 0))
    if "/images/" in request.path:
        names = {"title": "name", "url": "hostPageUrl", "image": "contentUrl", "thumb": "thumbnailUrl"}
        return {"_type": "Images", "value": [_web(doc, **names, width="width", height="height") for doc in found]}
    rows = [_web(doc, title="name", url="url", snippet="snippet") for doc in found]
    return {"_type": "SearchResponse"} | ({"webPages": {"value": rows}} if rows else {})


def you(request: Request, behaviour: Behaviour) -> Any:
    found = _cut(request, behaviour, request.get("count"), text="query")
    rows = [_web(doc, title="title", url="url", snippet="description") for doc in found]
    return {"results": {"web": rows, "news": rows}, "metadata": {}}


def firecrawl(request: Request, behaviour: Behaviour) -> Any:
    found = _cut(request, behaviour, request.get("limit"), text="query")
    names = {"title": "title", "url": "url", "snippet": "description", "image": "imageUrl"}
    rows = [_web(doc, **names, width="imageWidth", height="imageHeight") for doc in found]
    return {"success": True, "data": dict.fromkeys(request.get("sources"), rows)}


def searxng(request: Request, behaviour: Behaviour) -> Any:
    found = docs(str(request.get("q")), (int(request.get("pageno")) - 1) * 10, SIZE if behaviour.greedy else 10)
    names = {"title": "title", "url": "url", "snippet": "content"}
    image = {"image": "img_src", "thumb": "thumbnail_src"} if request.get("categories") == "images" else {}
    rows = [_web(doc, **names, **image) | {"resolution": "640 x 480", "score": 1.0} for doc in found]
    return {"query": request.get("q"), "results": rows, "unresponsive_engines": []}


ANSWERS: dict[str, Answer] = {
    "tavily": _plain("max_results", "results", "content"),
    "webiq": _plain("maxResults", "webResults", "content"),
    "brave": brave,
    "exa": exa,
    "serper": serper,
    "serpapi": serpapi,
    "google_cse": google_cse,
    "bing": bing,
    "you": you,
    "firecrawl": firecrawl,
    "searxng": searxng,
}
HEADERS = {
    "bing": "ocp-apim-subscription-key",
    "brave": "x-subscription-token",
    "exa": "x-api-key",
    "serper": "x-api-key",
    "webiq": "x-apikey",
    "you": "x-api-key",
}
EMPTY: dict[str, Any] = json.loads((DATA / "empty.json").read_text())


def authorised(request: Request, key: str) -> bool:
    """Whether the request carries the key where this provider wants it, or may do without."""
    if request.provider == "searxng" or (request.provider == "exa" and request.path.endswith("/mcp")):
        return True
    if request.provider == "tavily" and request.headers.get("x-tavily-access-mode") == "keyless":
        return True
    if request.provider == "google_cse":
        return request.query.get("key") == key and request.query.get("cx") == CX
    if request.provider == "serpapi":
        return request.query.get("api_key") == key
    header = HEADERS.get(request.provider, "authorization")
    given = request.headers.get(header)
    if given is None:
        return request.provider in {"you", "firecrawl"}
    return given == (f"Bearer {key}" if header == "authorization" else key)


JSON = "application/json"
HTML = "text/html; charset=utf-8"
# What a failing provider sends: status, content type, body.
WAYS: dict[str, tuple[int, str, str]] = json.loads((DATA / "failing.json").read_text())
WAYS["deep"] = (200, JSON, "[" * 100_000)
STATUSES = ("400", "401", "402", "403", "404", "408", "422", "429", "430", "432", "433", "500", "502", "503", "504")
BROKEN = ("hang", "reset", "cut", "wrong_types", "wrong_items")
Send = Callable[[dict[str, Any]], Awaitable[None]]


def app(behaviour: Behaviour | None = None) -> Any:
    """The ASGI application of all providers, each below its own name."""
    behaviour = behaviour or Behaviour()

    async def serve(scope: dict[str, Any], receive: Any, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        request = await _read(scope, receive)
        behaviour.asked.append(request)
        await _act(request, behaviour, receive, send)

    return serve


async def _lifespan(receive: Any, send: Send) -> None:
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})


async def _read(scope: dict[str, Any], receive: Any) -> Request:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return Request(
        provider=scope["path"].split("/")[1],
        method=scope["method"],
        path=scope["path"],
        query={name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()},
        headers={name.decode().lower(): value.decode() for name, value in scope["headers"]},
        body=json.loads(body) if body else None,
    )


async def _act(request: Request, behaviour: Behaviour, receive: Any, send: Send) -> None:
    name, way = request.provider, behaviour.way(request.provider)
    extra = behaviour.headers.get(name, {})
    if way == "hang":
        while (await receive())["type"] != "http.disconnect":
            await anyio.lowlevel.checkpoint()
    elif way in {"reset", "cut"}:
        # Promises more than it sends; the server then drops the connection.
        await _start(send, 200, JSON, {"content-length": "9000"})
        await send({"type": "http.response.body", "body": b"" if way == "reset" else b'{"res', "more_body": True})
    elif name in behaviour.bodies:
        status = int(way) if way.isdigit() else 200
        await _reply(send, status, behaviour.bodies[name], extra)
    elif way.isdigit():
        await _reply(send, int(way), {"error": f"failed with {way}", "message": f"failed with {way}"}, extra)
    elif way in WAYS:
        status, kind, text = WAYS[way]
        await _start(send, status, kind, extra)
        await send({"type": "http.response.body", "body": text.encode()})
    else:
        await _serve(request, behaviour, way, send)


async def _serve(request: Request, behaviour: Behaviour, way: str, send: Send) -> None:
    if not authorised(request, behaviour.key):
        await _reply(send, 401, {"error": f"the key {request.headers} {request.query} is not valid"})
    elif request.path.endswith("/mcp"):
        await _mcp(request, behaviour, way, send)
    elif way == "empty":
        await _reply(send, 200, EMPTY[request.provider])
    else:
        body = ANSWERS[request.provider](request, behaviour)
        await _reply(send, 200, _spoiled(body, way))


def _spoiled(body: Any, way: str) -> Any:
    """The answer with its lists, or the things in them, turned into something else."""
    if isinstance(body, list) and body:
        return "a text" if way == "wrong_types" else [1, None, "x"] if way == "wrong_items" else body
    if isinstance(body, dict):
        return {name: _spoiled(value, way) for name, value in body.items()}
    return body


async def _mcp(request: Request, behaviour: Behaviour, way: str, send: Send) -> None:
    """Exa's hosted server, as far as one tool call needs it."""
    method, number = request.body["method"], request.body.get("id")
    if method == "initialize":
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "exa", "version": "1"}}
        await _event(send, number, hello, {"mcp-session-id": "s1"})
        return
    if method.startswith("notifications/"):
        await _reply(send, 202, {})
        return
    if behaviour.exa == "session" and request.headers.get("mcp-session-id") != "s1":
        error = {"code": -32000, "message": "Bad Request: no valid session ID provided"}
        await _reply(send, 400, {"jsonrpc": "2.0", "id": None, "error": error})
        return
    asked = request.body["params"]["arguments"]
    found = [] if way == "empty" else docs(asked["query"], 0, SIZE if behaviour.greedy else int(asked["numResults"]))
    result: Any = {"content": [{"type": "text", "text": _listed(found)}]}
    result = {"content": 7} if way.startswith("wrong") else result
    if behaviour.exa == "json":
        await _reply(send, 200, {"jsonrpc": "2.0", "id": number, "result": result})
    else:
        await _event(send, number, result)


def _listed(found: list[Doc]) -> str:
    rows = [
        f"Title: {doc.title}\nURL: {doc.url}\nPublished: N/A\nAuthor: N/A\nHighlights:\n{doc.snippet}" for doc in found
    ]
    return "\n\n---\n\n".join(rows) or "No search results found. Please try a different query."


async def _event(send: Send, number: Any, result: Any, headers: dict[str, str] | None = None) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    await _start(send, 200, "text/event-stream", headers or {})
    await send({"type": "http.response.body", "body": f": hello\n\nevent: message\ndata: {message}\n\n".encode()})


async def _reply(send: Send, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    kind = HTML if isinstance(body, str) else JSON
    await _start(send, status, kind, headers or {})
    text = body if isinstance(body, str) else json.dumps(body)
    await send({"type": "http.response.body", "body": text.encode()})


async def _start(send: Send, status: int, kind: str, headers: dict[str, str]) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in {"content-type": kind, **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
