"""Build the engine that runs flows on schedule (loads SQLAlchemy)."""

from collections.abc import Callable

from outrider.core.database.database import Database
from outrider.core.http import HttpClient
from outrider.core.notices.notifier import Notifier
from outrider.core.toolbox import Toolbox
from outrider.flows.approvals import FlowApprovals
from outrider.flows.flow_store import FlowStore
from outrider.flows.schedule_engine import ScheduleEngine
from outrider.settings import LoadedSettings
from outrider.toolsets.flows.scheduled_runs import ScheduledRuns


def build_schedule_engine(
    loaded: LoadedSettings, database: Database, http: HttpClient, store: FlowStore, build_toolbox: Callable[[], Toolbox]
) -> ScheduleEngine:
    """Return the engine of a project's flows; they run with the tools of `build_toolbox`, served or not."""
    settings = loaded.settings
    toolbox: list[Toolbox] = []

    def get_toolbox() -> Toolbox:
        if not toolbox:
            toolbox.append(build_toolbox())
        return toolbox[0]

    return ScheduleEngine(
        database,
        settings.flows,
        "" if database.is_shared else str(loaded.workspace),  # any replica runs the flows of a team
        Notifier(http, settings.watches.notices, loaded.environ),
        ScheduledRuns(store, FlowApprovals(database), settings.tools, get_toolbox),
        default_timezone=settings.watches.timezone or "UTC",
    )
