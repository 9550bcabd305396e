"""Builds the house: settings in, services and servers out. The only place where parts meet."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio

from outrider import toolsets
from outrider.agents.approvals import Questions
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.evaluations import Evaluations
from outrider.agents.models import Models
from outrider.agents.runs import Runs
from outrider.browser import Browsers
from outrider.content import Content
from outrider.core.artifacts import Artifacts
from outrider.core.citations import Citations
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.discovery import find
from outrider.core.egress.guard import Guard
from outrider.core.errors import NotFound, OutriderError
from outrider.core.events import Events
from outrider.core.http import Http
from outrider.core.prompting import ServiceContext
from outrider.core.result import Result
from outrider.core.tool import KnownTools, Toolset
from outrider.core.toolbox import Toolbox
from outrider.pages import Pages
from outrider.pages.crawl import Crawler
from outrider.plans import Plans
from outrider.playbooks import Playbooks
from outrider.search import Hit, Page, Powers, Query, Search
from outrider.settings import Loaded, load
from outrider.toolsets.choices import Choices
from outrider.toolsets.content_store_offers import Offers
from outrider.toolsets.content_store_sources import Sources
from outrider.toolsets.evaluating.flow import Evaluator
from outrider.toolsets.run_agent_flow import Delegation, Manner
from outrider.toolsets.run_agent_results import CONVERSATIONS
from outrider.toolsets.web_eval_settings import WebEvalSettings
from outrider.workspace import Exports, Workspaces
from outrider.workspace.processes import Processes
from outrider.workspace.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from mcp.server import Server

    from outrider.agents.remote import RemoteTool
    from outrider.serve.remote import RemoteServers

Local = Callable[[Query], Awaitable[list[Hit]]]
DAY = 86_400
MOST_READ = 200  # pages looked through when only some hosts are wanted


@dataclass(frozen=True)
class App:
    """The running house. `async with open_app() as app` makes one and closes all that it opened.

    Attributes:
        loaded: The settings, with the origin of each.
        toolbox: The offered tools.
        events: The record of every call.
    """

    loaded: Loaded
    toolbox: Toolbox
    events: Events
    artifacts: Artifacts
    database: Database
    workspaces: Workspaces
    processes: Processes
    search: Search
    pages: Pages
    crawler: Crawler
    content: Content
    browsers: Browsers
    runs: Runs
    catalogue: Catalogue
    models: Models
    delegation: Delegation
    evaluator: Evaluator
    remote: "_Servers"
    every: dict[str, Toolset] = field(repr=False)

    async def call(self, tool: str, /, call: Call | None = None, **arguments: Any) -> Result:
        """Calls a tool as a host would: `await app.call("web_search", query="tea")`.

        Raises the errors of `outrider.core.errors`, InvalidInput for arguments among them.
        """
        return await self.toolbox.call(tool, arguments, call)

    async def context(self, toolset: str, call: Call | None = None) -> ServiceContext:
        """How things stand in a toolset for the call's session, for a system prompt. Raises NotFound."""
        return await self.toolbox.context(toolset, call or Call())

    def server(self, toolset: str | None = None, *, name: str = "outrider", session: str = "default") -> "Server[Any]":
        """An MCP server (the SDK's low-level one) over all offered tools, or over one toolset alone."""
        from outrider.serve.mcp import Pause, mcp_server
        from outrider.serve.seal import security

        settings = self.loaded.settings
        toolbox = self.toolbox.only(toolset) if toolset else self.toolbox
        sealed = security(settings.serve.state_key, settings.data_dir, hours=settings.serve.state_hours)
        pause = Pause(sealed, settings.run_agent.blocked_format, settings.mime_prefix)
        texts = {CONVERSATIONS: self.delegation.transcript}
        return mcp_server(
            toolbox, self.artifacts, name=name, style=settings.names, session=session, assistant=settings.assistant,
            pause=pause, texts=texts,
        )  # fmt: skip

    def servers(self) -> "dict[str, Server[Any]]":
        """What HTTP serves: everything under an empty name, and each toolset under its own and its aliases."""
        alone = {
            name: self.server(name, name=name)
            for toolset in self.toolbox.toolsets.values()
            for name in (toolset.name, *toolset.aliases)
        }
        return {"": self.server(), **alone}


