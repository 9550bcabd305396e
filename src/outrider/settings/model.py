"""The model of all settings; each section is defined by the package that reads it."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field, field_validator

from outrider.agents.settings import AgentsSettings, McpServerSettings, ModelsSettings
from outrider.browser.settings import BrowserSettings
from outrider.content.settings import ContentSettings
from outrider.core.egress.policy import EgressSettings
from outrider.core.storage.factory import ArtifactsSettings
from outrider.core.tool_policy import ToolPolicy
from outrider.dashboard.settings import DashboardSettings
from outrider.flows.settings import FlowsSettings
from outrider.identity.settings import IdentitySettings
from outrider.pages.settings import PagesSettings
from outrider.search.settings import SearchSettings
from outrider.serve.telemetry.settings import TelemetrySettings
from outrider.toolsets.run_agent.settings import RunAgentSettings
from outrider.toolsets.web_eval.settings import WebEvalSettings
from outrider.watches.settings import WatchesSettings
from outrider.workspace.sandbox.settings import CodeSettings
from outrider.workspace.settings import WorkspaceSettings


def _expand_path(value: object) -> Path:
    if not isinstance(value, str | Path) or "\0" in str(value):
        raise ValueError("must be the path of a folder")
    try:
        return Path(value).expanduser()
    except RuntimeError as error:  # `~name` of an unknown user
        raise ValueError(str(error)) from None


ExpandedPath = Annotated[Path, BeforeValidator(_expand_path)]


class ServeSettings(BaseModel, extra="forbid", defer_build=True):
    """Settings of `outrider serve`: its address, and who may call."""

    host: str = Field(default="127.0.0.1", description="Address to listen on")
    port: int = Field(default=8765, ge=0, le=65535, description="Port to listen on; 0 takes a free one")
    token: str = Field(
        default="", description="Bearer token that callers must send; required when host is not loopback"
    )
    allowed_hosts: list[str] = Field(
        default=[], description="Host headers to accept besides loopback, for instance tools.example.com:443"
    )
    state_key: str = Field(
        default="",
        description="At least 32 characters that encrypt the state of paused calls, the same on all replicas; "
        "empty means a key of this machine, stored in data_dir",
    )
    stateless: bool | None = Field(
        default=None,
        description="Whether any replica answers any call of a client; empty means only if the database is Postgres",
    )
    internal_url: str = Field(
        default="",
        description="Address at which other replicas reach this one, for instance http://10.0.0.7:8765; empty means "
        "its own host and port, with the address by which it reaches the database if host means all addresses",
    )
    drain_s: float = Field(
        default=5, ge=0, le=3600, description="Seconds that running calls have to finish when the server stops"
    )
    notice_s: float = Field(
        default=0,
        ge=0,
        le=300,
        description="Seconds to keep accepting calls on shutdown while /readyz fails, so that load balancers notice",
    )

    @field_validator("state_key")
    @classmethod
    def _check_key_length(cls, value: str) -> str:
        if value and len(value.encode()) < 32:
            raise ValueError(
                'must have at least 32 characters: python -c "import secrets; print(secrets.token_hex(32))"'
            )
        return value


class Settings(BaseModel, extra="forbid", defer_build=True):
    """All settings; `outrider config show` prints each value with its origin."""

    toolsets: list[str] = Field(
        default=[],
        description="Toolsets to serve: names, `all` (one tool for each purpose; with `compat` all of them); empty "
        "means the default ones",
    )
    names: Literal["bare", "builtin"] = Field(
        default="bare", description="Plain tool names, or builtin_<server>__<tool>"
    )
    lean: bool = Field(default=False, description="List two tools, which find and call all others")
    assistant: str = Field(
        default="",
        max_length=200,
        description="Owner of playbooks for calls that name no assistant; empty means the client's name",
    )
    tools: ToolPolicy = ToolPolicy()
    data_dir: ExpandedPath = Field(
        default=Path("~/.outrider"), validate_default=True, description="Folder of the database and artifacts"
    )
    database: str = Field(
        default="", description="Database address, for instance postgresql://…; empty means outrider.db in data_dir"
    )
    database_connections: int = Field(
        default=10, ge=4, le=200, description="Maximum connections of one process to Postgres"
    )
    images_path: str = Field(
        default="./images", description="Folder for images that web_fetch saves, relative to the workspace"
    )
    boundary: bool = Field(default=True, description="Wrap page text in a random boundary that names its origin")
    mime_prefix: str = Field(default="application/vnd.dust", description="Vendor tree of typed result resources")
    artifacts: ArtifactsSettings = ArtifactsSettings()
    keep_days: float = Field(
        default=30,
        gt=0,
        description="Days to keep artifacts and call records, and days after their last use to keep files of sessions "
        "and automatically saved pages",
    )
    daemon: bool = Field(default=True, description="Let `outrider mcp` of all hosts share one process of this user")
    daemon_idle_s: float = Field(
        default=900,
        ge=0,
        le=604_800,
        description="Seconds without hosts and running agents after which that process ends",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning", description="Lowest level of messages on stderr"
    )
    log_style: Literal["text", "json"] = Field(
        default="text", description="Log format of `serve` and `worker`: lines for people, or one JSON object per line"
    )
    egress: EgressSettings = EgressSettings()
    search: SearchSettings = SearchSettings()
    pages: PagesSettings = PagesSettings()
    browser: BrowserSettings = BrowserSettings()
    models: ModelsSettings = ModelsSettings()
    agents: AgentsSettings = AgentsSettings()
    mcpServers: dict[str, McpServerSettings] = Field(  # noqa: N815 - the name that all hosts use
        default={},
        description="Other MCP servers for agents: by name `command`, `args`, `env`, or `url`, `headers`",
    )
    run_agent: RunAgentSettings = RunAgentSettings()
    web_eval: WebEvalSettings = WebEvalSettings()
    content: ContentSettings = ContentSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    code: CodeSettings = CodeSettings()
    watches: WatchesSettings = WatchesSettings()
    flows: FlowsSettings = FlowsSettings()
    serve: ServeSettings = ServeSettings()
    identity: IdentitySettings = IdentitySettings()
    dashboard: DashboardSettings = DashboardSettings()
    telemetry: TelemetrySettings = TelemetrySettings()

    @property
    def database_url(self) -> str:
        """The database's address, or that of the default file."""
        return self.database or f"sqlite+aiosqlite:///{self.data_dir / 'outrider.db'}"
