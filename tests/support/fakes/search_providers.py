"""Fakes of all search providers on loopback: they check keys, return pages, and fail on demand.

    async with fakes.serve(providers.app()) as url:
        settings = SearchSettings(providers=providers.settings(url, "brave", "tavily"))

The answers are small and our own. `Behaviour.ways` makes a provider fail in one of `WAYS`, or with any HTTP status.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import anyio

PROVIDER_API_KEY = "k3y-Zx91qP0aLmN7tRw2"
GOOGLE_CSE_ID = "cx-1234"
WIRE_DATA_FOLDER = Path(__file__).parents[2] / "data" / "search" / "wire"
SEARCH_TIME_S = datetime(2026, 11, 20, tzinfo=UTC).timestamp()  # dates of results refer to it
MAX_RESULTS_PER_QUERY = 40  # results for any query
ENDPOINT_PATHS = {"you": "/you/v1/agents/search", "google_cse": "/google_cse/customsearch/v1"}


@dataclass(frozen=True)
class ProviderRequest:
    """A request to a provider."""

    provider: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any

    def get_parameter(self, name: str, default: Any = None) -> Any:
        """Return a parameter from the place where this provider expects it."""
        return (self.body if isinstance(self.body, dict) else self.query).get(name, default)


@dataclass
class ProviderBehaviour:
    """The behaviour of the providers.

    `modes` by provider ("*" for all): a key of `WAYS` or a status such as "429". `failure_bodies` and
    `failure_headers` by provider replace the failure's own. `ignores_count` providers ignore the requested count.
    """

    modes: dict[str, str] = field(default_factory=dict)
    failure_bodies: dict[str, Any] = field(default_factory=dict)
    failure_headers: dict[str, dict[str, str]] = field(default_factory=dict)
    key: str = PROVIDER_API_KEY
    ignores_count: bool = False
    exa_transport: str = "sse"  # or "json", or "session"
    requests: list[ProviderRequest] = field(default_factory=list)

    def get_mode(self, provider: str) -> str:
        return self.modes.get(provider, self.modes.get("*", "ok"))


def build_provider_settings(
    url: str, *names: str, key: str = PROVIDER_API_KEY, **more: Any
) -> dict[str, dict[str, Any]]:
    """Build the `providers` part of the search settings for these providers; an empty key means no key."""
    return {
        name: {"endpoint": build_endpoint_url(url, name), **_build_credentials(name, key), **more} for name in names
    }


def build_endpoint_url(url: str, name: str) -> str:
    """Build the address of the provider of that name."""
    return f"{url}{ENDPOINT_PATHS.get(name, f'/{name}')}"


def _build_credentials(name: str, key: str) -> dict[str, str]:
    if name == "searxng" or not key:
        return {}
    return {"api_key": key} | ({"cse_id": GOOGLE_CSE_ID} if name == "google_cse" else {})


@dataclass(frozen=True)
class SearchDocument:
    """A document to find."""

    number: int
    title: str
    url: str
    snippet: str

    @property
    def image(self) -> str:
        return f"https://img{self.number}.example/{self.number}.png"


def generate_documents(text: str, start: int = 0, count: int = MAX_RESULTS_PER_QUERY) -> list[SearchDocument]:
    """Generate the results for a query, the same each time, with engines' markup around matches."""
    site = text.rpartition(" site:")[2].strip() if " site:" in text else ""
    word = text.split(" ", maxsplit=1)[0]
    return [
        SearchDocument(
            number,
            f"<b>{word}</b> &amp; more, part {number}",
            f"https://{site or f'www.place{number}.example'}/{number}",
            f"All about <strong>{word}</strong>\u200b &#39;{number}&#39;",
        )
        for number in range(start + 1, min(start + count, MAX_RESULTS_PER_QUERY) + 1)
    ]


def _build_web_result(doc: SearchDocument, **names: str) -> dict[str, Any]:
    """Build a result under a provider's own field names; `ours="theirs"`."""
    texts = {"title": doc.title, "url": doc.url, "snippet": doc.snippet, "image": doc.image, "thumb": doc.image}
    facts: dict[str, Any] = {**texts, "width": 640, "height": 480}
    return {theirs: facts[ours] for ours, theirs in names.items()}


