"""Services of the app that runs depend on."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from outrider.agents.approvals import Questions
from outrider.agents.conversations import Conversations
from outrider.agents.models.access import ModelResolver
from outrider.agents.settings import AgentsSettings
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.toolbox import Toolbox

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteToolSource
    from outrider.agents.state_encryption import StateCipher

FilePublisher = Callable[[Call, Sequence[dict[str, Any]]], Awaitable[list[dict[str, Any]]]]


@dataclass(frozen=True, eq=False, repr=False)
class AgentDependencies:
    """Services that runs need.

    Attributes:
        database: Holds everything about runs.
        guard: Checks every request to a model before it leaves.
        toolboxes: Returns the served tools and all tools of the app. Agents from a workspace's file only get served
            tools, because such a file may choose tools but not add any.
        state_cipher: Encrypts private arguments before they are saved.
        publish_files: Saves files of the caller's workspace as artifacts; returns those that still exist, with `id`.
        servers: Other MCP servers that agents may name.
        engine_retention_s: Seconds for which the durable engine keeps its own records.
    """

    database: Database
    settings: AgentsSettings
    models: ModelResolver
    guard: EgressGuard
    toolboxes: Callable[[], tuple[Toolbox, Toolbox]]
    questions: Questions
    conversations: Conversations
    state_cipher: "StateCipher"
    publish_files: FilePublisher
    servers: "RemoteToolSource | None" = None
    engine_retention_s: float = math.inf
