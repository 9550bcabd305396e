"""What the house is made of: each part once, from the settings and from the parts that it needs."""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from outrider import toolsets
from outrider.agents.approvals import Questions
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.evaluations import Evaluations
from outrider.agents.means import Means
from outrider.agents.models import Models
from outrider.agents.runs import Runs
from outrider.app.app import App
from outrider.app.chosen import choices, chosen_toolsets, manner
from outrider.app.edge import Sealing, Servers
from outrider.app.sharing import Shared
from outrider.app.views import local, markdown, rendering, search_powers
from outrider.browser import Browsers
from outrider.content import Content
from outrider.core.artifacts import Artifacts
from outrider.core.citations import Citations
from outrider.core.db import Database
from outrider.core.discovery import find
from outrider.core.egress.guard import Guard
from outrider.core.events import Events
from outrider.core.http import Http
from outrider.core.storage.choose import storage_of
from outrider.core.tool import KnownTools, Toolset
from outrider.core.toolbox import Toolbox
from outrider.pages import Pages
from outrider.pages.crawl import Crawler
from outrider.plans import Plans
from outrider.playbooks import Playbooks
from outrider.search import Search
from outrider.settings import Loaded, Settings
from outrider.toolsets import web_crawl
from outrider.toolsets.choices import Choices
from outrider.toolsets.content_store_offers import Offers
from outrider.toolsets.content_store_sources import Sources
from outrider.toolsets.evaluating.flow import Evaluator
from outrider.toolsets.run_agent_flow import Delegation
from outrider.toolsets.web_eval_settings import WebEvalSettings
from outrider.workspace import Exports, Workspaces
from outrider.workspace.processes import Processes
from outrider.workspace.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from outrider.app.neighbours import Neighbours
    from outrider.dashboard.house import House
    from outrider.identity.identity import Identity
    from outrider.identity.quotas import Quotas

DAY = 86_400


