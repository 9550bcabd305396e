"""Find revoked or expired credentials on open streams.

Streams can last for days.
"""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from outrider.core.database.database import Database
from outrider.identity.principal import Principal
from outrider.identity.tables import members as members_table
from outrider.identity.tables import tokens


async def find_lost_principals(
    principals: Collection[Principal], database: Database, now: float, *, members: bool
) -> set[Principal]:
    """Return those whose credential was revoked or has expired, or who have left all their workspaces.

    Args:
        principals: The callers with open streams.
        database: Holds tokens and members.
        now: Seconds since the epoch.
        members: Whether the database, not the tokens, also determines the workspaces of an identity provider's users.

    Raises:
        Unavailable: The database cannot be reached.
    """
    batch_size = 500
    lost = {each for each in principals if each.expires_at is not None and now >= each.expires_at}
    to_check = [each for each in principals if each not in lost and (members or not each.issuer)]
    for start in range(0, len(to_check), batch_size):
        batch = to_check[start : start + batch_size]
        lost |= await database.run_transaction(
            lambda connection, batch=batch: _select_lost(connection, batch), write=False
        )
    return lost


def _select_lost(connection: Connection, principals: Sequence[Principal]) -> set[Principal]:
    token_ids = [principal.credential for principal in principals if not principal.issuer]
    active_tokens = select(tokens.c.id).where(tokens.c.id.in_(token_ids), tokens.c.revoked_at.is_(None))
    active_ids = set(connection.execute(active_tokens).scalars())
    persons = [principal.person for principal in principals]
    query = select(members_table.c.person, members_table.c.workspace).where(members_table.c.person.in_(persons))
    memberships = {(person, workspace) for person, workspace in connection.execute(query)}
    return {
        principal
        for principal in principals
        if not (principal.issuer or principal.credential in active_ids)
        or not any((principal.person, place.workspace) in memberships for place in principal.memberships)
    }
