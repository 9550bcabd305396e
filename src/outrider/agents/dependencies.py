"""What the house gives to those who work on runs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outrider.agents.approvals import Questions
from outrider.agents.conversations import Conversations
from outrider.agents.models.access import ModelResolver
from outrider.agents.settings import AgentsSettings
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.toolbox import Toolbox

if TYPE_CHECKING:
    from outrider.agents.remote_tools import RemoteToolSource
    from outrider.agents.state_encryption import StateCipher


@dataclass(frozen=True, eq=False, repr=False)
class AgentDependencies:
    """All that runs need of the house.

    Attributes:
        database: Holds everything about runs.
        guard: Lets requests to models out.
        toolboxes: The served tools and all of the house's. Agents of a workspace's file get of the served ones only,
            because such a file may choose and not widen.
        state_cipher: Hides private arguments in what is written down.
        servers: Other MCP servers that agents may name.
        engine_retention_s: Seconds for which the durable engine's own notes are kept.
    """

    database: Database
    settings: AgentsSettings
    models: ModelResolver
    guard: EgressGuard
    toolboxes: Callable[[], tuple[Toolbox, Toolbox]]
    questions: Questions
    conversations: Conversations
    state_cipher: "StateCipher"
    servers: "RemoteToolSource | None" = None
    engine_retention_s: float = math.inf
