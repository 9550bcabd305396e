"""Sum the size of the artifacts of a workspace or person."""

from sqlalchemy import Connection, func, or_, select

from outrider.core.tables import artifacts


def sum_artifact_bytes(connection: Connection, workspace: str, identity: str | None) -> int:
    """Return the bytes of artifacts.

    Args:
        connection: In a transaction.
        workspace: The workspace; empty for callers without one.
        identity: Only this person's artifacts; None for everyone's in the workspace.
    """
    # Rows of callers without a workspace hold NULL.
    owned = artifacts.c.workspace == workspace
    if not workspace:
        owned = or_(owned, artifacts.c.workspace.is_(None))
    query = select(func.coalesce(func.sum(artifacts.c.size), 0)).where(owned)
    if identity is not None:
        query = query.where(artifacts.c.identity == identity)
    return int(connection.execute(query).scalar_one())