@asynccontextmanager
async def open_app(loaded: Loaded | None = None) -> AsyncGenerator[App]:
    """The running house; leaving the context writes what is pending and closes all that was opened.

    Args:
        loaded: Settings from `outrider.settings.load`; read from their usual places by default.
    """
    loaded = loaded or load()
    guard = Guard(loaded.settings.egress)
    async with _library_proxy(guard, loaded) as proxy:
        app, http = _build(loaded, guard, proxy)
        try:
            async with _beside(app.events.write_forever, lambda: _sweep_daily(app), app.runs.mind, app.content.mind):
                yield app
        finally:
            # Only now, when nothing runs beside the tools any more: a connection in use must not be taken away.
            with anyio.CancelScope(shield=True):
                await app.processes.close()
                await app.evaluator.aclose()
                await app.runs.close()
                await app.remote.aclose()
                await app.browsers.aclose()
                await app.content.close()
                await app.events.flush()
                await http.close()
                await app.database.close()


@asynccontextmanager
async def _beside(*tasks: Callable[[], Coroutine[Any, Any, None]]) -> AsyncGenerator[None]:
    """Runs tasks beside the body; an error of the body comes out as it is, not wrapped by the group."""
    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        for task in tasks:
            group.start_soon(task)
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised again below
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _sweep_daily(app: App) -> None:
    """Lets go of what is older than the settings keep; begins when the database is opened for something else."""
    await app.database.used.wait()
    while True:
        with suppress(OutriderError):
            await app.events.sweep(app.loaded.settings.keep_days * DAY)
            await app.artifacts.sweep()
            await anyio.to_thread.run_sync(app.workspaces.sweep)
            await app.evaluator.evaluations.sweep(app.loaded.settings.keep_days * DAY)
            await app.content.sweep()
        await anyio.sleep(DAY)


@asynccontextmanager
async def _library_proxy(guard: Guard, loaded: Loaded) -> AsyncGenerator[str | None]:
    """The address of a guarded proxy for what dials by itself when searching; None if there is nothing of the kind."""
    program = loaded.settings.search.agent_browser
    if find_spec("ddgs") is None and not (program.command or program.auto_install):
        yield None
        return
    from outrider.core.egress.proxy import EgressProxy

    async with EgressProxy(guard) as proxy:
        yield proxy.url_with_credentials


def _build(loaded: Loaded, guard: Guard, proxy: str | None) -> tuple[App, Http]:
    settings = loaded.settings
    database, http = Database(settings.database_url), Http(guard)
    browsers = Browsers(settings.browser, guard, settings.data_dir / "browser")
    pages = Pages(http, settings.pages, database, render=_render(browsers))
    crawler = Crawler(pages, database)
    content = _content(loaded, http, database)
    kept = lambda: content if "content_store" in served.toolsets else None  # noqa: E731 - known when all is built
    powers = _search_powers(loaded, _local(pages, kept), browsers, lambda: proxy)
    search = Search(http, settings.search, database, powers=powers, environ=loaded.environ)
    artifacts = Artifacts(settings.data_dir / "artifacts", database, keep_seconds=settings.keep_days * DAY)
    events = Events(database)
    models = Models(settings.models, loaded.environ, http)
    questions, conversations = Questions(database), Conversations(database)
    runs = Runs(
        database,
        settings.agents,
        models,
        guard,
        toolboxes=lambda: (served, house()),
        questions=questions,
        conversations=conversations,
        sealing=_Sealing(loaded),
        servers=(remote := _Servers(loaded, guard, lambda: every)),
    )
    catalogue = Catalogue(settings.data_dir / "agents", Path.cwd() / ".outrider" / "agents", database)
    evaluations = Evaluations(database)

    def house() -> Toolbox:
        """All tools that agents may get, offered to hosts or not."""
        from outrider.toolsets.evaluating.done import DONE, done_tool
        from outrider.toolsets.evaluating.watch import WatchedToolbox

        inner = {DONE: done_tool()}
        return WatchedToolbox(every.values(), services, events, settings.tools, watcher=evaluator.watcher, inner=inner)

    evaluator = Evaluator(evaluations, artifacts, browsers, models, runs, catalogue, toolbox=house)
    services: dict[type, Any] = {
        Search: search,
        Pages: pages,
        Crawler: crawler,
        Browsers: browsers,
        Artifacts: artifacts,
        Citations: Citations(database),
        Plans: Plans(database),
        Playbooks: Playbooks(database),
        Choices: _choices(loaded),
        Runs: runs,
        Questions: questions,
        Conversations: conversations,
        Catalogue: catalogue,
        Evaluations: evaluations,
        Evaluator: evaluator,
        WebEvalSettings: settings.web_eval,
        Workspaces: (workspaces := Workspaces(settings.data_dir / "workspaces", settings.workspace)),
        Exports: Exports(_markdown(loaded)),
        Processes: (processes := _processes(loaded, guard)),
        Content: content,
    }
    services[Sources] = Sources(pages, services[Workspaces], settings.content)
    delegation = services[Delegation] = Delegation(
        catalogue, runs, conversations, questions, services[Citations], artifacts, database, _manner(loaded, catalogue)
    )
    every = {toolset.name: toolset for toolset in find(toolsets, Toolset, group="outrider.toolsets")}
    services[KnownTools] = KnownTools(name for toolset in every.values() for name in toolset.tools)
    served = Toolbox(_chosen(settings.toolsets, every, services), services, events, settings.tools)
    services[Offers] = Offers(content if "content_store" in served.toolsets else None, settings.content.offer)
    running = (content, browsers, runs, catalogue, models, delegation, evaluator, remote)
    kept = (database, workspaces, processes)
    return App(loaded, served, events, artifacts, *kept, search, pages, crawler, *running, every), http