AnswerBuilder = Callable[[ProviderRequest, ProviderBehaviour], Any]


def _select_documents(
    request: ProviderRequest, behaviour: ProviderBehaviour, count: Any, start: Any = 0, text: str = "q"
) -> list[SearchDocument]:
    size = MAX_RESULTS_PER_QUERY if behaviour.ignores_count else int(count)
    return generate_documents(str(request.get_parameter(text)), int(start), size)


def answer_as_brave(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    count = int(request.get_parameter("count"))
    found = _select_documents(request, behaviour, count, int(request.get_parameter("offset", 0)) * count)
    if "/images/" in request.path:
        return {"type": "images", "results": [_build_brave_image(doc) for doc in found]}
    rows = [
        _build_web_result(doc, title="title", url="url", snippet="description") | {"age": "2 days ago"} for doc in found
    ]
    return (
        {"type": "search", "web": {"results": rows}} if "/web/" in request.path else {"type": "news", "results": rows}
    )


def _build_brave_image(doc: SearchDocument) -> dict[str, Any]:
    full = {"url": doc.image, "width": 640, "height": 480}
    thumbnail: Any = {"src": doc.image} if doc.number % 2 else doc.image  # both forms occur
    return {"title": doc.title, "url": doc.url, "thumbnail": thumbnail, "properties": full}


def _build_flat_answer(count: str, list_field: str, snippet: str) -> AnswerBuilder:
    """Build the answer of a provider with one flat list of title, URL and snippet."""

    def build_answer(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
        found = _select_documents(request, behaviour, request.get_parameter(count), text="query")
        return {list_field: [_build_web_result(doc, title="title", url="url", snippet=snippet) for doc in found]}

    return build_answer


def answer_as_exa(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, request.get_parameter("numResults"), text="query")
    rows = [_build_web_result(doc, title="title", url="url") | {"highlights": [doc.snippet]} for doc in found]
    return {"requestId": "r", "results": rows}


def answer_as_serper(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    count = int(request.get_parameter("num"))
    found = _select_documents(request, behaviour, count, (int(request.get_parameter("page", 1)) - 1) * count)
    if request.path.endswith("/images"):
        names = {"title": "title", "url": "link", "image": "imageUrl", "thumb": "thumbnailUrl"}
        rows = [_build_web_result(doc, **names, width="imageWidth", height="imageHeight") for doc in found]
        return {"searchParameters": {}, "images": rows}
    rows = [_build_web_result(doc, title="title", url="link", snippet="snippet") for doc in found]
    return {"searchParameters": {}, "news" if request.path.endswith("/news") else "organic": rows}


def answer_as_serpapi(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, 10, request.get_parameter("start", 0))
    head: dict[str, Any] = {"search_metadata": {"status": "Success"}}
    if request.get_parameter("engine") == "google_images":
        names = {"title": "title", "url": "link", "image": "original", "thumb": "thumbnail"}
        return head | {"images_results": [_build_web_result(doc, **names) for doc in found]}
    rows = [_build_web_result(doc, title="title", url="link", snippet="snippet") for doc in found]
    return head | {"news_results" if request.get_parameter("engine") == "google_news" else "organic_results": rows}


def answer_as_google_cse(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    start, count = (
        int(request.get_parameter("start", 1)) - 1,
        MAX_RESULTS_PER_QUERY if behaviour.ignores_count else int(request.get_parameter("num")),
    )
    found = generate_documents(str(request.get_parameter("q")), start, count)
    rows: list[dict[str, Any]] = [_build_web_result(doc, title="title", url="link", snippet="snippet") for doc in found]
    if request.get_parameter("searchType") == "image":
        rows = [
            {"title": doc.title, "link": doc.image, "image": {"contextLink": doc.url, "thumbnailLink": doc.image}}
            for doc in found
        ]
    return {"kind": "customsearch#search", "searchInformation": {"totalResults": "408000"}} | (
        {"items": rows} if rows else {}
    )


def answer_as_bing(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, request.get_parameter("count"), request.get_parameter("offset", 0))
    if "/images/" in request.path:
        names = {"title": "name", "url": "hostPageUrl", "image": "contentUrl", "thumb": "thumbnailUrl"}
        return {
            "_type": "Images",
            "value": [_build_web_result(doc, **names, width="width", height="height") for doc in found],
        }
    rows = [_build_web_result(doc, title="name", url="url", snippet="snippet") for doc in found]
    return {"_type": "SearchResponse"} | ({"webPages": {"value": rows}} if rows else {})


def answer_as_you(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    count = int(request.get_parameter("count"))
    start = int(request.get_parameter("offset", 0)) * count
    found = _select_documents(request, behaviour, count, start, text="query")
    rows = [_build_web_result(doc, title="title", url="url", snippet="description") for doc in found]
    return {"results": {"web": rows, "news": rows}, "metadata": {}}


def answer_as_firecrawl(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, request.get_parameter("limit"), text="query")
    names = {"title": "title", "url": "url", "snippet": "description", "image": "imageUrl"}
    rows = [_build_web_result(doc, **names, width="imageWidth", height="imageHeight") for doc in found]
    return {"success": True, "data": dict.fromkeys(request.get_parameter("sources"), rows)}


def answer_as_searxng(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = generate_documents(
        str(request.get_parameter("q")),
        (int(request.get_parameter("pageno")) - 1) * 10,
        MAX_RESULTS_PER_QUERY if behaviour.ignores_count else 10,
    )
    names = {"title": "title", "url": "url", "snippet": "content"}
    image = {"image": "img_src", "thumb": "thumbnail_src"} if request.get_parameter("categories") == "images" else {}
    rows = [_build_web_result(doc, **names, **image) | {"resolution": "640 x 480", "score": 1.0} for doc in found]
    return {"query": request.get_parameter("q"), "results": rows, "unresponsive_engines": []}


def answer_as_kagi(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    count = int(request.get_parameter("limit"))
    start = (int(request.get_parameter("page", 1)) - 1) * count
    found = _select_documents(request, behaviour, count, start, text="query")
    list_name = {"search": "search", "images": "image", "news": "news"}[request.get_parameter("workflow")]
    rows = [
        _build_web_result(doc, title="title", url="url", snippet="snippet")
        | {"image": {"url": doc.image, "width": 640, "height": 480}, "props": {"thumbnail": {"url": doc.image}}}
        for doc in found
    ]
    return {"meta": {"trace": "t"}, "data": {list_name: rows} if rows else {}}


def answer_as_jina(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    count = int(request.get_parameter("num"))
    found = _select_documents(request, behaviour, count, (int(request.get_parameter("page", 1)) - 1) * count)
    names = {"title": "title", "url": "url", "snippet": "description"}
    image = {"image": "imageUrl"} if request.get_parameter("type") == "images" else {}
    rows = [_build_web_result(doc, **names, **image) | {"content": ""} for doc in found]
    return {"code": 200, "status": 20000, "data": rows}


def answer_as_parallel(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    settings = request.get_parameter("advanced_settings")
    size = MAX_RESULTS_PER_QUERY if behaviour.ignores_count else settings["max_results"]
    found = generate_documents(request.get_parameter("search_queries")[0], 0, size)
    rows = [{"title": doc.title, "url": doc.url, "excerpts": [doc.snippet], "publish_date": None} for doc in found]
    return {"search_id": "s", "session_id": "s", "results": rows}


def answer_as_webiq(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, request.get_parameter("maxResults"), text="query")
    if request.path.endswith("/images"):
        names = {"title": "title", "url": "hostPageUrl", "image": "url", "thumb": "thumbnailUrl"}
        rows = [_build_web_result(doc, **names, width="width", height="height") for doc in found]
        return {"imageResults": rows, "traceId": "t"}
    list_name = "newsResults" if request.path.endswith("/news") else "webResults"
    rows = [_build_web_result(doc, title="title", url="url", snippet="content") for doc in found]
    return {list_name: rows, "traceId": "t"}


def answer_as_linkup(request: ProviderRequest, behaviour: ProviderBehaviour) -> Any:
    found = _select_documents(request, behaviour, request.get_parameter("maxResults"))
    rows = [{"type": "text", "name": doc.title, "url": doc.url, "content": doc.snippet} for doc in found]
    return {"results": [{"type": "image", "name": "a picture", "url": "https://img.example/a.png"}, *rows]}


ANSWER_BUILDERS: dict[str, AnswerBuilder] = {
    "tavily": _build_flat_answer("max_results", "results", "content"),
    "perplexity": _build_flat_answer("max_results", "results", "snippet"),
    "webiq": answer_as_webiq,
    "brave": answer_as_brave,
    "exa": answer_as_exa,
    "serper": answer_as_serper,
    "serpapi": answer_as_serpapi,
    "google_cse": answer_as_google_cse,
    "bing": answer_as_bing,
    "you": answer_as_you,
    "firecrawl": answer_as_firecrawl,
    "searxng": answer_as_searxng,
    "kagi": answer_as_kagi,
    "jina": answer_as_jina,
    "parallel": answer_as_parallel,
    "linkup": answer_as_linkup,
}
KEY_HEADERS = {
    "bing": "ocp-apim-subscription-key",
    "brave": "x-subscription-token",
    "exa": "x-api-key",
    "parallel": "x-api-key",
    "serper": "x-api-key",
    "webiq": "x-apikey",
    "you": "x-api-key",
}
EMPTY_STATUSES = {"jina": 422, "linkup": 400}  # of providers for which "nothing found" is an error
EMPTY_ANSWERS: dict[str, Any] = json.loads((WIRE_DATA_FOLDER / "empty.json").read_text())


def is_authorized(request: ProviderRequest, key: str) -> bool:
    """Return whether the request has the key where this provider expects it, or needs none."""
    if request.provider == "searxng" or (request.provider == "exa" and request.path.endswith("/mcp")):
        return True
    if request.provider == "tavily" and request.headers.get("x-tavily-access-mode") == "keyless":
        return True
    if request.provider == "google_cse":
        return request.query.get("key") == key and request.query.get("cx") == GOOGLE_CSE_ID
    if request.provider == "serpapi":
        return request.query.get("api_key") == key
    header = KEY_HEADERS.get(request.provider, "authorization")
    given = request.headers.get(header)
    if given is None:
        return request.provider == "you"
    return given == (f"Bearer {key}" if header == "authorization" else key)


JSON_TYPE = "application/json"
HTML_TYPE = "text/html; charset=utf-8"
# Responses of a failing provider: status, content type, body.
FAILURE_MODES: dict[str, tuple[int, str, str]] = json.loads((WIRE_DATA_FOLDER / "failing.json").read_text())
FAILURE_MODES["deep"] = (200, JSON_TYPE, "[" * 100_000)
FAILURE_STATUSES = (
    "400",
    "401",
    "402",
    "403",
    "404",
    "408",
    "422",
    "429",
    "430",
    "432",
    "433",
    "500",
    "502",
    "503",
    "504",
)
BROKEN_MODES = ("hang", "reset", "cut", "wrong_types", "wrong_items")
AsgiSend = Callable[[dict[str, Any]], Awaitable[None]]


def build_provider_app(behaviour: ProviderBehaviour | None = None) -> Any:
    """Build the ASGI application of all providers, each below its own name."""
    behaviour = behaviour or ProviderBehaviour()

    async def serve_request(scope: dict[str, Any], receive: Any, send: AsgiSend) -> None:
        if scope["type"] == "lifespan":
            await _handle_lifespan(receive, send)
            return
        request = await _read_request(scope, receive)
        behaviour.requests.append(request)
        await _apply_mode(request, behaviour, receive, send)

    return serve_request


async def _handle_lifespan(receive: Any, send: AsgiSend) -> None:
    for step in ("startup", "shutdown"):
        await receive()
        await send({"type": f"lifespan.{step}.complete"})


async def _read_request(scope: dict[str, Any], receive: Any) -> ProviderRequest:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return ProviderRequest(
        provider=scope["path"].split("/")[1],
        method=scope["method"],
        path=scope["path"],
        query={name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()},
        headers={name.decode().lower(): value.decode() for name, value in scope["headers"]},
        body=json.loads(body) if body else None,
    )


async def _apply_mode(request: ProviderRequest, behaviour: ProviderBehaviour, receive: Any, send: AsgiSend) -> None:
    name, way = request.provider, behaviour.get_mode(request.provider)
    extra = behaviour.failure_headers.get(name, {})
    if way == "hang":
        while (await receive())["type"] != "http.disconnect":
            await anyio.lowlevel.checkpoint()
    elif way in {"reset", "cut"}:
        # Promises more than it sends; the server then drops the connection.
        await _start_response(send, 200, JSON_TYPE, {"content-length": "9000"})
        await send({"type": "http.response.body", "body": b"" if way == "reset" else b'{"res', "more_body": True})
    elif name in behaviour.failure_bodies:
        status = int(way) if way.isdigit() else 200
        await _send_reply(send, status, behaviour.failure_bodies[name], extra)
    elif way.isdigit():
        await _send_reply(send, int(way), {"error": f"failed with {way}", "message": f"failed with {way}"}, extra)
    elif way in FAILURE_MODES:
        status, kind, text = FAILURE_MODES[way]
        await _start_response(send, status, kind, extra)
        await send({"type": "http.response.body", "body": text.encode()})
    else:
        await _serve_answer(request, behaviour, way, send)


async def _serve_answer(request: ProviderRequest, behaviour: ProviderBehaviour, way: str, send: AsgiSend) -> None:
    if not is_authorized(request, behaviour.key):
        await _send_reply(send, 401, {"error": f"the key {request.headers} {request.query} is not valid"})
    elif request.path.endswith("/mcp"):
        await _serve_exa_mcp(request, behaviour, way, send)
    elif way == "empty":
        await _send_reply(send, EMPTY_STATUSES.get(request.provider, 200), EMPTY_ANSWERS[request.provider])
    else:
        body = ANSWER_BUILDERS[request.provider](request, behaviour)
        await _send_reply(send, 200, _spoil_lists(body, way))


def _spoil_lists(body: Any, way: str) -> Any:
    """Return the answer with its lists, or their items, replaced by other types."""
    if isinstance(body, list) and body:
        return "a text" if way == "wrong_types" else [1, None, "x"] if way == "wrong_items" else body
    if isinstance(body, dict):
        return {name: _spoil_lists(value, way) for name, value in body.items()}
    return body


async def _serve_exa_mcp(request: ProviderRequest, behaviour: ProviderBehaviour, way: str, send: AsgiSend) -> None:
    """Serve Exa's hosted MCP server, as far as one tool call needs it."""
    method, number = request.body["method"], request.body.get("id")
    if method == "initialize":
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "exa", "version": "1"}}
        await _send_mcp_event(send, number, hello, {"mcp-session-id": "s1"})
        return
    if method.startswith("notifications/"):
        await _send_reply(send, 202, {})
        return
    if behaviour.exa_transport == "session" and request.headers.get("mcp-session-id") != "s1":
        error = {"code": -32000, "message": "Bad Request: no valid session ID provided"}
        await _send_reply(send, 400, {"jsonrpc": "2.0", "id": None, "error": error})
        return
    asked = request.body["params"]["arguments"]
    found = (
        []
        if way == "empty"
        else generate_documents(
            asked["query"], 0, MAX_RESULTS_PER_QUERY if behaviour.ignores_count else int(asked["numResults"])
        )
    )
    result: Any = {"content": [{"type": "text", "text": _format_exa_results(found)}]}
    result = {"content": 7} if way.startswith("wrong") else result
    if behaviour.exa_transport == "json":
        await _send_reply(send, 200, {"jsonrpc": "2.0", "id": number, "result": result})
    else:
        await _send_mcp_event(send, number, result)


def _format_exa_results(found: list[SearchDocument]) -> str:
    rows = [
        f"Title: {doc.title}\nURL: {doc.url}\nPublished: N/A\nAuthor: N/A\nHighlights:\n{doc.snippet}" for doc in found
    ]
    return "\n\n---\n\n".join(rows) or "No search results found. Please try a different query."


async def _send_mcp_event(send: AsgiSend, number: Any, result: Any, headers: dict[str, str] | None = None) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
    await _start_response(send, 200, "text/event-stream", headers or {})
    await send({"type": "http.response.body", "body": f": hello\n\nevent: message\ndata: {message}\n\n".encode()})


async def _send_reply(send: AsgiSend, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
    kind = HTML_TYPE if isinstance(body, str) else JSON_TYPE
    await _start_response(send, status, kind, headers or {})
    text = body if isinstance(body, str) else json.dumps(body)
    await send({"type": "http.response.body", "body": text.encode()})


async def _start_response(send: AsgiSend, status: int, kind: str, headers: dict[str, str]) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in {"content-type": kind, **headers}.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
