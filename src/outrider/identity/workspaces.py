"""Workspaces, and who is in them as what."""

import re
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.grant import WorkspaceRole
from outrider.identity.principal import ROLES, Membership
from outrider.identity.tables import workspaces

WORKSPACE_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class WorkspaceInfo:
    """A workspace: `created_at` in seconds since the epoch, `members` counts them."""

    name: str
    created_at: float
    members: int


@dataclass(frozen=True)
class WorkspaceMember:
    """Somebody in a workspace."""

    workspace: str
    person: str
    role: WorkspaceRole
    added_at: float


class WorkspaceDirectory:
    """All workspaces in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, owner: str = "") -> None:
        """Makes a workspace, with an owner if one is named. Raises InvalidInput for a bad or taken name."""
        if not WORKSPACE_NAME_PATTERN.fullmatch(name):
            hint = "at most 64 small letters, digits, dots, dashes and underscores, a letter or digit first"
            raise InvalidInput(f"workspace: {name[:64]!r} cannot be a name", hint=hint)
        row = {"name": name, "created_at": time.time()}
        insert = self._database.build_insert(workspaces).values(row).on_conflict_do_nothing()
        async with self._database.write() as connection:
            made = (await connection.execute(insert)).rowcount
        if not made:
            raise InvalidInput(f"workspace: {name!r} exists already", hint="outrider workspace list shows all")
        if owner:
            await self.add_member(name, owner, "owner")

    async def list_workspaces(self) -> list[WorkspaceInfo]:
        """All of them, by name."""
        from outrider.identity.tables import members, workspaces

        query = (
            select(workspaces.c.name, workspaces.c.created_at, func.count(members.c.person).label("members"))
            .join(members, members.c.workspace == workspaces.c.name, isouter=True)
            .group_by(workspaces.c.name, workspaces.c.created_at)
            .order_by(workspaces.c.name)
        )
        async with self._database.read() as connection:
            return [WorkspaceInfo(**row) for row in (await connection.execute(query)).mappings()]

    async def list_members(self, workspace: str) -> list[WorkspaceMember]:
        """Who is in it, by name. Raises NotFound."""
        from outrider.identity.tables import members

        await self._require_workspace(workspace)
        query = select(members).where(members.c.workspace == workspace).order_by(members.c.person)
        async with self._database.read() as connection:
            return [WorkspaceMember(**row) for row in (await connection.execute(query)).mappings()]

    async def add_member(self, workspace: str, person: str, role: WorkspaceRole = "member") -> None:
        """Puts somebody in, or gives them another role. Raises NotFound and InvalidInput."""
        from outrider.identity.tables import members

        person = normalize_person(person)
        if role not in ROLES:
            raise InvalidInput(f"role: {role!r} is none", hint=f"one of {', '.join(ROLES)}")
        await self._require_workspace(workspace)
        row = {"workspace": workspace, "person": person, "role": role, "added_at": time.time()}
        insert = self._database.build_insert(members).values(row)
        insert = insert.on_conflict_do_update(index_elements=["workspace", "person"], set_={"role": role})
        async with self._database.write() as connection:
            await connection.execute(insert)

    async def remove_member(self, workspace: str, person: str) -> None:
        """Takes somebody out; their tokens open nothing there any more. Raises NotFound."""
        from outrider.identity.tables import members

        query = delete(members).where(
            members.c.workspace == workspace, members.c.person == to_storable_text(person, 200)
        )
        async with self._database.write() as connection:
            gone = (await connection.execute(query)).rowcount
        if not gone:
            message = f"{person[:200]!r} is not in workspace {workspace[:64]!r}"
            raise NotFound(message, hint=f"outrider workspace members {workspace[:64]}")

    async def list_memberships(self, person: str) -> tuple[Membership, ...]:
        """Where somebody is, in the order in which they came there."""
        return await self._database.run_transaction(
            lambda connection: load_memberships(connection, person), write=False
        )

    async def _require_workspace(self, workspace: str) -> None:
        known = [each.name for each in await self.list_workspaces()]
        if workspace not in known:
            hint = f"there are {', '.join(known)}" if known else "make one: outrider workspace create <name>"
            raise NotFound(f"workspace: no {workspace[:64]!r}", hint=hint)


def load_memberships(connection: "Connection", person: str) -> tuple[Membership, ...]:
    """Where somebody is, in the order in which they came there."""
    from outrider.identity.tables import members

    query = select(members.c.workspace, members.c.role).where(members.c.person == to_storable_text(person, 200))
    rows: Any = connection.execute(query.order_by(members.c.added_at, members.c.workspace))
    return tuple(Membership(workspace, role) for workspace, role in rows)


def normalize_person(person: str) -> str:
    """A person's name as it is kept. Raises InvalidInput for one that is empty or would not be seen as it is."""
    name = person.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise InvalidInput(
            f"person: {person[:200]!r} cannot be a name", hint="use an address or a name of 1 to 200 letters"
        )
    return name
