"""The open application, with its components and its calls."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from outrider.agents.catalogue import Catalogue
from outrider.agents.models import ModelResolver
from outrider.agents.runs import RunService
from outrider.app.project_folder import RootChooser
from outrider.app.server_tools import LazyRemoteServers, ServerToolLists
from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.artifacts import ArtifactStore
from outrider.core.background import run_background
from outrider.core.call_records import CallRecorder
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured
from outrider.core.prompts import ToolsetContext
from outrider.core.result import Result
from outrider.core.tool import Toolset
from outrider.core.toolbox import Toolbox
from outrider.flows.flow_store import FlowStore
from outrider.flows.scheduler import FlowScheduler
from outrider.pages.crawl import Crawler
from outrider.pages.pages import Pages
from outrider.search.search import Search
from outrider.settings import LoadedSettings
from outrider.toolsets.run_agent.delegation import Delegation
from outrider.toolsets.run_agent.results import CONVERSATION_URI_PREFIX
from outrider.toolsets.web_eval.evaluator import Evaluator
from outrider.watches.watcher import Watcher
from outrider.workspace import SessionWorkspaces
from outrider.workspace.processes import Processes
from outrider.workspace.settings import HOST_ROOTS

if TYPE_CHECKING:
    from mcp.server import Server

    from outrider.app.cluster.cluster import Cluster
    from outrider.dashboard.services import DashboardServices
    from outrider.identity.identity import Identity
    from outrider.serve.mcp import ApprovalResponder


@dataclass(frozen=True)
class App:
    """The open application. `async with open_app() as app` opens one and closes it again.

    Attributes:
        loaded: The settings, with the origin of each.
        toolbox: The tools offered to hosts.
        events: The record of every call.
        build_full_toolbox: Builds a toolbox with all tools that agents may get.
        dashboard_services: Returns the services of the dashboard, built at first use.
        identity: Returns the service that authenticates callers, built at first use.
        all_toolsets: All installed toolsets by name.
    """

    loaded: LoadedSettings
    toolbox: Toolbox
    events: CallRecorder
    artifacts: ArtifactStore
    database: Database
    workspaces: SessionWorkspaces
    processes: Processes
    search: Search
    pages: Pages
    crawler: Crawler
    watcher: Watcher
    flow_scheduler: FlowScheduler
    flow_store: FlowStore
    content: ContentStores
    browsers: Browsers
    runs: RunService
    catalogue: Catalogue
    models: ModelResolver
    delegation: Delegation
    evaluator: Evaluator
    remote_servers: LazyRemoteServers
    server_tools: ServerToolLists
    cluster: "Cluster | None" = field(repr=False)
    build_full_toolbox: "Callable[[], Toolbox]" = field(repr=False)
    dashboard_services: "Callable[[], DashboardServices]" = field(repr=False)
    identity: "Callable[[], Identity]" = field(repr=False)
    all_toolsets: dict[str, Toolset] = field(repr=False)

    async def call(self, tool: str, /, call: Call | None = None, **arguments: Any) -> Result:
        """Call a tool as a host would: `await app.call("web_search", query="tea")`.

        Raises the errors of `outrider.core.errors`, for instance InvalidInput for wrong arguments.
        """
        return await self.toolbox.call(tool, arguments, call)

    async def render_context(self, toolset: str, call: Call | None = None) -> ToolsetContext:
        """Return the state of a toolset in the call's session, for a system prompt. Raises NotFound."""
        return await self.toolbox.describe_context(toolset, call or Call())

    def build_server(
        self, toolset: str | None = None, *, name: str = "outrider", session: str = "default"
    ) -> "Server[Any]":
        """Return an MCP server with all offered tools, or one toolset.

        It is the SDK's low-level server.
        """
        # The SDK takes as long to import as everything else together, and most commands do not serve.
        from outrider.serve.mcp import build_mcp_server

        settings = self.loaded.settings
        toolbox = self.toolbox.select_toolset(toolset) if toolset else self.toolbox
        texts, roots = {CONVERSATION_URI_PREFIX: self.delegation.format_transcript}, None
        if settings.workspace.directory == HOST_ROOTS:
            from outrider.serve.roots import HostRoots

            roots = HostRoots(RootChooser(self.loaded, self.workspaces, self.processes.kernels).choose)
        return build_mcp_server(
            toolbox, self.artifacts, name=name, style=settings.names, session=session, assistant=settings.assistant,
            approvals=self.build_approvals(), text_resources=texts, is_lean=settings.lean and not toolset,
            roots=roots,
        )  # fmt: skip

    def build_approvals(self) -> "ApprovalResponder":
        """Return what builds the results of calls that wait for people."""
        from outrider.serve.mcp import ApprovalResponder
        from outrider.serve.state_encryption import build_state_security

        settings = self.loaded.settings
        return ApprovalResponder(
            build_state_security(settings.serve.state_key, settings.data_dir),
            settings.run_agent.blocked_format,
            settings.mime_prefix,
            dashboard_url=self.find_dashboard_url,
        )

    async def run_schedules(self, *, opens_database: bool = False) -> None:
        """Look at watches and run flows when they are due, until cancelled.

        Args:
            opens_database: Whether to open the database at once, instead of when something else has opened it.
        """
        async with run_background(partial(self.watcher.run_forever, opens_database=opens_database)):
            await self.flow_scheduler.run_forever(opens_database=opens_database)
            await anyio.sleep_forever()

    def find_dashboard_url(self) -> str:
        """Return the dashboard's address without a token.

        Another app with the same data may serve it. It is empty if there is none.
        """
        if self.artifacts.dashboard_url:
            return self.artifacts.dashboard_url
        from outrider.dashboard.address import list_running

        return next((each.place for each in list_running(self.loaded.settings.data_dir)), "")

    def build_servers(self) -> "dict[str, Server[Any]]":
        """Return the HTTP servers by name.

        All tools have the empty name; each toolset has its name and aliases.

        Raises NotConfigured if the settings let clients choose folders of this machine.
        """
        if self.loaded.settings.workspace.directory == HOST_ROOTS:
            raise NotConfigured(
                "workspace.directory: roots are folders of the client's machine, and a server cannot use them"
                f"{self.loaded.describe_origin(('workspace', 'directory'))}",
                hint="leave it empty, or name a folder; roots are for hosts that start outrider mcp",
            )
        single_toolsets = {
            name: self.build_server(name, name=name)
            for toolset in self.toolbox.toolsets.values()
            for name in (toolset.name, *toolset.aliases)
        }
        return {"": self.build_server(), **single_toolsets}
