"""Sum the size of the contents of a workspace or person."""

from sqlalchemy import Connection, func, or_, select

from outrider.content.tables import content_stores, contents


def sum_content_bytes(connection: Connection, workspace: str, identity: str | None) -> int:
    """Return the bytes of contents in stores.

    Args:
        connection: In a transaction.
        workspace: The workspace; empty for callers without one.
        identity: Only this person's stores; None for everybody's in the workspace.
    """
    # Rows of callers without a workspace hold NULL.
    stores = content_stores.c
    owned = stores.workspace == workspace
    if not workspace:
        owned = or_(owned, stores.workspace.is_(None))
    store_ids = select(stores.id).where(owned)
    if identity is not None:
        store_ids = store_ids.where(stores.identity == identity)
    query = select(func.coalesce(func.sum(contents.c.size), 0)).where(contents.c.store_id.in_(store_ids))
    return int(connection.execute(query).scalar_one())