@dataclass
class _Sealing:
    """The edge's seal, for agents; loaded when something is sealed for the first time."""

    loaded: Loaded

    def seal(self, payload: bytes) -> str:
        return self._codec.seal(payload)

    def unseal(self, token: str) -> bytes:
        return self._codec.unseal(token)

    @cached_property
    def _codec(self) -> Any:
        from outrider.serve.seal import codec

        return codec(self.loaded.settings.serve.state_key, self.loaded.settings.data_dir)


@dataclass
class _Servers:
    """Other MCP servers, for agents; the SDK's client is loaded when the first of them is needed."""

    loaded: Loaded
    guard: Guard
    every: Callable[[], dict[str, Toolset]]

    @property
    def names(self) -> list[str]:
        return list(self.loaded.settings.mcpServers)

    async def tools(self, server: str) -> Sequence["RemoteTool"]:
        return await self._opened.tools(server)

    async def aclose(self) -> None:
        if "_opened" in vars(self):
            await self._opened.aclose()

    @cached_property
    def _opened(self) -> "RemoteServers":
        from outrider.serve.remote import RemoteServers

        taken = {name for toolset in self.every().values() for name in toolset.tools}
        return RemoteServers(self.loaded.settings.mcpServers, self.loaded.environ, self.guard, taken)


def _content(loaded: Loaded, http: Http, database: Database) -> Content:
    """Content stores, with the embedder that the settings choose once one is needed."""
    settings = loaded.settings

    def embedder() -> Any:
        from outrider.content.embedding import chosen

        folder, keys = settings.data_dir / "models", settings.models.keys
        return chosen(settings.content.embedding, http, loaded.environ, folder=folder, keys=keys)

    return Content(database, settings.data_dir / "content", settings.content, embedder=embedder)


def _markdown(loaded: Loaded) -> Callable[[bytes, str], Awaitable[str]]:
    """The workspace domain's view of the pages domain."""

    async def markdown(body: bytes, name: str) -> str:
        from outrider.pages.local import read_body

        return (await read_body(body, name=name, settings=loaded.settings.pages))[0].markdown

    return markdown


def _processes(loaded: Loaded, guard: Guard) -> Processes:
    settings = loaded.settings
    return Processes(Sandbox(settings.code, guard), quota=int(settings.workspace.max_mb * 1_000_000))


def _render(browsers: Browsers) -> Callable[[str], Awaitable[str]]:
    """The pages domain's view of the browser."""

    async def rendered(url: str) -> str:
        from outrider.browser.visit import render

        return await render(browsers, url)

    return rendered


def _search_powers(loaded: Loaded, local: Local, browsers: Browsers, proxy: Callable[[], str | None]) -> Powers:
    """What the search domain gets of the others."""
    chosen, program = loaded.settings.search.agent_browser, None
    if chosen.command or chosen.auto_install:
        from outrider.search.agent_browser import AgentBrowser

        folder = loaded.settings.data_dir / "agent-browser"
        program = AgentBrowser(
            chosen, folder, proxy_url=proxy, executable=lambda: _executable(browsers), environ=loaded.environ
        )
    return Powers(local=local, proxy_url=proxy, browser=_ResultPages(browsers), agent_browser=program)


