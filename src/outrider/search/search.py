"""Searching, as everybody sees it. What it takes is imported when somebody searches (`flow`)."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from outrider.core.database.database import Database
from outrider.core.http import HttpClient
from outrider.search.settings import SearchSettings

if TYPE_CHECKING:
    from outrider.search.flow import Flow, SearchOutcome
    from outrider.search.provider import Query, SearchServices
    from outrider.search.selection import ProviderStatus

SearchDepth = Literal["quick", "balanced", "wide"]


class Search:
    """Search over all providers that this installation can use.

    Args:
        http: Sends the requests.
        settings: The operator's choices.
        database: Keeps the health of providers; None keeps it in memory.
        build_services: Gives what providers need that do not ask over `http`, when somebody searches.
        environ: Where keys may be set, for instance `os.environ`.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        http: "HttpClient",
        settings: SearchSettings,
        database: Database | None,
        *,
        build_services: "Callable[[], SearchServices] | None" = None,
        environ: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._http = http
        self._settings = settings
        self._database = database
        self._build_services = build_services
        self._environ = environ or {}
        self._clock = clock

    async def find(
        self, query: "Query", *, depth: SearchDepth = "quick", profile: str | None = None, browse: bool = False
    ) -> "SearchOutcome":
        """Searches; a provider that fails is followed by the next.

        Args:
            query: What to look for.
            depth: `quick` takes the first answer, `balanced` fuses up to three, `wide` up to six.
            profile: A profile's name instead of the one in the settings.
            browse: Whether result pages in a browser come first (see `access.plan`).

        Raises:
            NotConfigured: no provider can be used, or the profile or a setting is wrong.
            Unavailable: with code `search_failed` when every provider failed; `details.attempts` and
                the message say how, the hint is the shortest remedy.
        """
        return await self._flow.find(query, depth, profile, browse=browse)

    async def list_providers(self) -> "list[ProviderStatus]":
        """Every provider with its health, for `doctor`."""
        return await self._flow.list_providers()

    @cached_property
    def _flow(self) -> "Flow":
        from outrider.search.flow import Flow
        from outrider.search.provider import SearchServices

        powers = self._build_services() if self._build_services else SearchServices()
        return Flow(self._http, self._settings, self._database, powers, environ=self._environ, clock=self._clock)
