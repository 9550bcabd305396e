"""The service that watches; it builds its engine when needed."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from outrider.core.database.database import Database
from outrider.core.http import HttpClient
from outrider.watches.settings import WatchesSettings
from outrider.watches.watch import ReadTarget

if TYPE_CHECKING:  # loads SQLAlchemy
    from outrider.watches.watch_engine import WatchEngine


class Watcher:
    """Watches pages, searches and values.

    Args:
        database: Holds the watches; its clock is the one that all processes share.
        settings: Limits and notices.
        read_target: Reads a target again. Raises OutriderError.
        http: The guarded client, for webhooks.
        environ: Environment variables with the secrets of webhooks.
    """

    def __init__(
        self,
        database: Database,
        settings: WatchesSettings,
        read_target: ReadTarget,
        http: HttpClient,
        environ: Mapping[str, str],
    ) -> None:
        self._database = database
        self._is_allowed = settings.max_watches > 0
        self._parts = (database, settings, read_target, http, environ)
        self.is_started = False

    @cached_property
    def engine(self) -> "WatchEngine":
        """The part that works on the database."""
        from outrider.watches.watch_engine import WatchEngine

        self.is_started = True
        return WatchEngine(*self._parts, clock=self._database.now)

    @property
    def is_watching(self) -> bool:
        """Whether there are watches that are not paused."""
        return self.is_started and self.engine.next_due is not None

    async def run_forever(self, *, opens_database: bool = False) -> None:
        """Look at watches and send notices until cancelled; return at once if `watches.max_watches` is 0.

        Args:
            opens_database: Whether to open the database at once, instead of when something else has opened it.
        """
        if not self._is_allowed:
            return
        if not opens_database:
            await self._database.opened_event.wait()
        await self.engine.run_forever()
