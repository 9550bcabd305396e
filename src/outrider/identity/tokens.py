"""Tokens issued by Outrider, which are shown once and saved as hashes."""

import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound, OutriderError
from outrider.core.grant import WorkspaceRole
from outrider.identity import token_format
from outrider.identity.principal import ROLES, InvalidCredentialError, Membership, Principal, pick_lesser_role
from outrider.identity.tables import tokens
from outrider.identity.workspaces import WorkspaceDirectory, load_memberships, normalize_person


@dataclass(frozen=True)
class TokenRecord:
    """The record of a token, without the token itself. Times are in seconds since the epoch.

    Attributes:
        label: Its purpose.
        role: The highest role that it grants; the person's own role may be lower.
        workspaces: The workspaces in which it is valid; empty means all workspaces of the person.
        toolsets: The toolsets that it grants; None means all.
        used_at: When it was last used, precise to about five minutes.
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
        """Return `active`, `expired` or `revoked`."""
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
        """Create a token.

        Args:
            person: The person who will use it; a member of the workspaces.
            label: Its purpose.
            role: The highest role that it grants.
            workspaces: The workspaces in which it is valid; empty means all workspaces of the person, now and later.
            toolsets: The names of the toolsets that it grants, without aliases; None means all.
            days: How long it is valid; None means until it is revoked.

        Returns:
            The record, and the token itself, which cannot be shown again.

        Raises:
            InvalidInput: The role or name is invalid, or the person is not a member of a workspace.
        """
        day_s = 86_400
        person = normalize_person(person)
        if role not in ROLES:
            raise InvalidInput(f"role: {role!r} does not exist", hint=f"use one of {', '.join(ROLES)}")
        _check_workspaces(person, workspaces, await WorkspaceDirectory(self._database).list_memberships(person))
        now, token = time.time(), token_format.generate_token()
        row = {
            "id": f"tok_{uuid.uuid4().hex[:16]}",
            "hash": token_format.hash_token(token),
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
        return await self.get(row["id"]), token

    async def get(self, token_id: str) -> TokenRecord:
        """Return the record of a token. Raises NotFound."""
        for token in await self.list_tokens():
            if token.id == token_id:
                return token
        raise NotFound(f"token {token_id[:40]!r} does not exist", hint="outrider token list shows all tokens")

    async def list_tokens(self, person: str = "") -> list[TokenRecord]:
        """Return all tokens, or those of a person, the newest first."""
        query = select(tokens).order_by(tokens.c.created_at.desc(), tokens.c.id)
        if person:
            query = query.where(tokens.c.person == to_storable_text(person, 200))
        async with self._database.read() as connection:
            return [_parse_token(row) for row in (await connection.execute(query)).mappings()]

    async def revoke(self, token_id: str) -> TokenRecord:
        """Revoke a token permanently. Raises NotFound."""
        await self.get(token_id)
        query = tokens.update().where(tokens.c.id == token_id, tokens.c.revoked_at.is_(None))
        async with self._database.write() as connection:
            await connection.execute(query.values(revoked_at=time.time()))
        return await self.get(token_id)

    async def authenticate(self, digest: str) -> Principal:
        """Return the holder of the token with that hash. Raises InvalidCredentialError and Unavailable."""
        return await self._authenticate(tokens.c.hash == digest)

    async def authenticate_id(self, token_id: str) -> Principal:
        """Return the holder of a token that was shown before. Raises InvalidCredentialError and Unavailable."""
        return await self._authenticate(tokens.c.id == token_id)

    async def _authenticate(self, condition: ColumnElement[bool]) -> Principal:
        update_interval_s = 300.0  # a write for each call would be too slow

        def load_holder(connection: Connection) -> tuple[TokenRecord, tuple[Membership, ...]] | None:
            row = connection.execute(select(tokens).where(condition)).mappings().first()
            return (_parse_token(row), load_memberships(connection, row["person"])) if row else None

        holder = await self._database.run_transaction(load_holder, write=False)
        if holder is None:
            raise InvalidCredentialError("this token is not known here")
        token, memberships = holder
        now = time.time()
        if (state := token.compute_state(now)) != "active":
            raise InvalidCredentialError(f"this token is {state}")
        if token.used_at is None or now - token.used_at > update_interval_s:
            query = tokens.update().where(tokens.c.id == token.id).values(used_at=now)
            with suppress(OutriderError):  # for example if the disk is full: the token is still valid
                await self._database.run_transaction(lambda connection: connection.execute(query).rowcount, write=True)
        # The memberships that the token allows, in its order, with the lesser of both roles
        allowed = {
            membership.workspace: Membership(membership.workspace, pick_lesser_role(membership.role, token.role))
            for membership in memberships
        }
        return Principal(
            person=token.person,
            credential=token.id,
            memberships=tuple(allowed[name] for name in token.workspaces or tuple(allowed) if name in allowed),
            toolsets=token.toolsets,
            remedy="use another tool, or ask the operator for a token with that toolset: outrider token create",
            expires_at=token.expires_at,
        )


def _parse_token(row: Any) -> TokenRecord:
    columns = {name: row[name] for name in row if name != "hash"}
    toolsets = None if row["toolsets"] is None else tuple(row["toolsets"])
    values: dict[str, Any] = columns | {"workspaces": tuple(row["workspaces"]), "toolsets": toolsets}
    return TokenRecord(**values)


def _check_workspaces(person: str, workspaces: Sequence[str], memberships: Sequence[Membership]) -> None:
    """Raise InvalidInput unless the person is a member of these workspaces.

    At least one workspace is required.
    """
    joined = [membership.workspace for membership in memberships]
    missing = [name for name in workspaces if name not in joined]
    if missing or not joined:
        workspace = missing[0] if missing else "<workspace>"
        problem = f"is not a member of workspace {workspace!r}" if missing else "is not a member of any workspace"
        raise InvalidInput(
            f"person: {person!r} {problem}",
            hint=f"outrider workspace create {workspace} --owner {person}, "
            f"or outrider workspace add {workspace} {person}",
        )
