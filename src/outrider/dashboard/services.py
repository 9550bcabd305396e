"""The services that dashboard pages use."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from outrider.agents.approvals import Questions
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.evaluations import Evaluations
from outrider.agents.runs import RunService
from outrider.browser.session.browsers import Browsers
from outrider.content.stores import ContentStores
from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.database.database import Database
from outrider.core.toolbox import Toolbox
from outrider.dashboard.settings import DashboardSettings
from outrider.flows.flow_store import FlowStore
from outrider.plans import PlanStore
from outrider.playbooks import PlaybookStore
from outrider.search.search import Search
from outrider.toolsets.flows.repairing import RepairModel
from outrider.watches.watcher import Watcher
from outrider.workspace import SessionWorkspaces


@dataclass(frozen=True)
class DashboardServices:
    """The parts of a running Outrider, passed in by `app`.

    Attributes:
        settings: The dashboard's own settings.
        data_dir: The data directory.
        toolbox: The tools that hosts are offered.
        repair_model: Proposes elements for steps of flows that stopped.
        build_full_toolbox: Returns a toolbox of all tools, offered or not, with which flows continue.
        browsers: The sessions of this process; those of others are only in the database.
    """

    settings: DashboardSettings
    data_dir: Path
    database: Database
    toolbox: Toolbox
    events: CallRecorder
    artifacts: ArtifactStore
    browsers: Browsers
    runs: RunService
    questions: Questions
    conversations: Conversations
    catalogue: Catalogue
    content: ContentStores
    workspaces: SessionWorkspaces
    plans: PlanStore
    playbooks: PlaybookStore
    search: Search
    evaluations: Evaluations
    watcher: Watcher
    flow_store: FlowStore
    repair_model: RepairModel
    build_full_toolbox: Callable[[], Toolbox]