@dataclass(frozen=True)
class _ResultPages:
    """The search domain's view of the browser."""

    browsers: Browsers

    def missing(self) -> str:
        there = self.browsers.settings.cdp_url or _executable(self.browsers)
        return "" if there else "there is no browser (`outrider browser install` gets one)"

    async def open(self, url: str) -> Page:
        from outrider.browser.extract_dom import rendered_html
        from outrider.browser.snapshot import Eyes
        from outrider.browser.visit import visit

        async with visit(self.browsers, url) as page:
            return Page(page.url, (await rendered_html(Eyes(page))).html)


def _executable(browsers: Browsers) -> str:
    from outrider.browser.find import find_browser

    with suppress(OutriderError):
        return str(find_browser(browsers.settings.executable).path)
    return ""


def _local(pages: Pages, kept: Callable[[], Content | None]) -> Local:
    """The search domain's view of what was read: by the caller, where stores keep it, else by anybody."""

    async def find_read(query: Query) -> list[Hit]:
        stores = kept()
        own = await _own(stores, query) if stores is not None and query.caller is not None else []
        if own:
            return own
        read = await pages.search(query.text, MOST_READ if query.site else query.count)
        hits = [Hit(title=each.title, url=each.url, snippet=each.snippet, score=each.score) for each in read]
        return [hit for hit in hits if on_site(hit.url, query.site)][: query.count]

    return find_read


async def _own(content: Content, query: Query) -> list[Hit]:
    """The pages in the caller's stores that match, each address once, with the passage that matches best."""
    from outrider.content.search import SearchOptions

    assert query.caller is not None
    host = (query.site or "").partition("/")[0]
    options = SearchOptions(top_n=100, source=host or "http")
    found = (await content.search(query.caller, query.text, options)).hits
    pages = {
        hit.source: hit for hit in reversed(found) if hit.source.startswith("http") and on_site(hit.source, query.site)
    }
    best = sorted(pages.values(), key=lambda hit: -hit.score)[: query.count]
    return [Hit(title=hit.title or hit.source, url=hit.source, snippet=hit.shown, score=hit.score) for hit in best]


def on_site(url: str, site: str | None) -> bool:
    """Whether an address lies on a host (or its subdomains), and below a path if the site names one."""
    host, _, path = (site or "").partition("/")
    parts = urlsplit(url)
    on_host = f".{parts.hostname}".endswith(f".{host}") if host else True
    return on_host and parts.path.startswith(f"/{path}")


def _choices(loaded: Loaded) -> Choices:
    settings = loaded.settings
    return Choices(
        workspace=Path.cwd(),
        images_path=settings.images_path,
        boundary=settings.boundary,
        mime_prefix=settings.mime_prefix,
        crawl_robots=settings.pages.crawl_robots,
    )


def _manner(loaded: Loaded, catalogue: Catalogue) -> Manner:
    """Agents as tools: served by themselves where somebody has written an agent, or has named a model for them."""
    settings = loaded.settings
    folders = (catalogue.home, Path.cwd() / ".outrider" / "agents")
    written = any(next(folder.glob("*.md"), None) for folder in folders)
    named = bool(settings.models.default or settings.models.profiles)
    chosen = settings.run_agent
    return Manner(
        mime_prefix=settings.mime_prefix,
        progress=chosen.progress,
        per_second=chosen.progress_per_second,
        detach_seconds=chosen.detach_seconds,
        configured=written or named,
    )


def _chosen(wanted: list[str], every: dict[str, Toolset], services: dict[type, Any]) -> list[Toolset]:
    """The toolsets of those names (or aliases), in the house's order; the default ones if none is named."""
    if not wanted:
        return [each for each in every.values() if each.default or (each.wanted and each.wanted(services))]
    if "all" in wanted:
        return list(every.values())
    known = {name: each for each in every.values() for name in (each.name, each.display_name, *each.aliases) if name}
    for name in wanted:
        if name not in known:
            raise NotFound(f"no toolset {name!r}", hint=f"the toolsets are {', '.join(every)}, or all")
    return list({known[name].name: known[name] for name in wanted}.values())
