"""What the house is made of: each part once, from the settings and from the parts that it needs."""

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from outrider import toolsets
from outrider.agents.approvals import Questions
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.dependencies import AgentDependencies
from outrider.agents.evaluations import Evaluations
from outrider.agents.models import ModelResolver
from outrider.agents.runs import RunService
from outrider.app.adapters import (
    build_local_search,
    build_markdown_converter,
    build_page_renderer,
    build_search_services,
)
from outrider.app.app import App
from outrider.app.lazy_clients import LazyRemoteServers, LazyStateEncryption
from outrider.app.shared_components import SharedComponents
from outrider.app.tool_options import build_delegation_options, build_tool_options, select_toolsets
from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.citations import CitationPool
from outrider.core.database.database import Database
from outrider.core.discovery import discover_instances
from outrider.core.egress.guard import EgressGuard
from outrider.core.http import HttpClient
from outrider.core.storage.factory import build_storage
from outrider.core.tool import InstalledToolNames, Toolset
from outrider.core.toolbox import Toolbox
from outrider.pages.crawl import Crawler
from outrider.pages.pages import Pages
from outrider.plans import PlanStore
from outrider.playbooks import PlaybookStore
from outrider.search.search import Search
from outrider.settings import LoadedSettings, Settings
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.content_store.sources import ContentSources
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.run_agent.delegation import Delegation
from outrider.toolsets.web import crawl
from outrider.toolsets.web_eval.evaluator import Evaluator
from outrider.toolsets.web_eval.settings import WebEvalSettings
from outrider.workspace import Exporter, SessionWorkspaces
from outrider.workspace.processes import Processes
from outrider.workspace.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from outrider.app.cluster.cluster import Cluster
    from outrider.dashboard.services import DashboardServices
    from outrider.identity.identity import Identity
    from outrider.identity.quotas import Quotas

SECONDS_PER_DAY = 86_400


