"""A dashboard page: one discovered file in `pages/`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute

from outrider.dashboard.services import DashboardServices
from outrider.dashboard.viewer import Viewer

FeedChange = dict[str, Any]  # something that happened, as JSON
# What happened after `cursor`, oldest first, and the cursor behind it. Of an empty cursor: nothing, and where it ends
# now. At most a few hundred at a time: the rest is asked for at once.
FeedSource = Callable[[DashboardServices, str], Awaitable[tuple[list[FeedChange], str]]]


@dataclass(frozen=True)
class DashboardPage:
    """One navigation entry with its routes.

    Attributes:
        name: The name of its first route (`Route("/runs", show, name="runs")`), in small letters.
        title: What the navigation calls it.
        order: Its place there; smaller comes first.
        routes: Paths below the dashboard's root; each must begin with `/<name>` or be `/`.
        feeds: What changes, by topic, for `GET feed?topics=…`.
        badge: How many things there wait for a person.
        key: The letter that, after `g`, goes there.
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
