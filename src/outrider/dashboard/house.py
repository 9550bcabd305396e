"""What the pages may see and do."""

from dataclasses import dataclass
from pathlib import Path

from outrider.agents.approvals import Questions
from outrider.agents.catalogue import Catalogue
from outrider.agents.conversations import Conversations
from outrider.agents.evaluations import Evaluations
from outrider.agents.runs import Runs
from outrider.browser import Browsers
from outrider.content import Content
from outrider.core.artifacts import Artifacts
from outrider.core.db import Database
from outrider.core.events import Events
from outrider.core.toolbox import Toolbox
from outrider.dashboard.settings import DashboardSettings
from outrider.plans import Plans
from outrider.playbooks import Playbooks
from outrider.search import Search
from outrider.workspace import Workspaces


@dataclass(frozen=True)
class House:
    """The parts of a running Outrider, handed over by `app`.

    Attributes:
        settings: The dashboard's own settings.
        data_dir: Where this Outrider keeps everything.
        toolbox: The tools that hosts are offered.
        browsers: The sessions of this process; those of others are in the database alone.
    """

    settings: DashboardSettings
    data_dir: Path
    database: Database
    toolbox: Toolbox
    events: Events
    artifacts: Artifacts
    browsers: Browsers
    runs: Runs
    questions: Questions
    conversations: Conversations
    catalogue: Catalogue
    content: Content
    workspaces: Workspaces
    plans: Plans
    playbooks: Playbooks
    search: Search
    evaluations: Evaluations
