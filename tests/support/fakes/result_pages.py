"""Search engines' result pages on loopback: the structure of recorded pages, with our own texts.

    async with fakes.serve(result_pages.site(behaviour)) as url:
        settings = result_pages.providers(url)

Each engine answers below its own name. `Behaviour.ways` chooses the page that it shows: `results`, `nothing`,
`captcha`, `consent`, `blocked`, `scripted`, or `redesigned`.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

RECORDED_PAGES_FOLDER = Path(__file__).parents[2] / "data" / "search" / "serp"
PROVIDER_SUFFIX = "_page"
ENGINES = ("google", "bing", "duckduckgo", "yahoo", "ecosia", "yandex", "baidu")
FAILURE_STATUSES = {"captcha": 429, "blocked": 429}
# A redesigned page of any engine, without known classes and headings.
REDESIGNED_PAGE_HTML = (
    "<title>{0}</title><main><p>Something about {0} that is long enough to be read as a page.</p></main>"
)


@dataclass
class EngineBehaviour:
    """The page of each engine, and the requests: (engine, path, parameters, user agent)."""

    modes: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)

    def get_mode(self, engine: str) -> str:
        return self.modes.get(engine, self.modes.get("*", "results"))

    @property
    def requested_engines(self) -> list[str]:
        """Lists the engines that were asked, in order."""
        return [each[0] for each in self.requests]


def read_result_page(engine: str, kind: str) -> str:
    """Read one of an engine's pages."""
    return (RECORDED_PAGES_FOLDER / f"{engine}_{kind}.html").read_text(encoding="utf-8")


def build_engine_settings(url: str) -> dict[str, dict[str, Any]]:
    """Build the `providers` part of the search settings, with every engine below that address."""
    return {f"{name}{PROVIDER_SUFFIX}": {"endpoint": f"{url}/{name}", "rate": 1000} for name in ENGINES} | {
        "agent_browser": {"endpoint": url, "rate": 1000}
    }


def build_engine_site(behaviour: EngineBehaviour) -> Any:
    """Build the engines as one ASGI application."""

    async def serve_request(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
            return
        engine, _, path = scope["path"].strip("/").partition("/")
        status, headers, body = _build_answer(behaviour, engine, path, scope)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return serve_request


def _build_answer(behaviour: EngineBehaviour, engine: str, path: str, scope: dict[str, Any]) -> tuple[int, Any, bytes]:
    html = [(b"content-type", b"text/html; charset=utf-8")]
    if engine not in ENGINES:
        return 404, html, b"nothing here"
    asked = {name: values[0] for name, values in parse_qs(scope["query_string"].decode()).items()}
    agent = dict(scope["headers"]).get(b"user-agent", b"").decode()
    way = behaviour.get_mode(engine)
    if way == "sorry" and not path.startswith("sorry"):
        behaviour.requests.append((engine, path, asked, agent))
        return 302, [(b"location", f"/{engine}/sorry/index?continue=x".encode())], b""
    if path.startswith("sorry"):
        return 429, html, b"<title>Wait</title><p>There is nothing here to be recognised by but the address.</p>"
    behaviour.requests.append((engine, path, asked, agent))
    if way == "redesigned":
        return 200, html, REDESIGNED_PAGE_HTML.format("oolong").encode()
    return FAILURE_STATUSES.get(way, 200), html, read_result_page(engine, way).encode()