@dataclass
class Building:
    """Makes the parts, each when the first of its users is made.

    Attributes:
        loaded: The settings.
        guard: Decides where requests may go.
        proxy: The address of a guarded proxy, for libraries that dial by themselves.
        shared: What this house has in common with others of the process.
    """

    loaded: Loaded
    guard: Guard
    proxy: str | None
    shared: Shared = field(default_factory=Shared)

    @cached_property
    def app(self) -> App:
        """All of it."""
        return App(
            loaded=self.loaded,
            toolbox=self.served,
            events=self.events,
            artifacts=self.artifacts,
            database=self.database,
            workspaces=self.workspaces,
            processes=self.processes,
            search=self.search,
            pages=self.pages,
            crawler=self.crawler,
            content=self.content,
            browsers=self.browsers,
            runs=self.runs,
            catalogue=self.catalogue,
            models=self.models,
            delegation=self.delegation,
            evaluator=self.evaluator,
            remote=self.remote,
            neighbours=self.neighbours,
            whole_toolbox=self.whole_toolbox,
            house=lambda: self.house,
            identity=lambda: self.identity,
            every=self.every,
        )

    @cached_property
    def identity(self) -> "Identity":
        """Recognises callers."""
        from outrider.identity.identity import Identity

        return Identity(self.database, self.settings.identity, self.http)

    @cached_property
    def quotas(self) -> "Quotas | None":
        """How much everybody may use; None where nothing is limited."""
        chosen = self.settings.identity.quotas
        if not chosen.limited:
            return None
        from outrider.app.usage import Usage
        from outrider.identity.quotas import Quotas

        return Quotas(self.database, chosen, Usage(self.database))

    @cached_property
    def house(self) -> "House":
        """What the dashboard may see and do."""
        from outrider.dashboard.house import House

        return House(
            settings=self.settings.dashboard,
            data_dir=self.settings.data_dir,
            database=self.database,
            toolbox=self.served,
            events=self.events,
            artifacts=self.artifacts,
            browsers=self.browsers,
            runs=self.runs,
            questions=self.questions,
            conversations=self.conversations,
            catalogue=self.catalogue,
            content=self.content,
            workspaces=self.workspaces,
            plans=self.services[Plans],
            playbooks=self.services[Playbooks],
            search=self.search,
            evaluations=self.evaluator.evaluations,
        )

    def abandon(self) -> None:
        """Lets go of what others may use too, when the house cannot be built; nothing of it was opened yet."""
        for name in ("browsers", "artifacts", "events", "database"):
            if name in vars(self):
                self.shared.leave(vars(self)[name])

    @cached_property
    def http(self) -> Http:
        """The guarded client."""
        return Http(self.guard)

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @cached_property
    def database(self) -> Database:
        """The one database."""
        url, most = self.settings.database_url, self.settings.database_connections
        return self.shared.take(("database", url), lambda: Database(url, connections=most))

    @cached_property
    def events(self) -> Events:
        """The record of every call."""
        key = ("events", self.settings.database_url)
        return self.shared.take(key, lambda: Events(self.database))

    @cached_property
    def artifacts(self) -> Artifacts:
        """What is too large for an answer."""
        chosen, folder, days = self.settings.artifacts, self.settings.data_dir, self.settings.keep_days
        key = ("artifacts", chosen, folder, days, self.settings.database_url, self.loaded.environ)
        storage = storage_of(chosen.storage, folder, self.loaded.environ)
        return self.shared.take(key, lambda: Artifacts(storage, self.database, keep_seconds=days * DAY))

    @cached_property
    def browsers(self) -> Browsers:
        """The browser and its sessions."""
        folder = self.settings.data_dir / "browser"
        made_from = ("browsers", self.settings.browser, self.settings.egress, folder)
        return self.shared.take(made_from, lambda: Browsers(self.settings.browser, self.guard, folder))

    @cached_property
    def pages(self) -> Pages:
        """Reading."""
        rendered = rendering(self.browsers)
        return Pages(self.http, self.settings.pages, self.database, render=rendered, clock=self.database.now)

    @cached_property
    def neighbours(self) -> "Neighbours | None":
        """The other replicas, where the database is one that several can have."""
        if not self.database.shared:
            return None
        from outrider.app.neighbours import Neighbours

        return Neighbours(self.loaded, self.database, self.guard, self.browsers)

    @cached_property
    def crawler(self) -> Crawler:
        """Reading whole sites."""
        return Crawler(self.pages, self.database)

    @cached_property
    def search(self) -> Search:
        """Searching."""
        read = local(self.pages, lambda: self._stores)
        made_from = (self.http, self.settings.search, self.database)
        powers = partial(search_powers, self.loaded, read, self.browsers, lambda: self.proxy)
        return Search(*made_from, powers=powers, environ=self.loaded.environ, clock=self.database.now)

    @cached_property
    def content(self) -> Content:
        """Content stores, with the embedder that the settings choose once one is needed."""
        return Content(
            self.database, self.settings.data_dir / "content", self.settings.content, embedder=self._embedder
        )

    @cached_property
    def workspaces(self) -> Workspaces:
        """The sessions' folders."""
        return Workspaces(self.settings.data_dir / "workspaces", self.settings.workspace)

    @cached_property
    def processes(self) -> Processes:
        """Code that runs in the sandbox."""
        quota = int(self.settings.workspace.max_mb * 1_000_000)
        return Processes(Sandbox(self.settings.code, self.guard), quota=quota)

    @cached_property
    def models(self) -> Models:
        """The models that agents think with."""
        return Models(self.settings.models, self.loaded.environ, self.http)

    @cached_property
    def questions(self) -> Questions:
        """What waits for people."""
        return Questions(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        """Where agents speak."""
        return Conversations(self.database)

    @cached_property
    def citations(self) -> Citations:
        """References that are given out."""
        return Citations(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The agents."""
        folders = (self.settings.data_dir / "agents", self.loaded.workspace / ".outrider" / "agents")
        return Catalogue(*folders, self.database)

    @cached_property
    def remote(self) -> Servers:
        """Other MCP servers."""
        return Servers(self.loaded, self.guard, lambda: self.every)

    @cached_property
    def runs(self) -> Runs:
        """The agents' work."""
        means = Means(
            database=self.database,
            settings=self.settings.agents,
            models=self.models,
            guard=self.guard,
            toolboxes=lambda: (self.served, self.whole_toolbox()),
            questions=self.questions,
            conversations=self.conversations,
            sealing=Sealing(self.loaded),
            servers=self.remote,
            kept=self.settings.keep_days * DAY,
        )
        runs = Runs(means)
        if self.quotas:
            runs.beginning, runs.spending = self.quotas.beginning, self.quotas.spending
        return runs

    @cached_property
    def evaluator(self) -> Evaluator:
        """The browser's agent as an evaluator of websites."""
        parts = (self.artifacts, self.browsers, self.models, self.runs, self.catalogue)
        return Evaluator(Evaluations(self.database), *parts, toolbox=self.whole_toolbox)

    @cached_property
    def delegation(self) -> Delegation:
        """Agents as tools."""
        asked = (self.catalogue, self.runs, self.conversations, self.questions)
        kept = (self.citations, self.artifacts, self.database)
        return Delegation(*asked, *kept, manner(self.loaded, self.catalogue))

    @cached_property
    def every(self) -> dict[str, Toolset]:
        """All toolsets there are, by name."""
        return {toolset.name: toolset for toolset in find(toolsets, Toolset, group="outrider.toolsets")}

    @cached_property
    def served(self) -> Toolbox:
        """The tools that hosts are offered."""
        chosen = chosen_toolsets(self.settings.toolsets, self.every, self.services)
        box = Toolbox(chosen, self.services, self.events, self.settings.tools)
        box.admit = self.quotas.admit if self.quotas else None
        box.elsewhere = self.neighbours.elsewhere if self.neighbours else None
        stores = self.content if "content_store" in box.toolsets else None
        self.services[Offers] = offers = Offers(stores, self.settings.content.offer)
        self.crawler.keeper = web_crawl.keeper(offers)
        return box

    def whole_toolbox(self) -> Toolbox:
        """All tools that agents may get, offered to hosts or not."""
        from outrider.toolsets.evaluating.done import DONE, done_tool
        from outrider.toolsets.evaluating.watch import WatchedToolbox

        parts = (self.every.values(), self.services, self.events, self.settings.tools)
        box = WatchedToolbox(*parts, watcher=self.evaluator.watcher, inner={DONE: done_tool()})
        box.admit = self.quotas.admit if self.quotas else None
        box.elsewhere = self.neighbours.elsewhere if self.neighbours else None
        return box

    @cached_property
    def services(self) -> dict[type, Any]:
        """What tools get before the slash, by type."""
        return (
            self._domains
            | self._agents
            | {
                Choices: choices(self.loaded),
                Sources: Sources(self.pages, self.workspaces, self.settings.content),
                WebEvalSettings: self.settings.web_eval,
                KnownTools: KnownTools(name for toolset in self.every.values() for name in toolset.tools),
            }
        )

    @property
    def _domains(self) -> dict[type, Any]:
        return {
            Search: self.search,
            Pages: self.pages,
            Crawler: self.crawler,
            Browsers: self.browsers,
            Artifacts: self.artifacts,
            Citations: self.citations,
            Content: self.content,
            Workspaces: self.workspaces,
            Exports: Exports(markdown(self.loaded)),
            Processes: self.processes,
            Plans: Plans(self.database),
            Playbooks: Playbooks(self.database),
        }

    @property
    def _agents(self) -> dict[type, Any]:
        return {
            Runs: self.runs,
            Questions: self.questions,
            Conversations: self.conversations,
            Catalogue: self.catalogue,
            Evaluations: self.evaluator.evaluations,
            Evaluator: self.evaluator,
            Delegation: self.delegation,
        }

    @property
    def _stores(self) -> Content | None:
        """The content stores, where they are served."""
        return self.content if "content_store" in self.served.toolsets else None

    def _embedder(self) -> Any:
        from outrider.content.meaning.embedding import chosen

        folder, keys = self.settings.data_dir / "models", self.settings.models.keys
        return chosen(self.settings.content.embedding, self.http, self.loaded.environ, folder=folder, keys=keys)
