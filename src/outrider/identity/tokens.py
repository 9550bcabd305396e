"""Tokens of our own: made once, shown once, known by their hash, good until they expire or are taken back."""

import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound, OutriderError
from outrider.core.grant import WorkspaceRole
from outrider.identity import token_format
from outrider.identity.principal import ROLES, InvalidCredentialError, Membership, Principal, pick_lesser_role
from outrider.identity.tables import tokens
from outrider.identity.workspaces import WorkspaceDirectory, load_memberships, normalize_person


@dataclass(frozen=True)
class TokenRecord:
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
    role: WorkspaceRole
    workspaces: tuple[str, ...]
    toolsets: tuple[str, ...] | None
    created_at: float
    expires_at: float | None
    used_at: float | None
    revoked_at: float | None

    def compute_state(self, now: float) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


class TokenStore:
    """All tokens in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        person: str,
        *,
        label: str = "",
        role: WorkspaceRole = "owner",
        workspaces: Sequence[str] = (),
        toolsets: Sequence[str] | None = None,
        days: float | None = 90,
    ) -> tuple[TokenRecord, str]:
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
        day_s = 86_400
        person = await self._check_allowed(person, role, workspaces)
        now, made = time.time(), token_format.generate_token()
        row = {
            "id": f"tok_{uuid.uuid4().hex[:16]}",
            "hash": token_format.hash_token(made),
            "label": to_storable_text(label, 200),
            "person": person,
            "role": role,
            "workspaces": list(workspaces),
            "toolsets": None if toolsets is None else list(toolsets),
            "created_at": now,
            "expires_at": None if days is None else now + days * day_s,
        }
        async with self._database.write() as connection:
            await connection.execute(tokens.insert(), [row])
        return await self.get(row["id"]), made

    async def _check_allowed(self, person: str, role: WorkspaceRole, workspaces: Sequence[str]) -> str:
        """The person's name as it is kept. Raises InvalidInput where a token may not be made so."""
        person = normalize_person(person)
        if role not in ROLES:
            raise InvalidInput(f"role: {role!r} is none", hint=f"one of {', '.join(ROLES)}")
        _check_workspaces(person, workspaces, await WorkspaceDirectory(self._database).list_memberships(person))
        return person

    async def get(self, token_id: str) -> TokenRecord:
        """What is known of it. Raises NotFound."""
        for token in await self.list_tokens():
            if token.id == token_id:
                return token
        raise NotFound(f"no token {token_id[:40]!r}", hint="outrider token list shows all")

    async def list_tokens(self, person: str = "") -> list[TokenRecord]:
        """All of them, or all of somebody's, the newest first."""
        query = select(tokens).order_by(tokens.c.created_at.desc(), tokens.c.id)
        if person:
            query = query.where(tokens.c.person == to_storable_text(person, 200))
        async with self._database.read() as connection:
            return [_parse_token(row) for row in (await connection.execute(query)).mappings()]

    async def revoke(self, token_id: str) -> TokenRecord:
        """Takes a token back, for good. Raises NotFound."""
        await self.get(token_id)
        query = tokens.update().where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(query.values(revoked_at=time.time()))
        return await self.get(token_id)

    async def authenticate(self, digest: str) -> Principal:
        """Who holds the token of that hash, as things stand now. Raises Unrecognised and Unavailable."""
        update_interval_s = 300.0  # seconds by which "last used" may lag behind: a write for each call would be dear
        found = await self._database.run_transaction(lambda connection: _load_holder(connection, digest), write=False)
        if found is None:
            raise InvalidCredentialError("this token is not known here")
        token, places = found
        now = time.time()
        if (state := token.compute_state(now)) != "active":
            raise InvalidCredentialError(f"this token is {state}")
        if token.used_at is None or now - token.used_at > update_interval_s:
            await self._record_use(token.id, now)
        return Principal(
            person=token.person,
            credential=token.id,
            memberships=_places(token, places),
            toolsets=token.toolsets,
            remedy="use another tool, or ask the operator for a token with that toolset: outrider token create",
            expires_at=token.expires_at,
        )

    async def _record_use(self, token_id: str, now: float) -> None:
        query = tokens.update().where(tokens.c.id == token_id).values(used_at=now)
        with suppress(OutriderError):  # a full disk must not lock anybody out
            await self._database.run_transaction(lambda connection: connection.execute(query).rowcount, write=True)


def _load_holder(connection: "Connection", digest: str) -> tuple[TokenRecord, tuple[Membership, ...]] | None:

    row = connection.execute(select(tokens).where(tokens.c.hash == digest)).mappings().first()
    return (_parse_token(row), load_memberships(connection, row["person"])) if row else None


def _parse_token(row: Any) -> TokenRecord:
    facts = {name: row[name] for name in row if name != "hash"}
    toolsets = None if row["toolsets"] is None else tuple(row["toolsets"])
    values: dict[str, Any] = facts | {"workspaces": tuple(row["workspaces"]), "toolsets": toolsets}
    return TokenRecord(**values)


def _places(token: TokenRecord, places: Sequence[Membership]) -> tuple[Membership, ...]:
    """Where the token is good, under the lesser of its role and the person's; in its own order if it has one."""
    there = {each.workspace: Membership(each.workspace, pick_lesser_role(each.role, token.role)) for each in places}
    wanted = token.workspaces or tuple(there)
    return tuple(there[name] for name in wanted if name in there)


def _check_workspaces(person: str, workspaces: Sequence[str], places: Sequence[Membership]) -> None:
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
