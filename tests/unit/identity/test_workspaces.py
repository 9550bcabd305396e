"""Test workspaces, members and the rights of members' tokens."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from outrider.core.database.database import Database
from outrider.core.errors import InvalidInput, NotFound
from outrider.identity import token_format
from outrider.identity.principal import InvalidCredentialError, Membership, Principal
from outrider.identity.revocation import find_lost_principals
from outrider.identity.tokens import TokenStore
from outrider.identity.workspaces import WorkspaceDirectory
from support.databases import sqlite

pytestmark = pytest.mark.anyio
DAY = 86_400


@pytest.fixture
async def database(tmp_path: Path) -> AsyncGenerator[Database]:
    made = Database.from_file(sqlite.create_migrated_file(tmp_path / "a.db"))
    yield made
    await made.close()


async def build_directory(database: Database) -> WorkspaceDirectory:
    workspaces = WorkspaceDirectory(database)
    for name in ("acme", "beta"):
        await workspaces.create(name)
        await workspaces.add_member(name, "ann", "member" if name == "acme" else "viewer")
    return workspaces


async def authenticate_token(database: Database, shown: str) -> Principal:
    return await TokenStore(database).authenticate(token_format.hash_token(shown))


@pytest.mark.parametrize("name", ["", "Acme", "a b", "-a", "a" * 65, "a/b", "ä"])
async def test_an_ambiguous_name_is_refused(database: Database, name: str):
    with pytest.raises(InvalidInput, match="is not a valid name"):
        await WorkspaceDirectory(database).create(name)


@pytest.mark.parametrize("person", ["", "  ", "a\u202eb", "a\0b", "x" * 201])
async def test_a_person_with_invisible_characters_is_refused(database: Database, person: str):
    workspaces = await build_directory(database)
    with pytest.raises(InvalidInput):
        await workspaces.add_member("acme", person)


async def test_adding_a_member_again_only_changes_their_role(database: Database):
    workspaces = await build_directory(database)
    await workspaces.add_member("acme", "ann", "owner")
    assert [(each.person, each.role) for each in await workspaces.list_members("acme")] == [("ann", "owner")]
    with pytest.raises(NotFound, match="'gamma' does not exist"):
        await workspaces.add_member("gamma", "ann")


async def test_a_token_is_valid_in_its_persons_workspaces_with_the_lesser_role(database: Database):
    await build_directory(database)
    tokens = TokenStore(database)
    _, everywhere = await tokens.create("ann")
    _, named = await tokens.create("ann", workspaces=["beta", "acme"], role="viewer")
    assert (await authenticate_token(database, everywhere)).memberships == (
        Membership("acme", "member"),
        Membership("beta", "viewer"),
    )
    assert (await authenticate_token(database, named)).memberships == (
        Membership("beta", "viewer"),
        Membership("acme", "viewer"),
    )
    with pytest.raises(InvalidInput, match="not a member of workspace 'gamma'"):
        await tokens.create("ann", workspaces=["gamma"])


async def test_a_token_ends_by_expiry_or_revocation(database: Database):
    await build_directory(database)
    tokens = TokenStore(database)
    short, expired = await tokens.create("ann", days=-1)
    token, shown = await tokens.create("ann", days=None)
    with pytest.raises(InvalidCredentialError, match="expired"):
        await authenticate_token(database, expired)
    inside = await authenticate_token(database, shown)
    assert await find_lost_principals({inside}, database, 0, members=True) == set()
    await tokens.revoke(token.id)
    with pytest.raises(InvalidCredentialError, match="revoked"):
        await authenticate_token(database, shown)
    assert await find_lost_principals({inside}, database, 0, members=True) == {inside}
    assert {each.id: each.compute_state(token.created_at) for each in await tokens.list_tokens("ann")} == {
        token.id: "revoked",
        short.id: "expired",
    }


async def test_a_removed_member_loses_that_workspace_and_no_other(database: Database):
    workspaces = await build_directory(database)
    _, shown = await TokenStore(database).create("ann")
    inside = await authenticate_token(database, shown)
    await workspaces.remove_member("acme", "ann")
    assert [each.workspace for each in (await authenticate_token(database, shown)).memberships] == ["beta"]
    assert await find_lost_principals({inside}, database, 0, members=True) == set()
    await workspaces.remove_member("beta", "ann")
    assert await find_lost_principals({inside}, database, 0, members=True) == {inside}


async def test_the_time_of_last_use_is_not_written_on_every_call(database: Database):
    await build_directory(database)
    tokens = TokenStore(database)
    token, shown = await tokens.create("ann")
    await authenticate_token(database, shown)
    first = (await tokens.get(token.id)).used_at
    await authenticate_token(database, shown)
    assert first is not None
    assert (await tokens.get(token.id)).used_at == first
