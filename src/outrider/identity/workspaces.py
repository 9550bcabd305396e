"""Workspaces and the roles of their members."""

import re
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, select

from outrider.core.database.database import Database, to_storable_text
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.grant import WorkspaceRole
from outrider.identity.principal import ROLES, Membership
from outrider.identity.tables import members, workspaces

WORKSPACE_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class WorkspaceInfo:
    """A workspace with the number of its members; `created_at` is in seconds since the epoch."""

    name: str
    created_at: float
    members: int


@dataclass(frozen=True)
class WorkspaceMember:
    """A member of a workspace; `added_at` is in seconds since the epoch."""

    workspace: str
    person: str
    role: WorkspaceRole
    added_at: float


class WorkspaceDirectory:
    """All workspaces in the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, owner: str = "") -> None:
        """Create a workspace, optionally with an owner. Raises InvalidInput for an invalid or existing name."""
        if not WORKSPACE_NAME_PATTERN.fullmatch(name):
            hint = (
                "use at most 64 lowercase letters, digits, dots, dashes and underscores; start with a letter or digit"
            )
            raise InvalidInput(f"workspace: {name[:64]!r} is not a valid name", hint=hint)
        row = {"name": name, "created_at": time.time()}
        insert = self._database.build_insert(workspaces).values(row).on_conflict_do_nothing()
        async with self._database.write() as connection:
            created = (await connection.execute(insert)).rowcount
        if not created:
            raise InvalidInput(
                f"workspace: {name!r} exists already", hint="outrider workspace list shows all workspaces"
            )
        if owner:
            await self.add_member(name, owner, "owner")

    async def list_workspaces(self) -> list[WorkspaceInfo]:
        """Return all workspaces, sorted by name."""
        query = (
            select(workspaces.c.name, workspaces.c.created_at, func.count(members.c.person).label("members"))
            .join(members, members.c.workspace == workspaces.c.name, isouter=True)
            .group_by(workspaces.c.name, workspaces.c.created_at)
            .order_by(workspaces.c.name)
        )
        async with self._database.read() as connection:
            return [WorkspaceInfo(**row) for row in (await connection.execute(query)).mappings()]

    async def list_members(self, workspace: str) -> list[WorkspaceMember]:
        """Return the members of a workspace, sorted by name. Raises NotFound."""
        await self._require_workspace(workspace)
        query = select(members).where(members.c.workspace == workspace).order_by(members.c.person)
        async with self._database.read() as connection:
            return [WorkspaceMember(**row) for row in (await connection.execute(query)).mappings()]

    async def add_member(self, workspace: str, person: str, role: WorkspaceRole = "member") -> None:
        """Add a member, or change the role of a member. Raises NotFound and InvalidInput."""
        person = normalize_person(person)
        if role not in ROLES:
            raise InvalidInput(f"role: {role!r} does not exist", hint=f"use one of {', '.join(ROLES)}")
        await self._require_workspace(workspace)
        row = {"workspace": workspace, "person": person, "role": role, "added_at": time.time()}
        insert = self._database.build_insert(members).values(row)
        insert = insert.on_conflict_do_update(index_elements=["workspace", "person"], set_={"role": role})
        async with self._database.write() as connection:
            await connection.execute(insert)

    async def remove_member(self, workspace: str, person: str) -> None:
        """Remove a member, whose tokens are then no longer valid in the workspace. Raises NotFound."""
        query = delete(members).where(
            members.c.workspace == workspace, members.c.person == to_storable_text(person, 200)
        )
        async with self._database.write() as connection:
            removed = (await connection.execute(query)).rowcount
        if not removed:
            message = f"{person[:200]!r} is not a member of workspace {workspace[:64]!r}"
            raise NotFound(message, hint=f"outrider workspace members {workspace[:64]}")

    async def list_memberships(self, person: str) -> tuple[Membership, ...]:
        """Return the memberships of a person in the order in which they joined."""
        return await self._database.run_transaction(
            lambda connection: load_memberships(connection, person), write=False
        )

    async def _require_workspace(self, workspace: str) -> None:
        names = [info.name for info in await self.list_workspaces()]
        if workspace not in names:
            hint = f"there are {', '.join(names)}" if names else "create one: outrider workspace create <name>"
            raise NotFound(f"workspace: {workspace[:64]!r} does not exist", hint=hint)


def load_memberships(connection: Connection, person: str) -> tuple[Membership, ...]:
    """Return the memberships of a person in the order in which they joined."""
    query = select(members.c.workspace, members.c.role).where(members.c.person == to_storable_text(person, 200))
    rows: Any = connection.execute(query.order_by(members.c.added_at, members.c.workspace))
    return tuple(Membership(workspace, role) for workspace, role in rows)


def normalize_person(person: str) -> str:
    """Return the saved form of a person's name. Raises InvalidInput for an empty, long or unprintable name."""
    name = person.strip()
    if not name or len(name) > 200 or not name.isprintable():
        raise InvalidInput(
            f"person: {person[:200]!r} is not a valid name",
            hint="use an email address or a name of 1 to 200 printable characters",
        )
    return name
