"""Decide which resources a dashboard viewer may see."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection


@dataclass(frozen=True)
class ResourceOwner:
    """The host workspace and person that own a resource, where known."""

    workspace: str | None = None
    identity: str | None = None


def get_allowed_workspace(connection: HTTPConnection) -> str | None:
    """Return the only workspace that the viewer may see, or None for all."""
    return getattr(connection.state, "workspace", None)


def can_view(connection: HTTPConnection, owner: ResourceOwner) -> bool:
    """Return whether the viewer may see a resource of that owner.

    A viewer with the token of the dashboard's address runs this Outrider, can read its database and sees everything. A
    connection whose state names a `workspace` sees only that one.
    """
    allowed_workspace = get_allowed_workspace(connection)
    return allowed_workspace is None or (owner.workspace or "") == allowed_workspace
