"""Tokens of our own: made once, shown once, known by their hash, good until they expire or are taken back."""

import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from outrider.core.db import Database, storable
from outrider.core.errors import InvalidInput, NotFound, OutriderError
from outrider.core.grant import Role
from outrider.identity import secret
from outrider.identity.principal import ROLES, Membership, Principal, Unrecognised, least
from outrider.identity.tables import tokens
from outrider.identity.workspaces import Workspaces, checked_person, memberships

DAY = 86_400
USED_EVERY = 300.0  # seconds by which "last used" may lag behind: a write for each call would be dear


@dataclass(frozen=True)
class Token:
    """What is known of a token; never the token.

    Attributes:
        label: What it is for.
        role: The most that it gives, whatever its person may do.
        workspaces: Where it is good; none means wherever its person is.
        toolsets: What it opens; None means all.
        used_at: When it was last used, to about five minutes. Times are seconds since the epoch.
    """

    id: str
    label: str
    person: str
    role: Role
    workspaces: tuple[str, ...]
    toolsets: tuple[str, ...] | None
    created_at: float
    expires_at: float | None
    used_at: float | None
    revoked_at: float | None

    def state(self, now: float) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


class Tokens:
    """All tokens in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        person: str,
        *,
        label: str = "",
        role: Role = "owner",
        workspaces: Sequence[str] = (),
        toolsets: Sequence[str] | None = None,
        days: float | None = 90,
    ) -> tuple[Token, str]:
        """Makes a token for somebody.

        Args:
            person: Who will act with it; must be in the workspaces.
            label: What it is for.
            role: The most that it gives.
            workspaces: Where it is good; none means wherever the person is, now and later.
            toolsets: True names of those that it opens; None means all.
            days: How long it is good; None means until it is taken back.

        Returns:
            What is kept, and the token itself, which nobody will see again.

        Raises:
            InvalidInput: The person is in none of the workspaces.
        """
        person = await self._allowed(person, role, workspaces)
        now, made = time.time(), secret.made()
        row = {
            "id": f"tok_{uuid.uuid4().hex[:16]}",
            "hash": secret.digest(made),
            "label": storable(label, 200),
            "person": person,
            "role": role,
            "workspaces": list(workspaces),
            "toolsets": None if toolsets is None else list(toolsets),
            "created_at": now,
            "expires_at": None if days is None else now + days * DAY,
        }
        async with self._database.write() as connection:
            await connection.execute(tokens.insert(), [row])
        return await self.get(row["id"]), made

    async def _allowed(self, person: str, role: Role, workspaces: Sequence[str]) -> str:
        """The person's name as it is kept. Raises InvalidInput where a token may not be made so."""
        person = checked_person(person)
        if role not in ROLES:
            raise InvalidInput(f"role: {role!r} is none", hint=f"one of {', '.join(ROLES)}")
        _check_places(person, workspaces, await Workspaces(self._database).of(person))
        return person

    async def get(self, token_id: str) -> Token:
        """What is known of it. Raises NotFound."""
        for token in await self.all():
            if token.id == token_id:
                return token
        raise NotFound(f"no token {token_id[:40]!r}", hint="outrider token list shows all")

    async def all(self, person: str = "") -> list[Token]:
        """All of them, or all of somebody's, the newest first."""
        query = select(tokens).order_by(tokens.c.created_at.desc(), tokens.c.id)
        if person:
            query = query.where(tokens.c.person == storable(person, 200))
        async with self._database.read() as connection:
            return [_token(row) for row in (await connection.execute(query)).mappings()]

    async def revoke(self, token_id: str) -> Token:
        """Takes a token back, for good. Raises NotFound."""
        await self.get(token_id)
        query = tokens.update().where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(query.values(revoked_at=time.time()))
        return await self.get(token_id)

    async def principal(self, digest: str) -> Principal:
        """Who holds the token of that hash, as things stand now. Raises Unrecognised and Unavailable."""
        found = await self._database.short(lambda connection: _holder(connection, digest), write=False)
        if found is None:
            raise Unrecognised("this token is not known here")
        token, places = found
        now = time.time()
        if (state := token.state(now)) != "active":
            raise Unrecognised(f"this token is {state}")
        if token.used_at is None or now - token.used_at > USED_EVERY:
            await self._note_use(token.id, now)
        return Principal(
            person=token.person,
            credential=token.id,
            memberships=_places(token, places),
            toolsets=token.toolsets,
            remedy="use another tool, or ask the operator for a token with that toolset: outrider token create",
            expires_at=token.expires_at,
        )

    async def _note_use(self, token_id: str, now: float) -> None:
        query = tokens.update().where(tokens.c.id == token_id).values(used_at=now)
        with suppress(OutriderError):  # a full disk must not lock anybody out
            await self._database.short(lambda connection: connection.execute(query).rowcount, write=True)


def _holder(connection: "Connection", digest: str) -> tuple[Token, tuple[Membership, ...]] | None:

    row = connection.execute(select(tokens).where(tokens.c.hash == digest)).mappings().first()
    return (_token(row), memberships(connection, row["person"])) if row else None


def _token(row: Any) -> Token:
    facts = {name: row[name] for name in row if name != "hash"}
    toolsets = None if row["toolsets"] is None else tuple(row["toolsets"])
    values: dict[str, Any] = facts | {"workspaces": tuple(row["workspaces"]), "toolsets": toolsets}
    return Token(**values)


def _places(token: Token, places: Sequence[Membership]) -> tuple[Membership, ...]:
    """Where the token is good, under the lesser of its role and the person's; in its own order if it has one."""
    there = {each.workspace: Membership(each.workspace, least(each.role, token.role)) for each in places}
    wanted = token.workspaces or tuple(there)
    return tuple(there[name] for name in wanted if name in there)


def _check_places(person: str, workspaces: Sequence[str], places: Sequence[Membership]) -> None:
    there = [each.workspace for each in places]
    missing = [name for name in workspaces if name not in there]
    if missing or not there:
        where = missing[0] if missing else "<workspace>"
        raise InvalidInput(
            f"person: {person!r} is not in workspace {where!r}"
            if missing
            else f"person: {person!r} is in no workspace",
            hint=f"outrider workspace create {where} --owner {person}, or outrider workspace add {where} {person}",
        )
