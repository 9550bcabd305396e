"""The running house, as those who opened it see it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp.server import Server

from outrider.agents.catalogue import Catalogue
from outrider.agents.models import Models
from outrider.agents.runs import Runs
from outrider.app.edge import Servers
from outrider.browser import Browsers
from outrider.content import Content
from outrider.core.artifacts import Artifacts
from outrider.core.context import Call
from outrider.core.db import Database
from outrider.core.events import Events
from outrider.core.prompting import ServiceContext
from outrider.core.result import Result
from outrider.core.tool import Toolset
from outrider.core.toolbox import Toolbox
from outrider.pages import Pages
from outrider.pages.crawl import Crawler
from outrider.search import Search
from outrider.serve.mcp import Pause, mcp_server
from outrider.serve.seal import security
from outrider.settings import Loaded
from outrider.toolsets.evaluating.flow import Evaluator
from outrider.toolsets.run_agent_flow import Delegation
from outrider.toolsets.run_agent_results import CONVERSATIONS
from outrider.workspace import Workspaces
from outrider.workspace.processes import Processes

if TYPE_CHECKING:
    from outrider.app.neighbours import Neighbours
    from outrider.dashboard.house import House
    from outrider.identity.identity import Identity


@dataclass(frozen=True)
class App:
    """The running house. `async with open_app() as app` makes one and closes all that it opened.

    Attributes:
        loaded: The settings, with the origin of each.
        toolbox: The offered tools.
        events: The record of every call.
        house: What the dashboard may see and do of all this; made when somebody wants to look.
        identity: Recognises callers, and keeps tokens, workspaces and the audit; made when first needed.
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
    remote: Servers
    neighbours: "Neighbours | None" = field(repr=False)
    whole_toolbox: "Callable[[], Toolbox]" = field(repr=False)
    house: "Callable[[], House]" = field(repr=False)
    identity: "Callable[[], Identity]" = field(repr=False)
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
        settings = self.loaded.settings
        toolbox = self.toolbox.only(toolset) if toolset else self.toolbox
        sealed = security(settings.serve.state_key, settings.data_dir, hours=settings.serve.state_hours)
        pause = Pause(sealed, settings.run_agent.blocked_format, settings.mime_prefix, place=self.place)
        texts = {CONVERSATIONS: self.delegation.transcript}
        return mcp_server(
            toolbox, self.artifacts, name=name, style=settings.names, session=session, assistant=settings.assistant,
            pause=pause, texts=texts,
        )  # fmt: skip

    def place(self) -> str:
        """Where people find the dashboard, without a token: this house's, or another's over the same data; or empty."""
        if own := self.artifacts.web_address:
            return own
        from outrider.dashboard.address import running

        return next((each.place for each in running(self.loaded.settings.data_dir)), "")

    def servers(self) -> "dict[str, Server[Any]]":
        """What HTTP serves: everything under an empty name, and each toolset under its own and its aliases."""
        alone = {
            name: self.server(name, name=name)
            for toolset in self.toolbox.toolsets.values()
            for name in (toolset.name, *toolset.aliases)
        }
        return {"": self.server(), **alone}
