"""Who may see what. Every list and every file of the dashboard asks here, and nowhere else."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection


@dataclass(frozen=True)
class ResourceOwner:
    """To whom something belongs: a workspace of a host and a person, where the host names them."""

    workspace: str | None = None
    identity: str | None = None


def get_allowed_workspace(connection: HTTPConnection) -> str | None:
    """The one workspace that who is signed in may see; None for all."""
    return getattr(connection.state, "workspace", None)


def can_view(connection: HTTPConnection, owner: ResourceOwner) -> bool:
    """Whether who is signed in may see what belongs to that owner.

    Who holds the token of the dashboard's address runs this Outrider, reads its database and sees everything. Where
    the state of a connection names a `workspace`, it is for that one alone.
    """
    only = get_allowed_workspace(connection)
    return only is None or (owner.workspace or "") == only
