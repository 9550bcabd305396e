"""The service that runs scheduled flows; it builds its engine when needed."""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from outrider.core.database.database import Database
from outrider.core.errors import NotConfigured
from outrider.flows.settings import FlowsSettings

if TYPE_CHECKING:  # loads SQLAlchemy
    from outrider.flows.schedule_engine import ScheduleEngine


class FlowScheduler:
    """Runs the flows of a project when they are due.

    Args:
        database: Holds schedules and runs.
        settings: Limits.
        build_engine: Builds the part that works on the database.
    """

    def __init__(
        self, database: Database, settings: FlowsSettings, build_engine: "Callable[[], ScheduleEngine]"
    ) -> None:
        self._database = database
        self._settings = settings
        self._build_engine = build_engine
        self._is_started = False

    @cached_property
    def engine(self) -> "ScheduleEngine":
        """The part that works on the database. Raises NotConfigured if schedules are disabled."""
        if not self._settings.max_schedules:
            raise NotConfigured("scheduled flows are off here", hint="the operator must raise flows.max_schedules")
        self._is_started = True
        return self._build_engine()

    @property
    def is_active(self) -> bool:
        """Whether flows of this project have schedules."""
        return self._is_started and self.engine.next_due is not None

    async def run_forever(self, *, opens_database: bool = False) -> None:
        """Execute runs when they are due, until cancelled; none if `flows.max_schedules` is 0.

        Args:
            opens_database: Whether to open the database at once, instead of when something else has opened it.
        """
        if not self._settings.max_schedules:
            return
        if not opens_database:
            await self._database.opened_event.wait()
        await self.engine.run_forever()
