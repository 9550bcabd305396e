"""Build the components of the application, each once and at first use."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

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
from outrider.app.file_publisher import FilePublisher
from outrider.app.project_folder import resolve_project_folder
from outrider.app.server_tools import LazyRemoteServers, ServerToolLists
from outrider.app.shared_components import SharedComponents
from outrider.app.tool_options import build_delegation_options, build_tool_options, find_unlisted_tools, select_toolsets
from outrider.app.watch_reading import build_target_reader
from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.citations import CitationPool
from outrider.core.database.database import Database
from outrider.core.discovery import discover_instances
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotFound
from outrider.core.http import HttpClient
from outrider.core.storage.factory import build_storage
from outrider.core.tool import InstalledToolNames, Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_runs import FlowRuns
from outrider.flows.flow_store import FlowStore
from outrider.flows.scheduler import FlowScheduler
from outrider.pages.crawl import Crawler
from outrider.pages.pages import Pages
from outrider.plans import PlanStore
from outrider.playbooks import PlaybookStore
from outrider.search.search import Search
from outrider.serve.state_codec import StateCodec
from outrider.settings import LoadedSettings, Settings
from outrider.toolsets.content_store.autosave import Autosave
from outrider.toolsets.content_store.sources import ContentSources
from outrider.toolsets.flows.repairing import RepairModel
from outrider.toolsets.flows.running import FlowRunServices
from outrider.toolsets.mcp_servers import ServerTools
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.run_agent.attachments import Attachments
from outrider.toolsets.run_agent.delegation import Delegation
from outrider.toolsets.web import crawl
from outrider.toolsets.web.value_model import ValueModel
from outrider.toolsets.web_eval.evaluator import Evaluator
from outrider.toolsets.web_eval.settings import WebEvalSettings
from outrider.watches.watcher import Watcher
from outrider.workspace import Exporter, SessionWorkspaces
from outrider.workspace.processes import Processes
from outrider.workspace.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from outrider.app.cluster.cluster import Cluster
    from outrider.dashboard.services import DashboardServices
    from outrider.flows.schedule_engine import ScheduleEngine
    from outrider.identity.identity import Identity
    from outrider.identity.quotas import Quotas

SECONDS_PER_DAY = 86_400

ComponentT = TypeVar("ComponentT")
ToolboxT = TypeVar("ToolboxT", bound=Toolbox)


@dataclass
class Container:
    """Builds each component when the first component that needs it is built.

    Attributes:
        loaded: The settings.
        guard: Decides where requests may go.
        proxy: The address of a guarded proxy, for libraries that open their own connections.
        shared: Components shared with other apps of this process.
    """

    loaded: LoadedSettings
    guard: EgressGuard
    proxy: str | None
    shared: SharedComponents = field(default_factory=SharedComponents)
    _acquired: list[object] = field(default_factory=list)  # from `shared`

    @cached_property
    def app(self) -> App:
        """The application."""
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
            watcher=self.watcher,
            flow_scheduler=self.flow_scheduler,
            flow_store=self.flow_store,
            content=self.content,
            browsers=self.browsers,
            runs=self.runs,
            catalogue=self.catalogue,
            models=self.models,
            delegation=self.delegation,
            evaluator=self.evaluator,
            remote_servers=self.remote_servers,
            server_tools=self.server_tools,
            cluster=self.cluster,
            build_full_toolbox=self.build_full_toolbox,
            dashboard_services=lambda: self.dashboard_services,
            identity=lambda: self.identity,
            all_toolsets=self.all_toolsets,
        )

    @cached_property
    def identity(self) -> "Identity":
        """Authenticates callers."""
        from outrider.identity.identity import Identity

        return Identity(self.database, self.settings.identity, self.http)

    @cached_property
    def quotas(self) -> "Quotas | None":
        """The usage limits of callers; None if nothing is limited."""
        settings = self.settings.identity.quotas
        if not settings.has_limits:
            return None
        from outrider.app.usage import QuotaUsage
        from outrider.identity.quotas import Quotas

        return Quotas(self.database, settings, QuotaUsage(self.database))

    @cached_property
    def dashboard_services(self) -> "DashboardServices":
        """The services of the dashboard."""
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
            watcher=self.watcher,
            flow_store=self.flow_store,
            repair_model=self.services[RepairModel],
            build_full_toolbox=self.build_full_toolbox,
        )

    def release_shared(self) -> None:
        """Release the shared components of an app that was not built.

        None of them has been opened.
        """
        while self._acquired:
            self.shared.release(self._acquired.pop())

    def _acquire(self, key: tuple[Any, ...], build: Callable[[], ComponentT]) -> ComponentT:
        """Return the shared component with this key, which names everything that it is built from."""
        component = self.shared.acquire(key, build)
        self._acquired.append(component)
        return component

    @cached_property
    def http(self) -> HttpClient:
        """The guarded HTTP client."""
        return HttpClient(self.guard)

    @property
    def settings(self) -> Settings:
        """The effective settings."""
        return self.loaded.settings

    @cached_property
    def database(self) -> Database:
        """The database."""
        url, connections = self.settings.database_url, self.settings.database_connections
        return self._acquire(("database", url), lambda: Database(url, connections=connections))

    @cached_property
    def events(self) -> CallRecorder:
        """The record of every call."""
        key = ("events", self.settings.database_url)
        return self._acquire(key, lambda: CallRecorder(self.database))

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """Files that are too large for a model's context."""
        settings, folder, days = self.settings.artifacts, self.settings.data_dir, self.settings.keep_days
        key = ("artifacts", settings, folder, days, self.settings.database_url, self.loaded.environ)
        storage = build_storage(settings.storage, folder, self.loaded.environ)
        return self._acquire(key, lambda: ArtifactStore(storage, self.database, keep_seconds=days * SECONDS_PER_DAY))

    @cached_property
    def browsers(self) -> Browsers:
        """The browser and its sessions."""
        folder = self.settings.data_dir / "browser"
        key = ("browsers", self.settings.browser, self.settings.egress, folder)
        return self._acquire(key, lambda: Browsers(self.settings.browser, self.guard, folder))

    @cached_property
    def pages(self) -> Pages:
        """Reads web pages."""
        render = build_page_renderer(self.browsers)
        return Pages(self.http, self.settings.pages, self.database, render=render, clock=self.database.now)

    @cached_property
    def cluster(self) -> "Cluster | None":
        """The other replicas; None if the database cannot be shared."""
        if not self.database.is_shared:
            return None
        from outrider.app.cluster.cluster import Cluster

        return Cluster(self.loaded, self.database, self.guard, self.browsers)

    @cached_property
    def crawler(self) -> Crawler:
        """Reads whole sites."""
        return Crawler(self.pages, self.database)

    @cached_property
    def watcher(self) -> Watcher:
        """Looks at pages, searches and values on schedule."""
        read_target = build_target_reader(self.pages, lambda: self.search, self.settings.pages.crawl_robots)
        return Watcher(self.database, self.settings.watches, read_target, self.http, self.loaded.environ)

    @cached_property
    def flow_scheduler(self) -> FlowScheduler:
        """Runs flows when they are due."""

        def build_engine() -> "ScheduleEngine":
            from outrider.app.flow_scheduling import build_schedule_engine

            return build_schedule_engine(
                self.loaded, self.database, self.http, self.flow_store, self.build_full_toolbox
            )

        return FlowScheduler(self.database, self.settings.flows, build_engine)

    @property
    def flow_store(self) -> FlowStore:
        """The flows of this project, or of a team's database."""
        return FlowStore(self.loaded.workspace, self.settings.data_dir, self.loaded.environ, self.database)

    @cached_property
    def search(self) -> Search:
        """Searches the web."""
        search_local = build_local_search(
            self.pages, lambda: self.content if "content_store" in self.served_toolbox.toolsets else None
        )
        return Search(
            self.http,
            self.settings.search,
            self.database,
            build_services=partial(build_search_services, self.loaded, search_local, self.browsers, lambda: self.proxy),
            environ=self.loaded.environ,
            clock=self.database.now,
        )

    @cached_property
    def content(self) -> ContentStores:
        """Content stores; the embedder that the settings choose is loaded when first needed."""
        settings = self.settings

        def load_embedder() -> Any:
            from outrider.content.semantic.select_embedder import select_embedder

            folder = settings.data_dir / "models"
            return select_embedder(
                settings.content.embedding, self.http, self.loaded.environ, folder=folder, keys=settings.models.keys
            )

        return ContentStores(self.database, settings.data_dir / "content", settings.content, embedder=load_embedder)

    @cached_property
    def workspaces(self) -> SessionWorkspaces:
        """The folders of sessions."""
        folder, project = self.settings.data_dir / "workspaces", resolve_project_folder(self.loaded)
        return SessionWorkspaces(folder, self.settings.workspace, project)

    @cached_property
    def processes(self) -> Processes:
        """Processes in the sandbox."""
        packages = self.settings.data_dir / "packages"
        return Processes(Sandbox(self.settings.code, self.guard, package_root=packages))

    @cached_property
    def models(self) -> ModelResolver:
        """The models of agents."""
        return ModelResolver(self.settings.models, self.loaded.environ, self.http)

    @cached_property
    def questions(self) -> Questions:
        """Questions and approvals that wait for people."""
        return Questions(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        """Conversations of agents."""
        return Conversations(self.database)

    @cached_property
    def citations(self) -> CitationPool:
        """The pool of assigned citation references."""
        return CitationPool(self.database)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The defined agents."""
        folders = (self.settings.data_dir / "agents", self.loaded.workspace / ".outrider" / "agents")
        return Catalogue(*folders, self.database)

    @cached_property
    def remote_servers(self) -> LazyRemoteServers:
        """Other MCP servers."""
        return LazyRemoteServers(self.loaded, self.guard, lambda: self.all_toolsets)

    @cached_property
    def server_tools(self) -> ServerToolLists:
        """Tools of other MCP servers for hosts."""
        return ServerToolLists(self.remote_servers, build_tool_options(self.loaded))

    @cached_property
    def runs(self) -> RunService:
        """Runs of agents."""
        dependencies = AgentDependencies(
            database=self.database,
            settings=self.settings.agents,
            models=self.models,
            guard=self.guard,
            toolboxes=lambda: (self.served_toolbox, self.build_full_toolbox()),
            questions=self.questions,
            conversations=self.conversations,
            state_cipher=StateCodec(self.settings.serve.state_key, self.settings.data_dir),
            publish_files=FilePublisher(self.workspaces, self.artifacts).publish_files,
            servers=self.remote_servers,
            engine_retention_s=self.settings.keep_days * SECONDS_PER_DAY,
        )
        runs = RunService(dependencies)
        if self.quotas:
            runs.reserve_run, runs.check_spending = self.quotas.reserve_run, self.quotas.check_spending
        return runs

    @cached_property
    def evaluator(self) -> Evaluator:
        """Evaluates websites with an agent in a browser."""
        return Evaluator(
            Evaluations(self.database),
            self.artifacts,
            self.browsers,
            self.models,
            self.runs,
            self.catalogue,
            self.flow_store,
            toolbox=self.build_full_toolbox,
        )

    @cached_property
    def delegation(self) -> Delegation:
        """Agents as tools."""
        return Delegation(
            self.catalogue,
            self.runs,
            self.conversations,
            self.questions,
            self.citations,
            Attachments(self.artifacts, self.workspaces, build_markdown_converter(self.loaded)),
            self.database,
            build_delegation_options(self.loaded, self.catalogue),
        )

    @cached_property
    def all_toolsets(self) -> dict[str, Toolset]:
        """All installed toolsets by name."""
        return {
            toolset.name: toolset
            for toolset in discover_instances(toolsets, Toolset, group="outrider.toolsets", nested=True)
        }

    @cached_property
    def served_toolbox(self) -> Toolbox:
        """The tools offered to hosts."""
        try:
            served = select_toolsets(self.settings.toolsets, self.all_toolsets, self.services)
        except NotFound as error:
            error.message += self.loaded.describe_origin(("toolsets",))
            raise
        unlisted = find_unlisted_tools(self.settings.toolsets, self.all_toolsets)
        toolbox = self._connect_toolbox(
            Toolbox(served, self.services, self.events, self.settings.tools, unlisted=unlisted)
        )
        stores = self.content if "content_store" in toolbox.toolsets else None
        self.services[Autosave] = autosave = Autosave(stores, self.settings.content.offer)
        self.crawler.store_page_factory = crawl.build_page_saver_factory(autosave)
        return toolbox

    def build_full_toolbox(self) -> Toolbox:
        """Return a toolbox with all tools that agents may get.

        It includes those that hosts do not get.
        """
        from outrider.toolsets.web_eval.done import DONE_TOOL_NAME, build_done_tool
        from outrider.toolsets.web_eval.recorder import RecordedToolbox

        return self._connect_toolbox(
            RecordedToolbox(
                select_toolsets(["all"], self.all_toolsets, self.services),
                self.services,
                self.events,
                self.settings.tools,
                unlisted=find_unlisted_tools(["all"], self.all_toolsets),
                recorder=self.evaluator.recorder,
                inner={DONE_TOOL_NAME: build_done_tool()},
            )
        )

    def _connect_toolbox(self, toolbox: ToolboxT) -> ToolboxT:
        """Let quotas check the toolbox's calls, and replicas answer those about their sessions."""
        toolbox.quota_check = self.quotas.check_call if self.quotas else None
        toolbox.forward_call = self.cluster.call_remotely if self.cluster else None
        return toolbox

    @cached_property
    def services(self) -> dict[type, Any]:
        """The services that tools take as parameters before the slash, by type."""
        return (
            self._domain_services
            | self._agent_services
            | {
                ToolOptions: build_tool_options(self.loaded),
                FlowRunServices: FlowRunServices(
                    self.browsers,
                    self.workspaces,
                    self.flow_store,
                    FlowRuns(self.database),
                    FlowApprovals(self.database),
                    self.settings.tools,
                    build_tool_options(self.loaded),
                    self.artifacts,
                ),
                ContentSources: ContentSources(
                    self.pages,
                    self.workspaces,
                    self.artifacts,
                    self.settings.workspace.import_roots,
                    self.settings.pages.document_max_bytes,
                ),
                WebEvalSettings: self.settings.web_eval,
                ToolPolicy: self.settings.tools,
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
            Watcher: self.watcher,
            Browsers: self.browsers,
            ArtifactStore: self.artifacts,
            CallRecorder: self.events,
            CitationPool: self.citations,
            ContentStores: self.content,
            SessionWorkspaces: self.workspaces,
            Exporter: Exporter(build_markdown_converter(self.loaded)),
            Processes: self.processes,
            PlanStore: PlanStore(self.database),
            PlaybookStore: PlaybookStore(self.database),
            FlowRuns: FlowRuns(self.database),
            FlowStore: self.flow_store,
            FlowScheduler: self.flow_scheduler,
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
            ServerTools: self.server_tools,
            RepairModel: RepairModel(self.models, self.guard, lambda: self.quotas is not None),
            ValueModel: ValueModel(self.models, self.guard, lambda: self.quotas is not None),
        }
