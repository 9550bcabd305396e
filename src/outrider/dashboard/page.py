"""A dashboard page: one discovered file in `pages/`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute

from outrider.dashboard.services import DashboardServices
from outrider.dashboard.viewer import Viewer

FeedChange = dict[str, Any]  # a change as JSON
# Takes a cursor; returns the changes after it, oldest first, and the cursor after them. An empty cursor returns no
# changes and the current end. A call returns at most a few hundred; the next one follows at once.
FeedSource = Callable[[DashboardServices, str], Awaitable[tuple[list[FeedChange], str]]]


@dataclass(frozen=True)
class DashboardPage:
    """One navigation entry with its routes.

    Attributes:
        name: The name of its first route (`Route("/runs", show, name="runs")`), in small letters.
        title: Its name in the navigation.
        order: Its position in the navigation; smaller comes first.
        routes: Paths below the dashboard's root; each must begin with `/<name>` or be `/`.
        feeds: The sources of changes by topic, for `GET feed?topics=…`.
        badge: Counts the entries that wait for a person.
        key: The letter that opens the page when typed after `g`.
    """

    name: str
    title: str
    order: int
    routes: Sequence[BaseRoute]
    feeds: Mapping[str, FeedSource] = field(default_factory=dict)
    badge: Callable[[DashboardServices], Awaitable[int]] | None = None
    key: str = ""


def get_services(connection: HTTPConnection) -> DashboardServices:
    """Return the services of the dashboard that this request is for."""
    return connection.app.state.services


def get_viewer(connection: HTTPConnection) -> Viewer:
    """Return the signed-in viewer."""
    return connection.state.viewer


def build_route_path(connection: HTTPConnection, name: str, /, **params: Any) -> str:
    """Return the path of a route wherever the dashboard is mounted. Raises NoMatchFound."""
    return connection.scope.get("root_path", "") + str(connection.app.url_path_for(name, **params))
