"""Who of those inside has lost what they came in with: asked of all of them together, as streams stay for days."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, select

from outrider.core.database.database import Database
from outrider.identity.principal import Principal


async def find_lost_principals(
    principals: Collection[Principal], database: Database, now: float, *, members: bool
) -> set[Principal]:
    """Those whose credential has expired or was revoked, or who are in none of their workspaces any more.

    Args:
        principals: Who is inside.
        database: Has tokens and members.
        now: Seconds since the epoch.
        members: Whether the members of an identity provider's people are ours, too.

    Raises:
        Unavailable: Nobody can tell.
    """
    batch_size = 500  # people that one query asks about
    over = {each for each in principals if each.expires_at is not None and now >= each.expires_at}
    asked = [each for each in principals if each not in over and (members or not each.issuer)]
    for start in range(0, len(asked), batch_size):
        some = asked[start : start + batch_size]
        over |= await database.run_transaction(
            lambda connection, some=some: _select_lost(connection, some), write=False
        )
    return over


def _select_lost(connection: "Connection", principals: Sequence[Principal]) -> set[Principal]:
    from outrider.identity.tables import members, tokens

    credentials = [each.credential for each in principals if not each.issuer]
    good = select(tokens.c.id).where(tokens.c.id.in_(credentials), tokens.c.revoked_at.is_(None))
    known = set(connection.execute(good).scalars())
    people = [each.person for each in principals]
    places = select(members.c.person, members.c.workspace).where(members.c.person.in_(people))
    there = {(person, workspace) for person, workspace in connection.execute(places)}
    return {
        each
        for each in principals
        if not (each.issuer or each.credential in known)
        or not any((each.person, place.workspace) in there for place in each.memberships)
    }