@dataclass
class Container:
    """Makes the parts, each when the first of its users is made.

    Attributes:
        loaded: The settings.
        guard: Decides where requests may go.
        proxy: The address of a guarded proxy, for libraries that dial by themselves.
        shared: What this house has in common with others of the process.
    """

    loaded: LoadedSettings
    guard: EgressGuard
    proxy: str | None
    shared: SharedComponents = field(default_factory=SharedComponents)

    @cached_property
    def app(self) -> App:
        """All of it."""
        return App(
            loaded=self.loaded,
            toolbox=self.served_toolbox,
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
            remote_servers=self.remote_servers,
            cluster=self.cluster,
            build_full_toolbox=self.build_full_toolbox,
            dashboard_services=lambda: self.dashboard_services,
            identity=lambda: self.identity,
            all_toolsets=self.all_toolsets,
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
        if not chosen.has_limits:
            return None
        from outrider.app.usage import QuotaUsage
        from outrider.identity.quotas import Quotas

        return Quotas(self.database, chosen, QuotaUsage(self.database))

    @cached_property
    def dashboard_services(self) -> "DashboardServices":
        """What the dashboard may see and do."""
        from outrider.dashboard.services import DashboardServices

        return DashboardServices(
            settings=self.settings.dashboard,
            data_dir=self.settings.data_dir,
            database=self.database,
            toolbox=self.served_toolbox,
            events=self.events,
            artifacts=self.artifacts,
            browsers=self.browsers,
            runs=self.runs,
            questions=self.questions,
            conversations=self.conversations,
            catalogue=self.catalogue,
            content=self.content,
            workspaces=self.workspaces,
            plans=self.services[PlanStore],
            playbooks=self.services[PlaybookStore],
            search=self.search,
            evaluations=self.evaluator.evaluations,
        )

    def release_shared(self) -> None:
        """Lets go of what others may use too, when the house cannot be built; nothing of it was opened yet."""
        for name in ("browsers", "artifacts", "events", "database"):
            if name in vars(self):
                self.shared.release(vars(self)[name])

    @cached_property
    def http(self) -> HttpClient:
        """The guarded client."""
        return HttpClient(self.guard)

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @cached_property
    def database(self) -> Database:
        """The one database."""
        url, most = self.settings.database_url, self.settings.database_connections
        return self.shared.acquire(("database", url), lambda: Database(url, connections=most))

    @cached_property
    def events(self) -> CallRecorder:
        """The record of every call."""
        key = ("events", self.settings.database_url)
        return self.shared.acquire(key, lambda: CallRecorder(self.database))

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """What is too large for an answer."""
        chosen, folder, days = self.settings.artifacts, self.settings.data_dir, self.settings.keep_days
        key = ("artifacts", chosen, folder, days, self.settings.database_url, self.loaded.environ)
        storage = build_storage(chosen.storage, folder, self.loaded.environ)
        return self.shared.acquire(
            key, lambda: ArtifactStore(storage, self.database, keep_seconds=days * SECONDS_PER_DAY)
        )

    @cached_property
    def browsers(self) -> Browsers:
        """The browser and its sessions."""
        folder = self.settings.data_dir / "browser"
        made_from = ("browsers", self.settings.browser, self.settings.egress, folder)
        return self.shared.acquire(made_from, lambda: Browsers(self.settings.browser, self.guard, folder))

    @cached_property
    def pages(self) -> Pages:
        """Reading."""
        rendered = build_page_renderer(self.browsers)
        return Pages(self.http, self.settings.pages, self.database, render=rendered, clock=self.database.now)

    @cached_property
    def cluster(self) -> "Cluster | None":
        """The other replicas, where the database is one that several can have."""
        if not self.database.is_shared:
            return None
        from outrider.app.cluster.cluster import Cluster

        return Cluster(self.loaded, self.database, self.guard, self.browsers)

    @cached_property
    def crawler(self) -> Crawler:
        """Reading whole sites."""
        return Crawler(self.pages, self.database)

    @cached_property
    def search(self) -> Search:
        """Searching."""
        read = build_local_search(self.pages, lambda: self._served_content)
        made_from = (self.http, self.settings.search, self.database)
        powers = partial(build_search_services, self.loaded, read, self.browsers, lambda: self.proxy)
        return Search(*made_from, build_services=powers, environ=self.loaded.environ, clock=self.database.now)

    @cached_property
    def content(self) -> ContentStores:
        """Content stores, with the embedder that the settings choose once one is needed."""
        return ContentStores(
            self.database, self.settings.data_dir / "content", self.settings.content, embedder=self._load_embedder
        )

    @cached_property
    def workspaces(self) -> SessionWorkspaces:
        """The sessions' folders."""
        return SessionWorkspaces(self.settings.data_dir / "workspaces", self.settings.workspace)

    @cached_property
    def processes(self) -> Processes:
        """Code that runs in the sandbox."""
        quota = int(self.settings.workspace.max_mb * 1_000_000)
        return Processes(Sandbox(self.settings.code, self.guard), quota=quota)

    @cached_property
    def models(self) -> ModelResolver:
        """The models that agents think with."""
        return ModelResolver(self.settings.models, self.loaded.environ, self.http)

    @cached_property
    def questions(self) -> Questions:
        """What waits for people."""
        return Questions(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        """Where agents speak."""
        return Conversations(self.database)

    @cached_property
    def citations(self) -> CitationPool:
        """References that are given out."""
        return CitationPool(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The agents."""
        folders = (self.settings.data_dir / "agents", self.loaded.workspace / ".outrider" / "agents")
        return Catalogue(*folders, self.database)

    @cached_property
    def remote_servers(self) -> LazyRemoteServers:
        """Other MCP servers."""
        return LazyRemoteServers(self.loaded, self.guard, lambda: self.all_toolsets)

    @cached_property
    def runs(self) -> RunService:
        """The agents' work."""
        means = AgentDependencies(
            database=self.database,
            settings=self.settings.agents,
            models=self.models,
            guard=self.guard,
            toolboxes=lambda: (self.served_toolbox, self.build_full_toolbox()),
            questions=self.questions,
            conversations=self.conversations,
            state_cipher=LazyStateEncryption(self.loaded),
            servers=self.remote_servers,
            engine_retention_s=self.settings.keep_days * SECONDS_PER_DAY,
        )
        runs = RunService(means)
        if self.quotas:
            runs.reserve_run, runs.check_spending = self.quotas.reserve_run, self.quotas.check_spending
        return runs

    @cached_property
    def evaluator(self) -> Evaluator:
        """The browser's agent as an evaluator of websites."""
        parts = (self.artifacts, self.browsers, self.models, self.runs, self.catalogue)
        return Evaluator(Evaluations(self.database), *parts, toolbox=self.build_full_toolbox)

    @cached_property
    def delegation(self) -> Delegation:
        """Agents as tools."""
        asked = (self.catalogue, self.runs, self.conversations, self.questions)
        kept = (self.citations, self.artifacts, self.database)
        return Delegation(*asked, *kept, build_delegation_options(self.loaded, self.catalogue))

    @cached_property
    def all_toolsets(self) -> dict[str, Toolset]:
        """All toolsets there are, by name."""
        return {
            toolset.name: toolset
            for toolset in discover_instances(toolsets, Toolset, group="outrider.toolsets", nested=True)
        }

    @cached_property
    def served_toolbox(self) -> Toolbox:
        """The tools that hosts are offered."""
        chosen = select_toolsets(self.settings.toolsets, self.all_toolsets, self.services)
        box = Toolbox(chosen, self.services, self.events, self.settings.tools)
        box.quota_check = self.quotas.check_call if self.quotas else None
        box.forward_call = self.cluster.call_remotely if self.cluster else None
        stores = self.content if "content_store" in box.toolsets else None
        self.services[Autosave] = offers = Autosave(stores, self.settings.content.offer)
        self.crawler.store_page_factory = crawl.build_page_saver_factory(offers)
        return box

    def build_full_toolbox(self) -> Toolbox:
        """All tools that agents may get, offered to hosts or not."""
        from outrider.toolsets.web_eval.done import DONE_TOOL_NAME, build_done_tool
        from outrider.toolsets.web_eval.recorder import RecordedToolbox

        parts = (self.all_toolsets.values(), self.services, self.events, self.settings.tools)
        box = RecordedToolbox(*parts, recorder=self.evaluator.recorder, inner={DONE_TOOL_NAME: build_done_tool()})
        box.quota_check = self.quotas.check_call if self.quotas else None
        box.forward_call = self.cluster.call_remotely if self.cluster else None
        return box

    @cached_property
    def services(self) -> dict[type, Any]:
        """What tools get before the slash, by type."""
        return (
            self._domain_services
            | self._agent_services
            | {
                ToolOptions: build_tool_options(self.loaded),
                ContentSources: ContentSources(self.pages, self.workspaces, self.settings.content),
                WebEvalSettings: self.settings.web_eval,
                InstalledToolNames: InstalledToolNames(
                    name for toolset in self.all_toolsets.values() for name in toolset.tools
                ),
            }
        )

    @property
    def _domain_services(self) -> dict[type, Any]:
        return {
            Search: self.search,
            Pages: self.pages,
            Crawler: self.crawler,
            Browsers: self.browsers,
            ArtifactStore: self.artifacts,
            CitationPool: self.citations,
            ContentStores: self.content,
            SessionWorkspaces: self.workspaces,
            Exporter: Exporter(build_markdown_converter(self.loaded)),
            Processes: self.processes,
            PlanStore: PlanStore(self.database),
            PlaybookStore: PlaybookStore(self.database),
        }

    @property
    def _agent_services(self) -> dict[type, Any]:
        return {
            RunService: self.runs,
            Questions: self.questions,
            Conversations: self.conversations,
            Catalogue: self.catalogue,
            Evaluations: self.evaluator.evaluations,
            Evaluator: self.evaluator,
            Delegation: self.delegation,
        }

    @property
    def _served_content(self) -> ContentStores | None:
        """The content stores, where they are served."""
        return self.content if "content_store" in self.served_toolbox.toolsets else None

    def _load_embedder(self) -> Any:
        from outrider.content.semantic.select_embedder import select_embedder

        folder, keys = self.settings.data_dir / "models", self.settings.models.keys
        return select_embedder(
            self.settings.content.embedding, self.http, self.loaded.environ, folder=folder, keys=keys
        )
