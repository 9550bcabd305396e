"""Who may see what. Every list and every file of the dashboard asks here, and nowhere else."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection


@dataclass(frozen=True)
class Owner:
    """To whom something belongs: a workspace of a host and a person, where the host names them."""

    workspace: str | None = None
    identity: str | None = None


def only_workspace(connection: HTTPConnection) -> str | None:
    """The one workspace that who is signed in may see; None for all."""
    return getattr(connection.state, "workspace", None)


def may_see(connection: HTTPConnection, owner: Owner) -> bool:
    """Whether who is signed in may see what belongs to that owner.

    Who holds the token of the dashboard's address runs this Outrider, reads its database and sees everything. Where
    the state of a connection names a `workspace`, it is for that one alone.
    """
    only = only_workspace(connection)
    return only is None or (owner.workspace or "") == only
